"""The Home tab in the workspace: opened, filtered, turned, and what leaves it after a decision."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
import redis

from approvals.lifecycle import State
from approvals.models import PauseWrite, ProposedBatch
from block_rules import assert_view
from bot_builders import a_requirement
from bot_office import BRUNO, CHANNEL, GUS, OLGA, OMAR, RITA, ROSA, XENA, Office, a_refund, refund_content
from policies.arguments import canonical_text
from policies.money import Money
from policies.rules.refunds import RefundLine, RefundPayments

NINA = "U0008"
FIRST = "call_000000000001"
Json = dict[str, Any]


def words(view: Json | None) -> str:
    return json.dumps(view["blocks"], ensure_ascii=False) if view else ""


def opened(office: Office, user: str, expect: str) -> Json:
    """The tab this person sees after opening it, once it holds these words."""
    office.slack.open_home(user)
    return shown(office, user, expect)


def shown(office: Office, user: str, expect: str) -> Json:
    def look() -> Json | None:
        view = office.slack.home(user)
        return view if expect in words(view) else None

    view = office.until(look, f"{user} sees {expect!r} at home", 20)
    assert_view({name: view[name] for name in ("type", "blocks", "private_metadata", "callback_id")})
    return view


def without(office: Office, user: str, gone: str) -> Json:
    office.until(lambda: gone not in words(office.slack.home(user)), f"{gone!r} leaves the tab of {user}")
    view = office.slack.home(user)
    assert view
    return view


def links(view: Json) -> list[str]:
    return [part["url"] for part in every(view["blocks"]) if part.get("type") == "link"]


def every(value: Any) -> Iterator[Json]:
    if isinstance(value, dict):
        yield value
        value = list(value.values())
    if isinstance(value, list):
        for part in value:
            yield from every(part)


def many_cards(office: Office, number: int) -> str:
    """A run that waits with many cards, posted without Slack's pace."""
    run, _ = office.start()
    store = office.store
    calls, batches = [], []
    for at in range(number):
        call, name = a_refund(1_000 + at, number=at + 1), f"batch_{at:03d}"
        calls.append(call.model_copy(update={"batch": name, "seal": office.seal(run, call, ROSA)}))
        one = ProposedBatch(
            id=name, radius=f"refunds {at % 3}", number=at + 1, calls=(call.key,), has_card=True,
            ttl_s=900 + 60 * at, lapse_s=600,
        )  # fmt: skip
        batches.append(one)
    lease = store.runs.lease(run, token="worker", ttl_ms=60_000)
    assert lease
    assert store.runs.pause(lease, PauseWrite(state=b"{}", turns=1, calls=tuple(calls), batches=tuple(batches))).ok
    for batch in batches:
        store.batches.record_posted(batch.id, channel=CHANNEL, ts=f"1700000000.{batch.number:06d}")
    return run


def test_a_reviewer_opens_the_tab_jumps_to_the_card_and_decides_and_it_leaves(office: Office) -> None:
    empty = opened(office, BRUNO, "Nothing waits for you.")
    assert "home.filter" not in words(empty)
    run, thread = office.start()
    batch = office.pause(run, a_refund(31240))
    card = office.card(batch)

    view = opened(office, BRUNO, "*1 card* waits for you.")
    assert "Refund 1 payments, 312.40 EUR" in words(view)
    (link,) = links(view)
    assert link.partition("/archives/")[2] == (
        f"{CHANNEL}/p{card['ts'].replace('.', '')}?thread_ts={thread}&cid={CHANNEL}"
    )
    office.press(BRUNO, batch, "call.approve")
    office.state(FIRST, State.APPROVED)

    after = shown(office, BRUNO, "You approved (")
    assert "Nothing waits for you." in words(after)
    assert "Waiting to run." in words(after)
    assert links(after) == [link]


def test_everybody_sees_what_the_law_lets_them_decide_and_nobody_else_anything(office: Office) -> None:
    run, _ = office.start()
    batch = office.pause(run, a_refund(31240))
    office.card(batch)
    assert "Refund 1" in words(opened(office, OLGA, "waits for you"))
    over = opened(office, NINA, "*1 tarjeta* te espera.")  # billing up to 250.00, and a reader of Spanish
    assert "supera tu límite: baja el importe o recházalo" in words(over)
    assert "Refund 1" not in words(opened(office, RITA, "Nothing waits for you"))  # release
    assert "do not name you" in words(opened(office, ROSA, "Nothing waits for you"))  # who asked
    for outsider in (GUS, XENA):
        view = opened(office, outsider, "Only full members of this workspace have an inbox here.")
        assert len(view["blocks"]) == 1


def test_what_waits_for_a_second_person_leaves_the_first_ones_inbox(office: Office) -> None:
    run, _ = office.start()
    batch = office.pause(run, a_refund(31240, reviewers=2))
    office.card(batch)
    opened(office, BRUNO, "*1 card* waits for you.")
    office.press(BRUNO, batch, "call.approve")
    shown(office, BRUNO, "Nothing waits for you.")
    assert "one more approval needed" in words(opened(office, OLGA, "*1 card* waits for you."))


def test_a_whole_card_decided_at_once_leaves_the_tab_that_is_open(office: Office) -> None:
    run, _ = office.start()
    batch = office.pause(run, *(a_refund(1000, number=number) for number in range(1, 7)))
    opened(office, BRUNO, "Nothing waits")
    office.card(batch)
    opened(office, BRUNO, "6 calls")
    office.press(BRUNO, batch, "batch.approve_all")
    office.until(
        lambda: words(office.slack.home(BRUNO)).count("You approved (") == 6, "all six are among what he decided", 20
    )
    assert "6 calls" not in words(office.slack.home(BRUNO))


