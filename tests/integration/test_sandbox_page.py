"""The page in a real browser: what a person sees and can press, and what untrusted text cannot become."""

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright
from slack_sdk import WebClient

from bot.sandbox import Workspace
from browser import FLAGS, chromium


def plain(text: str) -> dict[str, Any]:
    return {"type": "plain_text", "text": text}


def mrkdwn(text: str) -> dict[str, Any]:
    return {"type": "mrkdwn", "text": text}


def button(label: str, action_id: str, **more: Any) -> dict[str, Any]:
    return {"type": "button", "text": plain(label), "action_id": action_id, **more}


CARD = [
    {"type": "header", "text": plain("Two refunds")},
    {
        "type": "actions",
        "block_id": "call:a",
        "elements": [
            button("Approve", "call.approve", value="a", accessibility_label="Approve call 1"),
            button("All", "batch.approve_all", confirm={"title": plain("Sure?"), "text": mrkdwn("*392.00* go")}),
            {
                "type": "overflow",
                "action_id": "call.details",
                "options": [{"text": plain("Full arguments"), "value": "full"}],
            },
        ],
    },
]
EDIT = {
    "type": "modal",
    "callback_id": "edit",
    "title": plain("Edit"),
    "submit": plain("Save"),
    "blocks": [
        {
            "type": "input",
            "block_id": "arg:/amount",
            "label": plain("Amount"),
            "element": {
                "type": "number_input",
                "action_id": "value",
                "is_decimal_allowed": True,
                "initial_value": "40",
                "max_value": "100",
            },
        },
        {
            "type": "input",
            "block_id": "kind",
            "label": plain("Kind"),
            "element": {
                "type": "radio_buttons",
                "action_id": "value",
                "options": [{"text": mrkdwn("*Goodwill*"), "value": "g"}, {"text": plain("Mistake"), "value": "m"}],
            },
        },
    ],
}


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=chromium(), args=FLAGS)
        yield launched
        launched.close()


@pytest.fixture
def workspace() -> Iterator[Workspace]:
    with Workspace.serve(ack_timeout=0.1, retry_delays=()) as served:
        yield served


@pytest.fixture
def client(workspace: Workspace) -> WebClient:
    return WebClient("xoxb-sandbox", base_url=workspace.api_url)


@pytest.fixture
def page(browser: Browser, workspace: Workspace) -> Iterator[Page]:
    context = browser.new_context(viewport={"width": 1280, "height": 800})
    context.set_default_timeout(5000)
    opened = context.new_page()
    problems: list[str] = []
    opened.on("pageerror", lambda problem: problems.append(str(problem)))
    opened.on("console", lambda said: problems.append(said.text) if "Security Policy" in said.text else None)
    opened.goto(f"{workspace.url}/?as=U0005&channel=C_REFUNDS")
    yield opened
    context.close()
    assert problems == []


def test_an_example_prompt_becomes_a_mention_and_the_thread_opens_with_the_first_reply(
    page: Page, workspace: Workspace, client: WebClient
) -> None:
    page.get_by_test_id("prompt").nth(1).click()
    said = workspace.wait_message("C_REFUNDS", "refund yesterday")
    assert said["text"] == "<@UBOT> refund yesterday's failed payments"
    client.chat_postMessage(channel="C_REFUNDS", thread_ts=said["ts"], text="On it", blocks=CARD)
    expect(page.locator("#thread").get_by_role("heading", name="Two refunds")).to_be_visible()
    page.get_by_test_id("thread-composer").fill("thanks")
    page.get_by_test_id("thread-composer").press("Enter")
    assert workspace.wait_message("C_REFUNDS", "thanks")["thread_ts"] == said["ts"]


