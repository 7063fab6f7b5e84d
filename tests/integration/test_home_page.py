"""The Home tab in a real browser, at phone width: opened, filtered, turned, and left by the link to a card."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from approvals.models import PauseWrite, ProposedBatch
from bot_office import BRUNO, CHANNEL, GUS, ROSA, Office, a_refund
from browser import PHONE, become, browsing

SLOW = 15_000


@pytest.fixture
def page(office: Office) -> Iterator[Page]:
    with browsing() as browser:
        opened = browser.new_page(viewport=PHONE)  # type: ignore[arg-type]  # playwright's own TypedDict
        opened.set_default_timeout(SLOW)
        expect.set_options(timeout=SLOW)
        problems: list[str] = []
        opened.on("pageerror", lambda problem: problems.append(str(problem)))
        opened.goto(f"{office.slack.url}/?as={BRUNO}&channel=home")
        yield opened
        assert problems == []


def more_cards(office: Office, run: str, number: int) -> None:
    """Cards of a second run that were posted long ago."""
    lease = office.store.runs.lease(run, token="worker", ttl_ms=60_000)
    assert lease
    calls, batches = [], []
    for at in range(number):
        call, name = a_refund(2_000 + at, number=100 + at), f"batch_{at:03d}"
        calls.append(call.model_copy(update={"batch": name, "seal": office.seal(run, call, ROSA)}))
        one = ProposedBatch(
            id=name, radius="deploys", number=at + 1, calls=(call.key,), has_card=True, ttl_s=2_000 + at, lapse_s=600
        )
        batches.append(one)
    assert office.store.runs.pause(lease, PauseWrite(state=b"{}", turns=1, calls=tuple(calls), batches=batches)).ok
    for one in batches:
        office.store.batches.record_posted(one.id, channel=CHANNEL, ts=f"1700000000.{one.number:06d}")


def test_the_inbox_is_read_filtered_turned_and_left_for_a_card(office: Office, page: Page) -> None:
    home = page.get_by_test_id("home")
    expect(home.get_by_text("Nothing waits for you")).to_be_visible()

    run, thread = office.start()
    batch = office.pause(run, a_refund(31240))
    office.card(batch)
    more_cards(office, office.start()[0], 25)
    home.get_by_role("button", name="Refresh this inbox").click()
    expect(home.get_by_text("26 cards")).to_be_visible()
    first = home.get_by_text("Refund 1 payments, 312.40 EUR")
    expect(first).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]

    home.get_by_role("button", name="Later deadlines").click()
    expect(home.get_by_text("Refund 1 payments, 20.24 EUR")).to_be_visible()
    expect(first).to_be_hidden()
    home.get_by_role("button", name="Earlier deadlines").click()
    expect(first).to_be_visible()

    home.get_by_label("Filter by blast radius").select_option(label="refunds in EUR")
    expect(home.get_by_text("1 matches the filters.")).to_be_visible()
    expect(home.get_by_text("Refund 1 payments, 20.00 EUR")).to_be_hidden()

    home.get_by_role("link", name="Open the card").click()
    expect(page).to_have_url(f"{office.slack.url}/?as={BRUNO}&channel={CHANNEL}&thread={thread}")
    card = page.get_by_test_id("message").filter(has=page.get_by_test_id("call.approve"))
    card.get_by_test_id("call.approve").last.click()
    expect(page.get_by_text("Approved by Bruno Billing").last).to_be_visible()

    page.go_back()
    expect(home.get_by_text("You approved (")).to_be_visible()
    expect(home.get_by_text("Nothing that waits for you matches the filters.")).to_be_visible()
    home.get_by_label("Filter by blast radius").select_option(label="Any blast radius")
    expect(home.get_by_text("25 cards")).to_be_visible()

    become(page, GUS)
    expect(home.get_by_text("Only full members of this workspace")).to_be_visible()
    expect(home.get_by_role("link")).to_have_count(0)
