"""What all modals share, and the simplest two: loading and details."""

from typing import Any, Literal, NamedTuple

from approvals.models import Call
from bot.blocks import Block, actions, button, context, leaf, line, plain_text, rich, section
from bot.details import Around, detail_pages
from bot.ids import VALUE, ActionId, CallbackId, Place
from bot.language import say

View = dict[str, Any]
#: Sentences at the inputs of a submitted window, by block id. None of them: it was taken, and closes.
Errors = dict[str, str]


class Next(NamedTuple):
    """What else may become of a submitted window: another on top, another in its place, or all are closed."""

    action: Literal["push", "update", "clear"]
    view: View | None = None


Answered = Errors | Next


def modal(
    callback_id: CallbackId,
    title: str,
    blocks: list[Block],
    place: Place,
    *,
    submit: str | None = None,
    close: str | None = None,
) -> View:
    """A modal that remembers its place; a submit button only where something can be submitted."""
    view: View = {
        "type": "modal",
        "callback_id": callback_id,
        "title": plain_text(title, 24),
        "close": plain_text(close or say("Close"), 24),
        "blocks": blocks,
        "private_metadata": place.model_dump_json(),
    }
    if submit:
        view["submit"] = plain_text(submit, 24)
    return view


def loading(callback_id: CallbackId, title: str, place: Place) -> View:
    """Opened at once, because Slack gives three seconds; filled a moment later."""
    return modal(callback_id, title, [rich(line(leaf(say("One moment…"))))], place)


def notice(callback_id: CallbackId, title: str, place: Place, text: str) -> View:
    """A modal that can only say one thing."""
    return modal(callback_id, title, [rich(line(leaf(text)))], place)


def refusal(title: str, sentence: str) -> View:
    """A window that says why something cannot be done, in the words of a private answer. Closing it closes all."""
    return {
        "type": "modal",
        "title": plain_text(title, 24),
        "close": plain_text(say("Close"), 24),
        "clear_on_close": True,
        "blocks": [section(sentence[:3_000])],
    }


def field(block_id: str, label: str, element: Block, *, hint: str = "", optional: bool = False) -> Block:
    """One input."""
    block: Block = {
        "type": "input",
        "block_id": block_id,
        "label": plain_text(label, 200),
        "element": {**element, "action_id": VALUE},
        "optional": optional,
    }
    if hint:
        block["hint"] = plain_text(hint, 300)
    return block


def text_input(*, initial: str = "", multiline: bool = False, most: int = 3000, placeholder: str = "") -> Block:
    """A text input; what it starts with is exactly the value, hidden characters included."""
    element: Block = {"type": "plain_text_input", "multiline": multiline, "max_length": most}
    if initial:
        element["initial_value"] = initial
    if placeholder:
        element["placeholder"] = plain_text(placeholder, 150)
    return element


def details_modal(call: Call, place: Place, around: Around | None = None) -> View:
    """Everything the decision covers, unmasked, one page at a time."""
    pages = detail_pages(call, around)
    page = min(max(place.page, 0), len(pages) - 1)
    blocks = list(pages[page])
    if len(pages) > 1:
        blocks.append(context(say("Page {page} of {pages}", page=page + 1, pages=len(pages))))
        blocks.append(actions("pages", *_turns(page, len(pages))))
    blocks.append(_past(call))
    title = say("Call {number} in full", number=call.number)
    return modal(CallbackId.DETAILS, title, blocks, place.model_copy(update={"page": page}))


def _past(call: Call) -> Block:
    """The way to what has happened so far, from every card: each of its calls has details."""
    label = say("What has happened in this run so far")
    return actions("past", button(say("History"), ActionId.TIMELINE, call.run, label=label))


def _turns(page: int, pages: int) -> list[Block]:
    back = button(say("Back"), ActionId.PAGE_BACK, str(page - 1), label=say("Previous page"))
    ahead = button(say("Next"), ActionId.PAGE_NEXT, str(page + 1), label=say("Next page"))
    return ([back] if page else []) + ([ahead] if page + 1 < pages else [])
