"""`make screens`: every screen a person meets, at phone and desk width, from the running stack into docs/screens.

States that pass too quickly to be photographed, or that take an accident, are rendered from what the same store holds
of the same calls.
"""

import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from playwright.sync_api import Locator, Page
from slack_sdk import WebClient

import reviewing
from approvals.lifecycle import Cause, State
from approvals.models import BatchView, Call
from approvals.opening import open_store
from approvals.settings import Settings
from approvals.store import Store
from bot.cards import render_card
from bot.standing import ReviewersLaw
from browser import PHONE, browsing
from policies.law import load_law
from reviewing import BRUNO, OLGA, OMAR, ROSA, Thread
from stack import ROOT, Stack, running, until

OUT = ROOT / "docs" / "screens"
TALL = {"desk": {"width": 1280, "height": 1100}, "phone": {**PHONE, "height": 1400}}
#: Tall enough for the longest card, so that no picture shows what lies behind the page.
ENDLESS = 2600
REVIEWERS = ROOT / "policies" / "rules" / "reviewers.toml"


def card(page: Page, words: str) -> Locator:
    """The message with these words and controls."""
    return page.get_by_test_id("message").filter(has_text=words)


def shoot(page: Page, name: str, words: str) -> None:
    """One card, whole."""
    size = page.viewport_size
    assert size
    page.set_viewport_size({**size, "height": ENDLESS})
    found = card(page, words).last
    found.scroll_into_view_if_needed()
    page.wait_for_timeout(300)
    found.screenshot(path=OUT / f"{name}.png")
    page.set_viewport_size(size)


def first_screen(page: Page, name: str, words: str) -> None:
    """What somebody sees who scrolls to the top of a card."""
    size = page.viewport_size
    assert size
    page.set_viewport_size({**size, "height": PHONE["height"]})
    card(page, words).last.evaluate("card => card.scrollIntoView({ block: 'start' })")
    page.wait_for_timeout(300)
    page.screenshot(path=OUT / f"{name}.png")
    page.set_viewport_size(size)


def modal(page: Page, name: str, control: str, words: str, then: Callable[[Page], None] | None = None) -> None:
    """Open a modal, look at it, close it."""
    card(page, words).last.get_by_test_id(control).first.click()
    page.wait_for_timeout(1500)
    if then:
        then(page)
        page.wait_for_timeout(1500)
    page.screenshot(path=OUT / f"{name}.png")
    page.get_by_test_id("modal-close").first.click()
    page.wait_for_timeout(300)


def question(page: Page, name: str, control: str, words: str) -> None:
    """Press what asks twice, look at the question, say no."""
    card(page, words).last.get_by_test_id(control).first.click()
    page.wait_for_timeout(400)
    page.screenshot(path=OUT / f"{name}.png")
    page.get_by_test_id("confirm-deny").click()


def on_both(
    stack: Stack,
    look: Callable[[Page, str], None],
    *,
    user: str = OLGA,
    channel: str = "C_REFUNDS",
    thread: bool = True,
) -> None:
    """The same look at both widths."""
    with browsing() as browser:
        for width, size in TALL.items():
            page = browser.new_page(viewport=size)  # type: ignore[arg-type]  # playwright's own TypedDict
            page.set_default_timeout(10_000)
            page.goto(f"{stack.page}/?as={user}&channel={channel}")
            if channel == "C_REFUNDS" and thread:
                page.get_by_test_id("open-thread").first.click()
            page.wait_for_timeout(800)
            look(page, width)
            page.close()


def pending(page: Page, width: str) -> None:
    """Everything that waits for a decision, and the modals that take one."""
    page.screenshot(path=OUT / f"thread-{width}.png")
    shoot(page, f"card-pending-{width}", "Refund 38 payments")
    shoot(page, f"card-mail-{width}", "Mail 36 people")
    shoot(page, f"card-two-calls-{width}", "Delete 21 customers")
    if width == "phone":
        first_screen(page, "first-screen-phone", "Refund 38 payments")
    question(page, f"confirm-approve-{width}", "call.approve", "Refund 38 payments")
    question(page, f"confirm-approve-all-{width}", "batch.approve_all", "Delete 21 customers")
    modal(page, f"modal-edit-{width}", "call.edit", "Refund 38 payments")
    modal(page, f"modal-edit-line-{width}", "call.edit", "Refund 38 payments", _choose_line)
    modal(page, f"modal-reject-{width}", "call.reject", "Refund 38 payments")
    modal(page, f"modal-reject-all-{width}", "batch.reject_all", "Delete 21 customers")
    modal(page, f"modal-details-{width}", "call.details", "Refund 38 payments")
    modal(page, f"modal-review-{width}", "batch.review", "Delete 21 customers")


