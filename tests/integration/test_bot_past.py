"""What happened, asked in Slack: `/vobo history` and the timeline behind a card's details."""

from collections.abc import Iterator
from pathlib import Path

import pytest
import redis
from sqlalchemy import text

from approvals.drain import drain_once
from approvals.ledger import Ledger
from approvals.ledger_head import Head
from approvals.models import ProposedCall
from approvals.preview import Preview
from bot.ids import Place
from bot_office import BRUNO, CHANNEL, DORA, GUS, OLGA, OMAR, ROSA, XENA, Json, Office, a_refund, running

ANNA = "anna@example.test"


@pytest.fixture
def url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path / 'ledger.db'}"


@pytest.fixture
def office(valkey_url: str, redis_client: redis.Redis, url: str) -> Iterator[Office]:
    with running(valkey_url, redis_client, ledger_url=url) as office:
        yield office


@pytest.fixture
def ledger(url: str) -> Iterator[Ledger]:
    opened = Ledger.open(url)
    yield opened
    opened.engine.dispose()


def shown(number: int) -> Preview:
    row = {"payment": f"pay_{number:04d}", "email": ANNA}
    return Preview(
        headline=f"Refund payment {number} of {ANNA}", columns=("payment", "email"), sample=(row,), personal=("email",)
    )


def a_call(number: int) -> ProposedCall:
    call = a_refund(4_000 * number, number=number, preview=shown(number))
    need = call.content.requirement.model_copy(update={"resources": (f"pay_{number:04d}",)})
    return call.model_copy(update={"content": call.content.model_copy(update={"requirement": need})})


@pytest.fixture
def decided(office: Office) -> tuple[str, str]:
    """Of two calls Bruno approves one and rejects the other; the run and its batch."""
    run, _ = office.start()
    calls = [a_call(number) for number in (1, 2)]
    batch = office.pause(run, *calls)
    office.press(BRUNO, batch, "call.approve", calls[0].key)
    office.until(lambda: office.call(calls[0].key).decisions, "the approval counts")
    click = office.press(BRUNO, batch, "call.reject", calls[1].key)
    assert click["acked"]
    office.until(lambda: "reason" in str(office.modal(BRUNO)["blocks"]), "the window asks why")
    office.slack.submit(BRUNO, {"common": {"value": "own"}, "reason": {"value": "wrong *customer* <!channel>"}})
    office.until(lambda: office.call(calls[1].key).decisions, "the rejection counts")
    return run, batch


def window(office: Office, user: str, words: str = "") -> Json:
    before = office.slack.view(user)
    office.slack.slash(user, CHANNEL, f"history {words}".strip())
    return office.until(lambda: _other(office, user, before["id"] if before else ""), "the window is filled")


def test_history_without_an_answer_says_how_to_ask(office: Office, decided: tuple[str, str]) -> None:
    assert decided
    said = str(window(office, OMAR, "foo")["blocks"])
    assert "Nothing that fits." in said
    assert "Try `/vobo history 30d`, or the id of a run." in said


def test_history_tells_the_starts_of_processes_only_to_who_asks_for_them(
    office: Office, decided: tuple[str, str]
) -> None:
    assert decided
    office.store.changes.note_start(office.bot.deps.law, Place(ref="x", channel="C", thread_ts="1"), process="bot")
    asked = "started with new"
    assert asked not in str(window(office, OMAR)["blocks"])
    blocks = str(window(office, OMAR, "started")["blocks"])
    assert "The bot started with new rules or reviewers" in blocks
    assert "The bot started with new settings" in blocks


def test_history_tells_the_last_decisions_the_newest_first_with_names_and_reasons(
    office: Office, decided: tuple[str, str]
) -> None:
    blocks = str(window(office, OMAR)["blocks"])
    assert blocks.index("Rejected by Bruno") < blocks.index("Approved by Bruno")
    assert "“wrong *customer* <!channel>”" in blocks, "inert, as rich text is"
    assert "Refund payment 1 of" in blocks
    assert decided[0] in blocks


def test_personal_values_are_masked_in_the_history_and_in_the_timeline(
    office: Office, decided: tuple[str, str], ledger: Ledger
) -> None:
    before = window(office, OMAR), window(office, OMAR, decided[0])
    drain_once(office.store, ledger)
    after = window(office, OMAR), window(office, OMAR, decided[0])
    for view in (*before, *after):
        assert ANNA not in str(view)
        assert "Refund payment 1 of •••" in str(view["blocks"])


@pytest.mark.parametrize(
    ("words", "found", "left_out"),
    [
        ("rejected", "Rejected by", "Approved by"),
        ("approved", "Approved by", "Rejected by"),
        ("<@U0001|bruno>", "Rejected by", "Nothing that fits"),
        ("<@U0002>", "Nothing that fits", "Rejected by"),
        ("<@U0001> 24h", "Rejected by", "Nothing that fits"),
        ("refund_payments", "Rejected by", "Nothing that fits"),
        ("send_campaign", "Nothing that fits", "Rejected by"),
        ("pay_0001 approved", "Approved by", "Rejected by"),
        ("pay_9999", "Nothing that fits", "Approved by"),
        ("over 500.00 EUR", "Nothing that fits", "Approved by"),
        ("over 50.00 EUR", "Rejected by", "Approved by"),
        ("2024-01-31", "Nothing that fits", "Approved by"),
        ("over lots EUR", "Write an amount like this", "Approved by"),
        ("1d 2d", "is one too many", "Approved by"),
    ],
)
@pytest.mark.parametrize("drained", [False, True])
def test_history_answers_by_person_kind_tool_resource_amount_and_time(  # noqa: PLR0917 - a table
    office: Office, decided: tuple[str, str], ledger: Ledger, words: str, found: str, left_out: str, *, drained: bool
) -> None:
    if drained:
        drain_once(office.store, ledger)
    blocks = str(window(office, OMAR, words)["blocks"])
    assert found in blocks
    assert left_out not in blocks


