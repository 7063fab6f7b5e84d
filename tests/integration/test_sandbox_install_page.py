"""The page that asks whether to install the app, in a real browser."""

from collections.abc import Iterator
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest
from playwright.sync_api import Browser, Page, expect

from bot.sandbox import Workspace
from browser import PHONE, browsing

#: Nothing is there; the address alone is looked at.
BACK = "/oauth/the-app"
SCOPES = "app_mentions:read,channels:history,chat:write,<b>not markup</b>"
TOUCH = 44  # pixels a finger needs


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with browsing() as started:
        yield started


@pytest.fixture(scope="module")
def workspace() -> Iterator[Workspace]:
    with Workspace.serve(team_name="Acme & Söhne", client_id="111.222", client_secret="sandbox-secret") as made:
        yield made


@pytest.fixture(params=["light", "dark"])
def page(browser: Browser, workspace: Workspace, request: pytest.FixtureRequest) -> Iterator[Page]:
    context = browser.new_context(viewport=PHONE, color_scheme=request.param)  # type: ignore[arg-type]  # playwright's own
    opened = context.new_page()
    asked = {"client_id": "111.222", "scope": SCOPES, "redirect_uri": workspace.url + BACK, "state": "a&state"}
    opened.goto(f"{workspace.url}/oauth/v2/authorize?{urlencode(asked)}")
    yield opened
    context.close()


def came_back(page: Page) -> dict[str, list[str]]:
    page.wait_for_url(f"**{BACK}?*")
    return parse_qs(urlsplit(page.url).query)


def test_it_says_who_asks_for_what_and_fits_a_phone(page: Page) -> None:
    expect(page.get_by_role("heading", level=1)).to_have_text("vobo wants to work in Acme & Söhne")
    expect(page.get_by_role("listitem")).to_have_text(SCOPES.split(","))
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    for name in ("Allow", "Cancel"):
        box = page.get_by_role("button", name=name).bounding_box()
        assert box
        assert box["height"] >= TOUCH


def test_its_words_can_be_read_on_a_light_and_on_a_dark_screen(page: Page) -> None:
    for place in ("h1", "li", "button.yes", "button:not(.yes)"):
        assert page.eval_on_selector(place, _CONTRAST) >= 4.5, place
    dark = page.evaluate("matchMedia('(prefers-color-scheme: dark)').matches")
    paper = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert paper == ("rgb(21, 26, 23)" if dark else "rgb(251, 250, 246)")


def test_the_keyboard_reaches_allow_first_and_gets_a_code(page: Page) -> None:
    page.keyboard.press("Tab")
    expect(page.get_by_role("button", name="Allow")).to_be_focused()
    page.keyboard.press("Enter")
    told = came_back(page)
    assert (told.keys(), told["state"]) == ({"code", "state"}, ["a&state"])


def test_cancel_sends_back_without_a_code(page: Page) -> None:
    page.get_by_role("button", name="Cancel").click()
    assert came_back(page) == {"error": ["access_denied"], "state": ["a&state"]}


#: The contrast of an element's text with what lies behind it, as WCAG 2 counts it.
_CONTRAST = """element => {
  const parts = colour => colour.match(/[\\d.]+/g).map(Number);
  const light = ([r, g, b]) => [r, g, b].map(v => v / 255)
    .map(v => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
    .reduce((sum, v, at) => sum + v * [0.2126, 0.7152, 0.0722][at], 0);
  let behind = element;
  while (parts(getComputedStyle(behind).backgroundColor)[3] === 0) behind = behind.parentElement;
  const both = [light(parts(getComputedStyle(element).color)), light(parts(getComputedStyle(behind).backgroundColor))];
  return (Math.max(...both) + 0.05) / (Math.min(...both) + 0.05);
}"""
