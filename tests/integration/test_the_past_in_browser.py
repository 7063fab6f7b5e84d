"""What was done, taken back and asked about in Chromium, between the sandbox, the real bot and a real store."""

from collections.abc import Iterator
from contextlib import ExitStack

import pytest
import redis
from playwright.sync_api import Browser, expect

from at_the_browser import Seat, seat
from bot_office import BRUNO, OLGA, ROSA, Office, running
from browser import browsing
from tests.integration.test_bot_undo import FIRST, claimed, outcome, ran


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with browsing() as opened:
        yield opened


@pytest.fixture
def office(valkey_url: str, redis_client: redis.Redis) -> Iterator[Office]:
    with running(valkey_url, redis_client) as made:
        made.store.switches.set_worker("law", ["refund_payments"], ["refund_payments"])
        yield made


@pytest.fixture
def people(browser: Browser, office: Office) -> Iterator[dict[str, Seat]]:
    """A refund ran; Bruno, Olga and Rosa look at its thread."""
    run = office.store.runs.load(ran(office))
    assert run
    outcome(office, "Can be undone")
    with ExitStack() as stack:
        yield {
            user: stack.enter_context(seat(browser, office, user, thread=run.thread_ts)) for user in (BRUNO, OLGA, ROSA)
        }


def test_an_undo_asks_twice_and_everybody_reads_who_wanted_it_and_what_became_of_it(
    office: Office, people: dict[str, Seat]
) -> None:
    bruno, olga = people[BRUNO], people[OLGA]
    pressed = len(office.slack.deliveries("block_actions"))
    bruno.press("call.undo", "Can be undone", sure=False)
    assert len(office.slack.deliveries("block_actions")) == pressed
    assert office.call(FIRST).undo is None
    bruno.press("call.undo", "Can be undone", sure=True)
    olga.reads("Being undone, as Bruno Billing")
    expect(olga.page.get_by_test_id("call.undo")).to_have_count(0)
    assert office.store.undos.succeed(claimed(office.store), receipt="1").ok
    office.bot.deps.wake.set()
    olga.reads("1 undone since")
    bruno.reads("Undone by Bruno Billing")


def test_whoever_asked_for_the_run_takes_nothing_back_and_the_control_stays_for_the_others(
    office: Office, people: dict[str, Seat]
) -> None:
    rosa, olga = people[ROSA], people[OLGA]
    rosa.press("call.undo", "Can be undone", sure=True)
    rosa.reads("You started this run, so somebody else must take this back.")
    olga.never_reads("You started this run, so somebody else must take this back.")
    expect(olga.control("call.undo", "Can be undone")).to_be_visible()
    assert office.call(FIRST).undo is None


def test_what_happened_is_asked_in_the_channel_and_read_in_a_window(
    browser: Browser, office: Office, people: dict[str, Seat]
) -> None:
    with seat(browser, office, OLGA) as olga, seat(browser, office, ROSA) as rosa:
        for one in (olga, rosa):
            one.page.get_by_test_id("composer").fill("/vobo history refund_payments")
            one.page.get_by_test_id("composer").press("Enter")
        expect(olga.modal).to_contain_text("Approved by Bruno Billing")
        expect(olga.modal).to_contain_text("312.40 EUR")
        expect(rosa.modal).to_contain_text("Only ops and reviewers may read this.")
        olga.close()