def test_the_timeline_opens_on_top_of_a_cards_details_and_tells_the_run_from_request_to_decision(
    office: Office, decided: tuple[str, str], ledger: Ledger
) -> None:
    run, batch = decided
    drain_once(office.store, ledger)
    office.slack.click(OLGA, CHANNEL, office.card(batch)["ts"], "call.details", "details:call_000000000001")
    details = office.until(lambda: office.slack.view(OLGA), "the details open")
    office.until(lambda: "past" in str(office.modal(OLGA)["blocks"]), "the details are filled")
    office.slack.click_view(OLGA, "run.timeline")
    view = office.until(lambda: _other(office, OLGA, details["id"]), "the timeline opens")
    blocks = str(view["blocks"])
    steps = ["Asked by ", "Proposed", "The card was posted", "Approved by Bruno", "Rejected by Bruno"]
    assert [blocks.index(step) for step in steps] == sorted(blocks.index(step) for step in steps)
    assert "'type': 'date'" in blocks, "in the reader's own time zone"
    assert f"`{run}` · 2 calls requested, 1 approved, 0 carried out" in blocks
    assert view["previous_view_id"] == details["id"]


def _other(office: Office, user: str, view_id: str) -> Json | None:
    view = office.slack.view(user)
    return view if view and view["id"] != view_id and "One moment" not in str(view["blocks"]) else None


def test_a_long_past_has_pages(office: Office, decided: tuple[str, str], ledger: Ledger) -> None:
    run = decided[0]
    for number in range(30):
        office.store.outbox.alarm(f"tool:{number}", event="tool_gone", run=run, reason=f"number {number}")
    drain_once(office.store, ledger)
    first = window(office, OMAR, run)
    assert "Page 1 of 2" in str(first["blocks"])
    assert "number 29" not in str(first["blocks"])
    office.slack.click_view(OMAR, "past.page_next")
    office.until(lambda: "Page 2 of 2" in str(office.modal(OMAR)["blocks"]), "the page is turned")
    assert "number 29" in str(office.modal(OMAR)["blocks"])


@pytest.mark.parametrize(
    ("user", "why"),
    [(ROSA, "Only ops and reviewers"), (GUS, "Guests may not"), (DORA, "deactivated"), (XENA, "another")],
)
def test_who_decides_nothing_reads_no_history_and_is_noted(
    office: Office, decided: tuple[str, str], user: str, why: str
) -> None:
    office.slack.slash(user, CHANNEL, "history")
    office.told(user, why)
    assert "Approved by" not in str(office.slack.view(user))
    refused = [fields for _, fields in office.store.ledger.read() if fields["type"] == "press_refused"]
    assert [(fields["actor"], fields["cause"]) for fields in refused] == [(user, "run.timeline")]


def test_whoever_asked_for_a_run_reads_its_story_and_no_other(office: Office, decided: tuple[str, str]) -> None:
    assert "Approved by Bruno" in str(window(office, ROSA, decided[0])["blocks"])
    office.slack.slash(ROSA, CHANNEL, "history run_of_others")
    office.told(ROSA, "Only ops and reviewers")


def test_a_database_that_does_not_answer_is_said_in_one_sentence_and_what_waits_is_shown(
    office: Office, decided: tuple[str, str], ledger: Ledger
) -> None:
    assert "could not be read" not in str(window(office, OMAR)["blocks"])
    with ledger.engine.begin() as connection:
        connection.execute(text("DROP TABLE ledger_events"))
    blocks = str(window(office, OMAR)["blocks"])
    assert blocks.count("The ledger could not be read just now") == 1
    assert "Approved by Bruno" in blocks


def test_a_ledger_that_cannot_even_be_opened_stops_nothing(valkey_url: str, redis_client: redis.Redis) -> None:
    with running(valkey_url, redis_client, ledger_url="postgresql+psycopg://nobody@127.0.0.1:1/none") as office:
        run, _ = office.start()
        blocks = str(window(office, OMAR, run)["blocks"])
        assert "could not be read just now" in blocks
        assert "Asked by" in blocks


def test_a_bot_that_looks_for_the_ledger_in_the_wrong_place_makes_none_and_says_that_events_are_missing(
    valkey_url: str, redis_client: redis.Redis, tmp_path: Path
) -> None:
    with running(valkey_url, redis_client, ledger_url=f"sqlite:///{tmp_path / 'elsewhere.db'}") as office:
        office.store.ledger.drop([], head=Head(1, "a" * 64))
        assert "could not be read just now" in str(window(office, OMAR)["blocks"])
        assert not (tmp_path / "elsewhere.db").exists()