def _choose_line(page: Page) -> None:
    page.get_by_test_id("edit.line").select_option(label="pay_0009: amount: 312.40 EUR")


def partly(page: Page, width: str) -> None:
    """One of two approvals given; one of two calls rejected."""
    shoot(page, f"card-partly-decided-{width}", "4,057.60 EUR")
    shoot(page, f"card-one-rejected-{width}", "Delete 21 customers")


def settled(page: Page, width: str) -> None:
    """What a thread looks like afterwards."""
    shoot(page, f"card-executed-{width}", "Settled: refunds")
    shoot(page, f"card-rejected-{width}", "Settled: deletion")
    shoot(page, f"outcome-{width}", "Outcome:")


def fleeting(page: Page, width: str) -> None:
    """What passes quickly, or takes an accident."""
    for name in STATES:
        shoot(page, f"card-{name}-{width}", f"In the state {name}")


STATES: dict[str, tuple[State, Cause | None]] = {
    "waiting-to-run": (State.APPROVED, None),
    "executing": (State.EXECUTING, None),
    "unknown": (State.UNKNOWN, None),
    "failed": (State.FAILED, None),
    "expired": (State.EXPIRED, Cause.NOBODY),
}


def post_states(stack: Stack, thread: Thread) -> None:
    """The refund's card in each of the fleeting states, posted into the channel under its name."""
    law = load_law(["policies.rules"], REVIEWERS.read_text())
    store = store_of(stack)
    view = _refund(store, thread)
    client = WebClient(token="xoxb-sandbox", base_url=f"{stack.page}/api/")  # opens nothing but the sandbox
    for name, (state, cause) in STATES.items():
        calls = tuple(_in(call, state, cause, view.now) for call in view.calls)
        words = ReviewersLaw(law.reviewers, version=law.version)
        message = render_card(view.model_copy(update={"calls": calls}), words)
        said = {"type": "context", "elements": [{"type": "plain_text", "text": f"In the state {name}"}]}
        client.chat_postMessage(channel="C_REFUNDS", text=message.text, blocks=[said, *message.blocks])


def store_of(stack: Stack) -> Store:
    """The store that the stack's processes share."""
    law = load_law(["policies.rules"], REVIEWERS.read_text())
    settings = Settings.read(_env_file=None, redis_url=stack.env["REDIS_URL"], state_keys=stack.env["VOBO_STATE_KEYS"])
    return open_store(settings, tenant=law.reviewers.team).store


def _refund(store: Store, thread: Thread) -> BatchView:
    run = store.runs.newest_in_thread(thread.channel, thread.ts)
    assert run
    call = next(call for call in _calls(store, run.id, run.pause) if call.tool == "refund_payments")
    assert call.batch
    view = store.batches.view(call.batch)
    assert view
    return view


def _calls(store: Store, run: str, pauses: int) -> Iterator[Call]:
    for pause in range(1, pauses + 1):
        yield from store.calls.of_pause(run, pause)


def _in(call: Call, state: State, cause: Cause | None, now: int) -> Call:
    reason = "The payment provider refused: account closed." if state is State.FAILED else None
    decisions = () if state is State.EXPIRED else call.decisions
    changes = {"state": state, "cause": cause, "claimed_at": now, "reason": reason, "decisions": decisions}
    return call.model_copy(update=changes)


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
    post_states(stack, thread)
    on_both(stack, fleeting, user=ROSA, thread=False)


if __name__ == "__main__":
    OUT.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="vobo-") as home, running(Path(home)) as started:
        walk(started)
