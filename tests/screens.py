"""`make screens`: every screen a person meets, at phone and desk width, from the running stack into docs/screens."""

import tempfile
from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import Locator, Page

import reviewing
from browser import PHONE, browsing
from reviewing import BRUNO, OLGA, OMAR, OPS, Thread
from stack import ROOT, Stack, running, until

OUT = ROOT / "docs" / "screens"
TALL = {"desk": {"width": 1280, "height": 1100}, "phone": {**PHONE, "height": 1400}}


def card(page: Page, words: str) -> Locator:
    """The message with these words and controls."""
    return page.get_by_test_id("message").filter(has_text=words)


def shoot(page: Page, name: str, words: str) -> None:
    """One card, scrolled into view."""
    found = card(page, words).last
    found.scroll_into_view_if_needed()
    page.wait_for_timeout(300)
    found.screenshot(path=OUT / f"{name}.png")


def modal(page: Page, name: str, control: str, words: str) -> None:
    """Open a modal, look at it, close it."""
    card(page, words).last.get_by_test_id(control).first.click()
    page.wait_for_timeout(1500)
    page.screenshot(path=OUT / f"{name}.png")
    page.get_by_test_id("modal-close").first.click()
    page.wait_for_timeout(300)


def on_both(stack: Stack, look: Callable[[Page, str], None], *, user: str = OLGA, channel: str = "C_REFUNDS") -> None:
    """The same look at both widths."""
    with browsing() as browser:
        for width, size in TALL.items():
            page = browser.new_page(viewport=size)  # type: ignore[arg-type]  # playwright's own TypedDict
            page.set_default_timeout(10_000)
            page.goto(f"{stack.page}/?as={user}&channel={channel}")
            if channel == "C_REFUNDS":
                page.get_by_test_id("open-thread").first.click()
            page.wait_for_timeout(800)
            look(page, width)
            page.close()


def pending(page: Page, width: str) -> None:
    """Everything that waits for a decision, and the modals that take one."""
    page.screenshot(path=OUT / f"thread-{width}.png")
    shoot(page, f"card-pending-{width}", "Refund 38 payments")
    shoot(page, f"card-two-calls-{width}", "Delete 21 customers")
    modal(page, f"modal-edit-{width}", "call.edit", "Refund 38 payments")
    modal(page, f"modal-reject-{width}", "call.reject", "Refund 38 payments")
    modal(page, f"modal-details-{width}", "call.details", "Refund 38 payments")
    modal(page, f"modal-review-{width}", "batch.review", "Delete 21 customers")


def partly(page: Page, width: str) -> None:
    """One of two approvals given; one of two calls rejected."""
    shoot(page, f"card-partly-decided-{width}", "4,057.60 EUR")
    shoot(page, f"card-one-rejected-{width}", "Delete 21 customers")


def settled(page: Page, width: str) -> None:
    """What a thread looks like afterwards."""
    shoot(page, f"card-settled-{width}", "Settled: refunds")
    shoot(page, f"outcome-{width}", "Outcome:")


def walk(stack: Stack) -> None:
    """The story, stopped where there is something to see."""
    thread: Thread = reviewing.start(stack)
    thread.wait_for_cards(3)
    on_both(stack, pending)
    thread.edit(BRUNO, "Refund 38", "pay_0009", "250.00")
    thread.reject(OMAR, "Delete 29 customers", "Finance needs these until January.")
    thread.wait_for("one more approval needed")
    until(lambda: len(thread.cards()) == 3, "the cards", 10)
    on_both(stack, partly)
    thread.approve(OLGA, "Refund 38")
    thread.approve(BRUNO, "Mail")
    thread.reject(OLGA, "Delete 21 customers", "Not this week.")
    thread.wait_for("stand-in", 40)
    on_both(stack, settled)
    on_both(stack, lambda page, width: page.screenshot(path=OUT / f"ops-{width}.png"), user=OMAR, channel=OPS)


if __name__ == "__main__":
    OUT.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="vobo-") as home, running(Path(home)) as started:
        walk(started)
