"""A real Chromium for the tests that look at a page."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager

from playwright.sync_api import Browser, Page, sync_playwright

FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
PHONE = {"width": 390, "height": 844}
DESK = {"width": 1280, "height": 900}


class ChromiumMissing(RuntimeError):
    """The browser tests need Chromium: sudo apt-get install chromium."""


def chromium() -> str:
    """Where Chromium is.

    Raises:
        ChromiumMissing: it is a failure, not a reason to skip.
    """
    found = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if found is None:
        raise ChromiumMissing(ChromiumMissing.__doc__)
    return found


@contextmanager
def browsing() -> Iterator[Browser]:
    """A browser, closed afterwards."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=FLAGS)
        yield browser
        browser.close()


def become(page: Page, user: str) -> None:
    """Switch who you are at the top of the page."""
    page.get_by_test_id(f"person-{user}").click()