def test_escalation_brings_it_to_the_next_tier(office: Office, redis_client: redis.Redis) -> None:
    run, _ = office.start()
    batch = office.pause(run, a_refund(31240))
    office.card(batch)
    opened(office, OMAR, "Nothing waits for you")
    redis_client.zadd(office.store.keys.deadlines, {f"escalate:{batch}": 1})
    assert office.store.deadlines.escalate(batch, users=[], interruptions=12).ok
    assert "the next tier may decide too" in words(opened(office, OMAR, "*1 card* waits for you."))


def test_an_unruled_tool_waits_for_the_strictest_tier(office: Office) -> None:
    run, _ = office.start()
    args = RefundPayments(
        lines=[RefundLine(payment_id="pay_1", amount=Money(minor=1, currency="EUR"))], reason="failed_capture"
    )
    content = refund_content(args).model_copy(update={"requirement": a_requirement(tier="strictest", amount=None)})
    call = a_refund(1).model_copy(update={"content": content})
    assert canonical_text(args) == content.arguments
    batch = office.pause(run, call)
    office.card(batch)
    assert "*1 card* waits for you." in words(opened(office, OMAR, "waits for you"))
    opened(office, BRUNO, "Nothing waits for you")


def test_pages_are_turned_both_ways_and_the_filters_narrow_them(office: Office) -> None:
    many_cards(office, 45)
    view = opened(office, BRUNO, "*45 cards* wait for you.")
    assert words(view).count("Open the card") == 20
    office.slack.click_view(BRUNO, "home.page", "home:next", home=True)
    second = shown(office, BRUNO, "10.20 EUR")
    assert "10.19 EUR" not in words(second)
    office.slack.click_view(BRUNO, "home.page", "home:next", home=True)
    third = shown(office, BRUNO, "10.40 EUR")
    assert words(third).count("Open the card") == 5
    assert "home:next" not in words(third)
    office.slack.click_view(BRUNO, "home.page", "home:back", home=True)
    shown(office, BRUNO, "10.20 EUR")
    office.slack.click_view(BRUNO, "home.page", "home:back", home=True)
    assert "home:back" not in words(shown(office, BRUNO, "10.00 EUR"))

    options = next(block for block in view["blocks"] if block["block_id"] == "home:radius")["elements"][0]["options"]
    assert [one["text"]["text"] for one in options] == ["Any blast radius", "refunds 0", "refunds 1", "refunds 2"]
    office.slack.click_view(BRUNO, "home.filter", "home:radius", home=True, chosen=options[2]["value"])
    narrowed = shown(office, BRUNO, "15 match the filters.")
    assert "refunds 0: " not in words(narrowed)
    assert words(narrowed).count("Open the card") == 15
    office.slack.click_view(BRUNO, "home.filter", "home:requester", home=True, chosen=f"requester:{ROSA}")
    shown(office, BRUNO, "Rosa Requester")
    office.slack.open_home(BRUNO)  # the filters stay
    shown(office, BRUNO, "15 match the filters.")


def test_a_filter_by_deadline_shows_what_is_due_within_the_hour(office: Office) -> None:
    many_cards(office, 5)
    store = office.store
    for at in range(3):  # a card that had to be given more time
        for key in office.client.scan_iter(match="vobo:*:inbox:of:*"):
            office.client.zadd(key, {f"batch_{at:03d}": store.now() + 7_200_000}, xx=True)
    opened(office, BRUNO, "*5 cards* wait for you.")
    office.slack.click_view(BRUNO, "home.filter", "home:due", home=True, chosen="due:hour")
    view = shown(office, BRUNO, "2 match the filters.")
    assert words(view).count("Open the card") == 2


def test_a_view_published_meanwhile_is_not_an_error(office: Office) -> None:
    opened(office, BRUNO, "Nothing waits for you.")
    office.slack.fault("views.publish", "error", error="hash_conflict")
    run, _ = office.start()
    office.card(office.pause(run, a_refund(31240)))
    office.slack.click_view(BRUNO, "home.page", "home:here", home=True)
    shown(office, BRUNO, "*1 card* waits for you.")


def test_slack_that_does_not_say_who_somebody_is_shows_no_data(office: Office) -> None:
    run, _ = office.start()
    office.card(office.pause(run, a_refund(31240)))
    opened(office, BRUNO, "waits for you")
    office.slack.fault("users.info", "error", 3, error="internal_error")
    office.slack.click_view(BRUNO, "home.page", "home:here", home=True)
    assert len(shown(office, BRUNO, "Slack could not say who you are")["blocks"]) == 1


def test_somebody_of_another_company_with_the_same_id_neither_sees_nor_turns_it(office: Office) -> None:
    run, _ = office.start()
    office.card(office.pause(run, a_refund(31240)))
    view = opened(office, BRUNO, "waits for you")
    assert office.slack.home(BRUNO, "T0000OTHER") is None
    with pytest.raises(Exception, match="no app home open"):
        office.slack.click_view(BRUNO, "home.page", "home:here", home=True, team_id="T0000OTHER")
    office.slack.open_home(BRUNO, "T0000OTHER")
    office.until(lambda: office.slack.home(BRUNO)["hash"] != view["hash"], "the event was answered")  # type: ignore[index]
    assert office.slack.home(BRUNO, "T0000OTHER") is None


def test_a_record_that_was_changed_does_not_hide_the_others(office: Office, redis_client: redis.Redis) -> None:
    many_cards(office, 2)
    key = office.store.keys.call(FIRST)
    blob: Any = redis_client.hget(key, "content")
    redis_client.hset(key, "content", blob[:-1] + bytes([blob[-1] ^ 1]))
    view = opened(office, BRUNO, "*2 cards* wait for you.")
    assert words(view).count("Open the card") == 1
