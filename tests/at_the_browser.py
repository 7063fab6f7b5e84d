"""People at their browsers: a page each, looking at one thread of the sandbox."""

from collections.abc import Iterator
from contextlib import contextmanager

from playwright.sync_api import Browser, Locator, Page, expect

from bot_office import CHANNEL, Office
from browser import DESK

SLOW = 15_000


class Seat:
    """One person's tab."""

    def __init__(self, page: Page) -> None:
        self.page = page

    def card(self, words: str = "") -> Locator:
        """The messages with these words and controls; those of the thread come last."""
        return self.page.get_by_test_id("message").filter(has_text=words).filter(has=self.page.locator("button"))

    def control(self, name: str, words: str = "") -> Locator:
        """A control of the newest message that has it."""
        return self.card(words).get_by_test_id(name).last

    def press(self, name: str, words: str = "", *, sure: bool | None = None) -> None:
        """Press it; where it asks twice, `sure` is the answer."""
        self.control(name, words).click()
        if sure is not None:
            expect(self.page.get_by_test_id("confirm")).to_be_visible()
            self.page.get_by_test_id("confirm-yes" if sure else "confirm-deny").click()

    @property
    def modal(self) -> Locator:
        return self.page.get_by_test_id("modal")

    def field(self, block: str) -> Locator:
        return self.modal.get_by_test_id(f"input-{block}")

    def submit(self) -> None:
        self.modal.get_by_test_id("modal-submit").click()

    def close(self) -> None:
        """Close the window without submitting it."""
        self.modal.get_by_test_id("modal-close").click()
        expect(self.modal).to_have_count(0)

    def refused_at(self, block: str, words: str) -> None:
        """The sentence stands at this field, and the window is still open."""
        expect(self.modal.locator(f'[data-error-for="{block}"]')).to_contain_text(words)

    def reads(self, words: str) -> None:
        expect(self.page.get_by_text(words).last).to_be_visible()

    def never_reads(self, words: str) -> None:
        expect(self.page.get_by_text(words)).to_have_count(0)


@contextmanager
def seat(
    browser: Browser, office: Office, user: str, *, thread: str = "", team: str = "", channel: str = CHANNEL
) -> Iterator[Seat]:
    """A tab of this person; `team` makes somebody of another company of any id."""
    context = browser.new_context(viewport=DESK)  # type: ignore[arg-type]  # playwright's own TypedDict
    context.set_default_timeout(SLOW)
    expect.set_options(timeout=SLOW)
    page = context.new_page()
    place = f"as={user}&channel={channel}" + (f"&thread={thread}" if thread else "") + (f"&team={team}" if team else "")
    page.goto(f"{office.slack.url}/?{place}")
    try:
        yield Seat(page)
    finally:
        context.close()
