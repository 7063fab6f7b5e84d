"""The whole story clicked through in Chromium, as somebody sees it who opened the sandbox for the first time."""

from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from browser import DESK, PHONE, become, browsing
from effects import effects_of
from reviewing import BRUNO, OLGA, OMAR, REQUEST, ROSA
from stack import running, until

SLOW = 30_000


def open_call(page: Page, words: str) -> Locator:
    """The card with these words."""
    return page.get_by_test_id("message").filter(has_text=words).filter(has=page.get_by_test_id("call.approve"))


def approve(page: Page, card: Locator) -> None:
    """Press Approve, and say yes where the card asks twice."""
    card.get_by_test_id("call.approve").first.click()
    sure = page.get_by_test_id("confirm-yes")
    if sure.count():
        sure.click()


@pytest.mark.parametrize("size", [DESK, PHONE], ids=["desk", "phone"])
def test_the_story_can_be_clicked_through(home: Path, size: dict[str, int]) -> None:
    with running(home) as stack, browsing() as browser:
        page = browser.new_page(viewport=size)  # type: ignore[arg-type]  # playwright's own TypedDict
        page.set_default_timeout(SLOW)
        expect.set_options(timeout=SLOW)
        page.goto(f"{stack.page}/?as={ROSA}&channel=C_REFUNDS")
        page.get_by_test_id("composer").fill(f"@vobo {REQUEST}")
        page.get_by_test_id("composer").press("Enter")
        expect(page.get_by_text("For @bruno").first).to_be_visible()
        refunds = open_call(page, "Refund 38 payments")
        approve(page, refunds)
        expect(page.get_by_text("You started this run").first).to_be_visible()

        become(page, BRUNO)
        refunds.get_by_test_id("call.edit").click()
        modal = page.get_by_test_id("modal")
        modal.get_by_test_id("edit.line").select_option(label="pay_0009: amount: 312.40 EUR")
        field = modal.get_by_test_id("input-arg:/lines/8/amount")
        field.fill("4.120")
        modal.get_by_test_id("modal-submit").click()
        expect(modal.get_by_text('"4.120"')).to_be_visible()
        field.fill("250.00")
        modal.get_by_test_id("modal-submit").click()
        expect(page.get_by_text("one more approval needed").first).to_be_visible()
        approve(page, open_call(page, "Mail 36 people"))

        become(page, OLGA)
        approve(page, refunds)

        become(page, OMAR)
        deletion = page.get_by_test_id("message").filter(has_text="deletion of customers")
        deletion.get_by_test_id("batch.reject_all").click()
        modal.get_by_test_id("input-common").get_by_label("Another reason").check()
        modal.get_by_test_id("input-reason").fill("Not this week.")
        modal.get_by_test_id("modal-submit").click()

        expect(page.get_by_text("Outcome: 2 done, 2 not run").first).to_be_visible()
        expect(page.get_by_text("stand-in for a language model").first).to_be_visible()
        effects = until(
            lambda: found if len((found := effects_of(stack))["refunds"]) == 38 else None, "refunds", 20, home
        )
        assert sum(row["minor"] for row in effects["refunds"]) == 412000 - 31240 + 25000
        assert len(effects["mails"]) == 36
        assert effects["deletions"] == []