def test_buttons_menus_and_confirmations_send_what_was_pressed(
    page: Page, workspace: Workspace, client: WebClient
) -> None:
    client.chat_postMessage(channel="C_REFUNDS", text="card", blocks=CARD)
    approve = page.locator('[data-action-id="call.approve"][data-block-id="call:a"]')
    expect(approve).to_have_accessible_name("Approve call 1")
    approve.click()
    expect(page.get_by_test_id("toast")).to_contain_text("responded with an error")
    page.get_by_test_id("batch.approve_all").click()
    expect(page.get_by_test_id("confirm")).to_contain_text("392.00 go")
    page.get_by_test_id("confirm-deny").click()
    page.get_by_test_id("batch.approve_all").click()
    page.get_by_test_id("confirm-yes").click()
    page.get_by_test_id("call.details").click()
    page.get_by_role("menuitem", name="Full arguments").click()
    sent = workspace.until(lambda: _actions(workspace) if len(_actions(workspace)) == 3 else None)
    assert [one["action_id"] for one in sent] == ["call.approve", "batch.approve_all", "call.details"]
    assert (sent[0]["value"], sent[2]["selected_option"]["value"]) == ("a", "full")


def _actions(workspace: Workspace) -> list[dict[str, Any]]:
    return [one["payload"]["actions"][0] for one in workspace.deliveries("block_actions")]


def test_a_modal_shows_an_error_at_its_field_and_keeps_what_was_typed(
    page: Page, workspace: Workspace, client: WebClient
) -> None:
    ts = client.chat_postMessage(channel="C_REFUNDS", text="card", blocks=CARD)["ts"]
    trigger = workspace.click("U0005", "C_REFUNDS", ts, "call.approve")["trigger_id"]
    opened = client.views_open(trigger_id=trigger, view=EDIT)["view"]
    amount = page.get_by_test_id("input-arg:/amount")
    expect(amount).to_have_value("40")
    expect(amount).to_be_focused()
    amount.fill("500")
    page.get_by_test_id("modal-submit").click()
    expect(page.locator('[data-error-for="arg:/amount"]')).to_have_text("Please enter a number of at most 100.")
    expect(page.locator('[data-error-for="kind"]')).to_have_text("Please complete this required field.")
    amount.fill("25.50")
    client.views_update(view_id=opened["id"], view={**EDIT, "title": plain("Edit again")})
    expect(page.get_by_role("heading", name="Edit again")).to_be_visible()
    expect(page.get_by_test_id("input-arg:/amount")).to_have_value("25.50")
    page.get_by_label("Goodwill").check()
    page.get_by_test_id("modal-submit").click()
    [sent] = workspace.until(lambda: workspace.deliveries("view_submission"))
    values = sent["payload"]["view"]["state"]["values"]
    assert values["arg:/amount"]["value"]["value"] == "25.50"
    assert values["kind"]["value"]["selected_option"]["value"] == "g"
    expect(page.locator('[data-error-for=""]')).to_contain_text("trouble connecting")
    page.keyboard.press("Escape")
    expect(page.get_by_test_id("modal")).to_have_count(0)
    assert workspace.view("U0005") is None


def test_escaped_and_raw_text_never_becomes_a_mention_a_link_or_markup(page: Page, client: WebClient) -> None:
    blocks = [
        {
            "type": "section",
            "text": mrkdwn("a &lt;!channel&gt; b `<@U0001>` c &lt;mailto:x@evil.test|x&gt; <javascript:alert(1)|y>"),
        },
        {"type": "section", "text": {**mrkdwn("see &lt;https://evil.test|x&gt;"), "verbatim": True}},
        {
            "type": "rich_text",
            "elements": [
                {
                    "type": "rich_text_section",
                    "elements": [{"type": "text", "text": "<@U0001> *bold* <img src=x onerror=alert(1)> &lt;"}],
                },
            ],
        },
        {"type": "section", "text": plain("<!here> *x* https://evil.test")},
        {"type": "table", "rows": [[{"type": "raw_text", "text": "<!channel> <b>x</b>"}]]},
    ]
    client.chat_postMessage(channel="C_REFUNDS", text="evil", blocks=blocks)
    content = page.get_by_test_id("message").locator(".content")
    expect(content).to_contain_text("a <!channel> b <@U0001> c <mailto:x@evil.test|x> <javascript:alert(1)|y>")
    expect(content).to_contain_text("<@U0001> *bold* <img src=x onerror=alert(1)> &lt;")
    expect(content).to_contain_text("<!channel> <b>x</b>")
    assert content.locator(".mention, a, img, b, strong").count() == 0


