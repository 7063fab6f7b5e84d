"""The past in a window: of one run, oldest first, or of everything that fits some words, newest first."""

from collections.abc import Sequence

from approvals.history import Past
from approvals.models import Run
from approvals.questions import Found
from approvals.stories import stories
from bot.blocks import Block, actions, bullets, button, context, leaf, line, quote, rich
from bot.ids import ActionId, CallbackId, Place
from bot.language import say, say_count
from bot.modals import View, modal
from bot.past_text import is_first_law, shown_rows, told_line
from bot.past_words import STARTED
from bot.text import clip, visible

#: Lines on a page: a phone shows a third of it.
LINES = 20
_REQUEST = 300


def timeline_modal(run: Run | None, past: Past, place: Place) -> View:
    """The timeline of a run; `run` is None once it has left Redis."""
    found = shown_rows(past.found)
    head: list[Block] = []
    if run is not None and place.page <= 0:
        head.append(rich(quote(visible(clip(run.request, _REQUEST)))))
    head.append(context(f"`{place.ref}` · {_counts(past)}"))
    return _pages(CallbackId.TIMELINE, say("What happened"), place, head, found, whole=past.whole)


def history_modal(past: Past, place: Place, asked: str) -> View:
    """What fits the words, the newest first. `asked` says in words what was looked for, already harmless."""
    found = [one for one in shown_rows(past.found)[::-1] if not is_first_law(one.row) or STARTED in place.ref.split()]
    if not found and place.ref:
        asked = f"{asked} {say('Try `/vobo history 30d`, or the id of a run.')}"
    return _pages(CallbackId.HISTORY, say("History"), place, [context(asked)], found, whole=past.whole)


def _pages(
    callback: CallbackId, title: str, place: Place, head: list[Block], found: Sequence[Found], *, whole: bool
) -> View:
    pages = max(1, -(-len(found) // LINES))
    page = min(max(place.page, 0), pages - 1)
    lines = [told_line(one, of_run=callback is CallbackId.TIMELINE) for one in found[page * LINES :][:LINES]]
    blocks = [*head, rich(bullets(lines)) if lines else rich(line(leaf(say("Nothing that fits.")))), *_gaps(whole)]
    if pages > 1:
        blocks.append(context(say("Page {page} of {pages}", page=page + 1, pages=pages)))
        blocks.append(actions("pages", *_turns(page, pages)))
    return modal(callback, title, blocks, place.model_copy(update={"page": page}))


def _gaps(whole: bool) -> list[Block]:  # noqa: FBT001 - one fact
    if whole:
        return []
    text = say("The ledger could not be read just now; the bot's log says why. Older events are missing here.")
    return [context(f"⚠ {text}")]


def _counts(past: Past) -> str:
    calls = stories(one.row for one in past.found).calls.values()
    approved = sum(call.approved_version is not None for call in calls)
    executed = sum(call.executed_version is not None for call in calls)
    parts = [
        say_count(len(calls), "{number} call requested", "{number} calls requested"),
        say_count(approved, "{number} approved", "{number} approved"),
        say_count(executed, "{number} carried out", "{number} carried out"),
    ]
    return ", ".join(parts)


def _turns(page: int, pages: int) -> list[Block]:
    back = button(say("Back"), ActionId.PAST_BACK, str(page - 1), label=say("Previous page"))
    ahead = button(say("Next"), ActionId.PAST_NEXT, str(page + 1), label=say("Next page"))
    return ([back] if page else []) + ([ahead] if page + 1 < pages else [])
