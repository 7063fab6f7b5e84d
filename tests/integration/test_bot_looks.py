"""The data of a waiting call changes in the shop: whoever opens a window of its card is told, and so is the card."""

import asyncio
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import redis

from bot.looks import WAIT_S
from bot_office import BRUNO, OLGA, RITA, ROSA, Office, readable, running
from builders import events, move, waking
from worker import looking
from workshop import Workshop, a_law, shipping

CHANGED, SAME = "The data has changed since it was proposed", "nothing has changed"
REVIEWERS = f"""
team = "T0000HOME"
strictest = "desk"
ops = ["{OLGA}"]
[tiers.desk]
users = ["{BRUNO}", "{OLGA}"]
"""


@pytest.fixture
def office(valkey_url: str, redis_client: redis.Redis, tmp_path: Path) -> Iterator[Office]:
    people = tmp_path / "reviewers.toml"
    people.write_text(REVIEWERS, encoding="utf-8")
    with running(valkey_url, redis_client, reviewers=people) as made:
        yield made


class Desk:
    """A run of the workshop's agent that waits in Slack, and a worker that is only there to look."""

    def __init__(self, office: Office, *steps: Any) -> None:
        self.office = office
        self.workshop = Workshop(office.store, office.client, list(steps) or [shipping(("cup", 3), ("pot", 2))])
        self.workshop.law = a_law(reviewers=REVIEWERS)
        self.run, _ = office.start("ship it")
        self.workshop.advance(self.run)
        self.calls = self.workshop.calls(self.run)
        self.key, self.batch = self.calls[0].key, str(self.calls[0].batch)
        office.card_with(self.batch, "decide by")

    def open(self, user: str, control: str = "call.details") -> None:
        """Press a button of the card; the minute since the last look is over."""
        for call in self.calls:
            move(self.office.client, self.office.store.keys.call(call.key), look_asked_at=1)
        key = None if control.startswith("batch.") else self.key
        self.office.press(user, self.batch, control, key)

    def reads(self, user: str, words: str, control: str = "call.details") -> str:
        """Open the window until they say so: a window is filled once more only where the look ends within a second."""
        for _ in range(6):
            self.open(user, control)
            until = time.monotonic() + 2 * WAIT_S
            while time.monotonic() < until:
                view = self.office.slack.view(user)
                if view and words in str(view["blocks"]):
                    return str(view["blocks"])
                time.sleep(0.05)
        raise AssertionError(f"{user} never reads {words!r}")

    def window(self, user: str, words: str) -> str:
        """What the window says, once it has these words."""

        def look() -> str | None:
            view = self.office.slack.view(user)
            return str(view["blocks"]) if view and words in str(view["blocks"]) else None

        return self.office.until(look, f"{user}'s window says {words!r}")

    @contextmanager
    def looking(self) -> Iterator[None]:
        """A worker takes up what the clock finds due, as long as this lasts."""
        done = threading.Event()

        def work() -> None:
            while not done.wait(0.02):
                for job, argument, _ in self.office.store.wakeups.due(again_ms=60_000):
                    if job == "look_again":
                        asyncio.run(looking.look_again(self.workshop.deps, argument))

        thread = threading.Thread(target=work)
        thread.start()
        try:
            yield
        finally:
            done.set()
            thread.join()


def test_what_changed_in_the_shop_is_told_in_the_details_and_on_the_card_until_it_is_as_before(office: Office) -> None:
    desk = Desk(office)
    with desk.looking():
        desk.reads(BRUNO, SAME)
        assert CHANGED not in readable(office.card(desk.batch))

        desk.workshop.shop.stock["cup"] = 2
        assert "cup: stock 50 -> 2" in desk.reads(BRUNO, CHANGED)
        card = office.card_with(desk.batch, CHANGED)
        assert "1 of 2 rows" in readable(card)
        assert "The data has changed: 1 of 2 rows" in readable(card), "the confirm of its approval"
        assert "stock 50" not in readable(card)

        desk.workshop.shop.stock["cup"] = 50
        desk.reads(BRUNO, SAME)
        office.until(lambda: CHANGED not in readable(office.card(desk.batch)), "the warning goes")
    assert [kind for kind in events(office.store, desk.key) if kind.startswith("drift")] == [
        "drift_noticed",
        "drift_over",
    ]


def test_a_changed_call_can_still_be_approved(office: Office) -> None:
    desk = Desk(office)
    desk.workshop.shop.stock["cup"] = 2
    with desk.looking():
        desk.open(BRUNO)
        office.card_with(desk.batch, CHANGED)
    office.press(BRUNO, desk.batch, "call.approve", desk.key)
    card = office.card_with(desk.batch, "Approved by")
    assert CHANGED not in readable(card)


def test_the_window_that_decides_every_call_looks_at_each_of_them(office: Office) -> None:
    desk = Desk(office, shipping(("cup", 3), call_id="c1"), shipping(("pot", 2), call_id="c2"))
    assert len(desk.calls) == 2
    desk.workshop.shop.stock["pot"] = 1
    with desk.looking():
        shown = desk.reads(BRUNO, CHANGED, "batch.review")
        assert SAME in shown
        assert "Say why" not in shown


def test_the_window_of_an_edit_has_the_data_looked_up(office: Office) -> None:
    desk = Desk(office)
    desk.workshop.shop.stock["cup"] = 2
    with desk.looking():
        desk.open(BRUNO, "call.edit")
        office.card_with(desk.batch, CHANGED)


@pytest.mark.parametrize("user", [ROSA, RITA])
def test_whoever_may_not_decide_it_reads_what_is_known_and_has_nothing_looked_up(office: Office, user: str) -> None:
    desk = Desk(office)
    desk.open(user)
    office.modal(user)
    desk.window(user, "Arguments that would run")
    time.sleep(0.3)
    assert not [one for one in waking(office.store) if one.startswith("look_again")]
    assert "decision_refused" not in events(office.store, desk.key), "reading is no attempt to decide"


def test_a_look_that_takes_longer_leaves_the_window_as_it_is_and_is_told_by_the_card(office: Office) -> None:
    desk = Desk(office)
    desk.workshop.shop.stock["cup"] = 2
    desk.open(BRUNO)
    desk.window(BRUNO, "Arguments that would run")
    time.sleep(WAIT_S + 0.3)
    with desk.looking():
        office.card_with(desk.batch, CHANGED)
    view = office.slack.view(BRUNO)
    assert view is not None
    assert CHANGED not in str(view["blocks"])


def test_a_window_that_was_turned_to_another_page_meanwhile_stays_there(office: Office) -> None:
    desk = Desk(office)
    desk.workshop.shop.stock["cup"] = 2
    desk.open(BRUNO)
    desk.window(BRUNO, "Arguments that would run")
    view = office.slack.view(BRUNO)
    assert view is not None
    other = {**{name: view[name] for name in ("type", "callback_id", "title", "close", "private_metadata")}}
    other["blocks"] = [{"type": "section", "text": {"type": "plain_text", "text": "Another page"}}]
    office.bot.deps.client.views_update(view_id=view["id"], view=other)
    with desk.looking():
        office.card_with(desk.batch, CHANGED)
        time.sleep(0.3)
    assert "Another page" in desk.window(BRUNO, "Another page")


def test_opening_a_window_hints_the_queue_at_the_look_so_that_it_need_not_wait_for_the_clock(office: Office) -> None:
    desk = Desk(office)
    desk.open(BRUNO)
    office.until(lambda: any("look_again" in key.decode() for key in office.client.scan_iter("rq:job:*")), "a nudge")