def test_mrkdwn_is_read_as_slack_reads_it(page: Page, client: WebClient) -> None:
    text = "*bold* _it_ ~old~ 2*3*4 <@U0005> <!subteam^S_BILLING> <https://x.test/?a=1&amp;b=2|here>"
    text += " <!date^0^{date_num}|x> &lt;https://y.test/z&gt;."
    client.chat_postMessage(channel="C_REFUNDS", text=text)
    content = page.get_by_test_id("message").locator(".content")
    expect(content.locator("strong")).to_have_text("bold")
    expect(content.locator("em")).to_have_text("it")
    expect(content.locator("s")).to_have_text("old")
    expect(content).to_contain_text("2*3*4")
    expect(content.locator(".mention")).to_have_text(["@rosa", "@billing"])
    hrefs = content.locator("a").evaluate_all("links => links.map((link) => link.getAttribute('href'))")
    assert hrefs == ["https://x.test/?a=1&b=2", "https://y.test/z"]
    expect(content.locator("time")).to_have_text("1970-01-01")


def test_an_ephemeral_is_on_one_persons_page_only_and_others_see_unread_counts(
    page: Page, workspace: Workspace, client: WebClient
) -> None:
    client.chat_postEphemeral(channel="C_REFUNDS", user="U0001", text="for Bruno")
    client.chat_postMessage(channel="C_OPS", text="<@U0001> look")
    page.get_by_test_id("person-U0001").click()
    expect(page.get_by_text("Only visible to you")).to_be_visible()
    expect(page.get_by_test_id("channel-C_OPS").locator(".badge")).to_have_text("1")
    page.get_by_test_id("channel-C_OPS").click()
    expect(page.get_by_test_id("message")).to_contain_text("@bruno look")
    expect(page.get_by_test_id("channel-C_OPS").locator(".badge")).to_have_count(0)
    page.get_by_test_id("person-U0005").click()
    page.get_by_test_id("channel-C_REFUNDS").click()
    expect(page.get_by_test_id("message")).to_have_count(0)


def test_on_a_phone_the_thread_fills_the_screen_and_nothing_scrolls_sideways(
    browser: Browser, workspace: Workspace, client: WebClient
) -> None:
    parent = client.chat_postMessage(channel="C_REFUNDS", text="parent")["ts"]
    client.chat_postMessage(channel="C_REFUNDS", thread_ts=parent, text="card", blocks=CARD)
    context = browser.new_context(viewport={"width": 390, "height": 844}, has_touch=True, color_scheme="dark")
    phone = context.new_page()
    phone.goto(f"{workspace.url}/?as=U0001&channel=C_REFUNDS")
    phone.get_by_test_id("open-thread").click()
    thread = phone.locator("#thread")
    expect(thread.get_by_role("heading", name="Two refunds")).to_be_visible()
    assert (thread.bounding_box() or {})["width"] == 390
    assert phone.evaluate("document.documentElement.scrollWidth") == 390
    assert (phone.get_by_test_id("call.approve").bounding_box() or {})["height"] >= 40
    phone.get_by_test_id("close-thread").click()
    expect(thread).to_be_hidden()
    context.close()


def test_the_keyboard_stays_on_its_control_when_the_card_is_drawn_anew(page: Page, client: WebClient) -> None:
    ts = client.chat_postMessage(channel="C_REFUNDS", text="card", blocks=CARD)["ts"]
    page.get_by_test_id("call.approve").focus()
    client.chat_update(channel="C_REFUNDS", ts=ts, text="card", blocks=[{"type": "divider"}, *CARD])
    expect(page.locator("hr")).to_have_count(1)
    expect(page.get_by_test_id("call.approve")).to_be_focused()
    client.chat_update(channel="C_REFUNDS", ts=ts, text="decided", blocks=CARD[:1])
    expect(page.get_by_test_id("call.approve")).to_have_count(0)
    expect(page.get_by_test_id("message")).to_be_focused()
