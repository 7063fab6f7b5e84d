"""The smaller messages of a thread: that a run was taken up, what the agent answered, what an editor must know."""

from approvals.lifecycle import RUN_ENDED, RunState
from approvals.models import Call, Run
from bot.blocks import FALLBACK_TEXT, Block, Message, actions, button, confirm, context, leaf, line, person, quote, rich
from bot.ids import RUN, ActionId
from bot.text import clip, cut, escaped, hides, inert, one_line, visible

_REQUEST = 1_500
_ANSWER = 6_000
_CHUNK = 2_500
OWN_WORDS = "The agent's own words; what really happened is in the outcome table."


def render_opening(run: Run) -> Message:
    """At once after the request: that it was heard, by whom it was asked, and what was understood."""
    follows = f", following `{run.parent}`" if run.parent else ""
    blocks = [
        rich(line(person(run.requester), leaf(" asked:")), quote(visible(clip(run.request, _REQUEST)))),
        context(f"I am on it · run `{run.id}`{follows} · what could hurt is shown here first, and waits for approval"),
        *_cancelling(run),
    ]
    return Message(cut(f"I am on it: {inert(run.request, 400)}", FALLBACK_TEXT), blocks)


def _cancelling(run: Run) -> list[Block]:
    """How the run is stopped by hand, while it can be."""
    if run.state in RUN_ENDED:
        return []
    if run.cancelled_by:
        name = inert(run.cancelled_name or run.cancelled_by, 80)
        return [context(f"Cancelled by {name}; what is at work ends first")]
    stop = button("Cancel", ActionId.CANCEL, run.id, label="Cancel this run")
    ask = "What waits for a decision is withdrawn. What is being carried out right now is not interrupted."
    stop["confirm"] = confirm("Cancel this run?", ask, "Cancel the run", style="danger")
    return [actions(RUN, stop)]


def render_answer(run: Run) -> Message:
    """How a run ended: our sentence first, the model's words marked as its own."""
    said = _ended(run)
    blocks: list[Block] = [rich(line(leaf(said, bold=True)))]
    if run.answer:
        shown = visible(clip(run.answer, _ANSWER))
        blocks += [rich(quote(shown[at : at + _CHUNK])) for at in range(0, len(shown), _CHUNK)]
        hidden = " Invisible characters in them are shown as ⟨U+…⟩." if hides(run.answer) else ""
        blocks.append(context(f"{OWN_WORDS}{hidden}"))
    words = f" The agent says: {inert(run.answer, 2_000)}" if run.answer else ""
    return Message(cut(f"{escaped(said)}{words}", FALLBACK_TEXT), blocks)


def _ended(run: Run) -> str:
    reason = one_line(run.reason or "")
    match run.state:
        case RunState.STOPPED:
            return f"Stopped: {reason or 'no reason was given'}."
        case RunState.FAILED:
            return f"Interrupted: {reason or 'no reason was given'}. Nothing is lost; ops has been told."
        case RunState.COMPLETED:
            return "Finished."
        case _:
            return "Going on."


def render_notice(call: Call) -> Message:
    """To an editor: the data had changed, so the edit stands on the card but is not their approval."""
    editors = [decision.reviewer for decision in call.decisions if decision.verdict == "edit"]
    to: list[Block] = [person(editors[-1]), leaf(" ")] if editors else []
    changes = one_line("; ".join(call.content.previous))
    text = f"Call {call.number} was checked after your edit, and the data behind it had changed meanwhile"
    said = f"{text}: {clip(changes, 600)}." if changes else f"{text}."
    end = " Your approval was dropped; please decide on the card as it is now."
    mention = f"<@{editors[-1]}> " if editors else ""
    return Message(cut(f"{mention}{escaped(said)}{end}", FALLBACK_TEXT), [rich(line(*to, leaf(f"{said}{end}")))])
