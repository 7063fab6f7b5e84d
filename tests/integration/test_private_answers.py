"""What one person alone is told arrives, however long it is and wherever they pressed."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import redis

from approvals.calls import Calls
from approvals.outcomes import Answer
from bot.asker import Asker, tell
from bot.blocks import text_length
from bot_office import BRUNO, CHANNEL, OMAR, REVIEWERS, Office, a_refund, running


def told_in_full(office: Office, user: str) -> str:
    """The last private answer, as its blocks show it."""
    told = office.until(lambda: office.slack.ephemerals(user, CHANNEL), "a private answer")
    return "\n".join(block["text"]["text"] for block in told[-1]["blocks"])


def fails_at(patch: pytest.MonkeyPatch, key: str) -> None:
    real: Callable[..., Answer] = Calls.approve

    def failing(self: Calls, which: str, **given: Any) -> Answer:
        if which == key:
            raise ValueError(key)
        return real(self, which, **given)

    patch.setattr(Calls, "approve", failing)


def test_what_became_of_eight_calls_is_told_though_each_still_waits_for_one_of_twenty_people(
    valkey_url: str, redis_client: redis.Redis, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    many = [f"U{number:04d}" for number in range(100, 120)]
    law = REVIEWERS.read_text().replace('["U0001", "U0002", "U0008"]', str(["U0001", *many]).replace("'", '"'))
    named = "".join(
        f'[people.{user}]\nname = "{user} {"of a long name " * 4}"\nlimits = {{ EUR = "900.00" }}\n' for user in many
    )
    (tmp_path / "reviewers.toml").write_text(law + named)
    with running(valkey_url, redis_client, reviewers=tmp_path / "reviewers.toml") as office:
        run, _ = office.start()
        batch = office.pause(run, *(a_refund(1000 + at, number=at, reviewers=2) for at in range(1, 9)))
        fails_at(monkeypatch, "call_000000000008")
        office.press(BRUNO, batch, "batch.approve_all")
        told = told_in_full(office, BRUNO)
    assert told.startswith("7 of 8 decided as you said.\n8. This one could not be decided just now.")
    assert all(f"\n{at}. Your approval is kept. 1 more needed from U0100 of a long name" in told for at in range(1, 8))
    assert told.count("or 15 other people by") == 7


def test_a_private_answer_that_slack_would_refuse_as_too_long_loses_its_end_alone(office: Office) -> None:
    tell(office.bot.deps, Asker(OMAR, CHANNEL, None), "It failed.\n" + "a line of it &amp; \n" * 2_000)
    told = office.slack.ephemerals(OMAR, CHANNEL)[-1]
    assert told["blocks"][0]["text"]["text"].startswith("It failed.\na line")
    assert told["blocks"][-1]["text"]["text"].endswith("…")
    assert 8_000 < text_length(told["blocks"]) < 10_000


def test_a_page_of_the_past_that_may_no_longer_be_read_says_so_where_the_window_came_from(office: Office) -> None:
    run, _ = office.start()
    for number in range(30):
        office.store.outbox.alarm(f"tool:{number}", event="tool_gone", run=run, reason=f"number {number}")
    office.slack.slash(OMAR, CHANNEL, f"history {run}")
    office.until(lambda: "Page 1 of 2" in str(office.modal(OMAR)["blocks"]), "the window is filled")
    office.slack.set_user(OMAR, is_restricted=True)
    office.bot.deps.desk.ask(OMAR)
    office.slack.click_view(OMAR, "past.page_next")
    assert "Guests may not" in told_in_full(office, OMAR)


def test_a_page_of_the_details_that_cannot_be_read_says_so_where_the_card_stands(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    run, _ = office.start()
    long = a_refund(31240).content.model_copy(update={"lookups": tuple(f"line {at}" * 300 for at in range(200))})
    batch = office.pause(run, a_refund(31240).model_copy(update={"content": long}))
    office.press(BRUNO, batch, "call.details", "call_000000000001")
    office.until(lambda: "Page 1 of" in str(office.modal(BRUNO)["blocks"]), "the details are shown")
    monkeypatch.setattr(Calls, "load", lambda *_: 1 / 0)
    office.slack.click_view(BRUNO, "details.page_next")
    assert "could not be done just now" in told_in_full(office, BRUNO)
