"""`make screens`, the second part: what a person meets once things have happened. The past, an undo, a matter for ops.

python tests/screens_after.py    takes these pictures alone
"""

import tempfile
from functools import partial
from pathlib import Path

from playwright.sync_api import Page

import reviewing
from approvals.lifecycle import State
from approvals.redis_check import connect
from reviewing import BRUNO, CHANNEL, OLGA, OMAR, OPS, Thread
from screens import OUT, modal, on_both, question, shoot, store_of
from stack import Stack, running, until

REPORT = "draft a refund report about yesterday's failed payments"


def walk(stack: Stack) -> None:
    """A mail that was approved and sent, of which then nobody can tell; and a draft that can be taken back."""
    mailed = reviewing.start(stack, "mail the customers whose payment failed yesterday")
    mailed.wait_for_cards(1)
    mailed.approve(BRUNO, "Mail")
    mailed.wait_for("stand-in", 40)
    on_both(stack, partial(past, stack), user=OLGA)
    make_unknown(stack, mailed)
    on_both(stack, matter_for_ops, user=OMAR, channel=OPS)
    drafted = reviewing.start(stack, REPORT)
    drafted.wait_for("Outcome", 40)
    on_both(stack, partial(undo, drafted), user=OLGA)


def past(stack: Stack, page: Page, width: str) -> None:
    """The story of a card's run, from its details, and what happened lately, from `/vobo history`."""
    modal(page, f"modal-timeline-{width}", "call.details", "Settled: mail", _turn_to_the_past)
    stack.slack.slash(OLGA, CHANNEL, "history")
    page.wait_for_timeout(2000)
    page.screenshot(path=OUT / f"modal-history-{width}.png")
    page.get_by_test_id("modal-close").first.click()


def _turn_to_the_past(page: Page) -> None:
    page.get_by_test_id("run.timeline").click()


def matter_for_ops(page: Page, width: str) -> None:
    """An unknown outcome with its controls, and the window in which it is settled by hand."""
    shoot(page, f"ops-unknown-{width}", "Unknown outcome")
    modal(page, f"modal-settle-{width}", "ops.mark_done", "Unknown outcome")


def undo(thread: Thread, page: Page, width: str) -> None:
    """The outcome that offers an undo, and the question before it."""
    page.goto(f"{page.url.partition('?')[0]}?as={OLGA}&channel={CHANNEL}")
    page.get_by_test_id("open-thread").last.click()
    page.wait_for_timeout(800)
    shoot(page, f"outcome-undo-{width}", "Can be undone")
    question(page, f"confirm-undo-{width}", "call.undo", "Can be undone")


def make_unknown(stack: Stack, thread: Thread) -> None:
    """As if the work-horse had died between the mail and its receipt; ops is told as it would be."""
    store = store_of(stack)
    run = store.runs.newest_in_thread(thread.channel, thread.ts)
    assert run
    (call,) = store.calls.of_pause(run.id, 1)
    connect(stack.env["REDIS_URL"]).hset(store.keys.call(call.key), "state", State.UNKNOWN)
    store.outbox.owe("alert", f"call:{call.key}")
    until(lambda: stack.slack.messages(OPS), "ops is told", 20, stack.home)


if __name__ == "__main__":
    OUT.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="vobo-") as home, running(Path(home)) as started:
        walk(started)
