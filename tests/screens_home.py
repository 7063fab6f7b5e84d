"""The Home tab for docs/screens, a look for `screens.on_both(stack, screens_home.inbox, user=OLGA, channel="home")`.

python tests/screens_home.py    takes these two pictures alone
"""

import tempfile
from pathlib import Path

from playwright.sync_api import Page

import reviewing
from reviewing import OLGA
from stack import ROOT, Stack, running

OUT = ROOT / "docs" / "screens"


def inbox(page: Page, width: str) -> None:
    """A reviewer's inbox; something must wait for them, and they must have decided something."""
    page.get_by_text("You decided lately").wait_for()
    page.wait_for_timeout(300)
    page.screenshot(path=OUT / f"home-{width}.png")


def walk(stack: Stack) -> None:
    """Two requests wait; of the first, one card was rejected and one approved."""
    first = reviewing.start(stack)
    first.wait_for_cards(3)
    reviewing.start(stack, "mail the customers whose payment failed yesterday").wait_for_cards(1)
    first.reject(OLGA, "Delete 29 customers", "Finance needs these until January.")
    first.approve(OLGA, "Mail")
    first.wait_for("Approved by Olga")


if __name__ == "__main__":
    from screens import on_both

    OUT.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="vobo-") as place, running(Path(place)) as started:
        walk(started)
        on_both(started, inbox, user=OLGA, channel="home")
