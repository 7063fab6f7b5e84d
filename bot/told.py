"""The smaller messages of a thread: that a run was taken up, what the agent answered, what an editor must know."""

from collections.abc import Sequence

from approvals.lifecycle import RUN_ENDED, RunState, State
from approvals.models import Call, Run
from bot.blocks import FALLBACK_TEXT, Block, Message, actions, button, confirm, context, leaf, line, person, quote, rich
from bot.ids import RUN, ActionId
from bot.language import HOLE, around, say, say_count
from bot.state_words import canceller
from bot.text import clip, cut, escaped, hides, inert, one_line, visible
from bot.what_words import full_stop

_REQUEST = 1_500
_ANSWER = 6_000
_REASON = 600
_CHUNK = 2_500
_NOT_RUN = frozenset({State.REJECTED, State.EXPIRED, State.FAILED})


def render_opening(run: Run) -> Message:
    """At once after the request: that it was heard, by whom it was asked, and what was understood."""
    before, after = around(say("{person} asked:", person=HOLE))
    asked = [leaf(before)] if before else []
    which = say("run `{run}`", run=run.id)
    if run.parent:
        which = say("run `{run}`, following `{parent}`", run=run.id, parent=run.parent)
    state = _stands(run)
    promise = "" if run.state in RUN_ENDED else say("what could hurt is shown here first, and waits for approval")
    blocks = [
        rich(line(*asked, person(run.requester), leaf(after)), quote(clip(visible(run.request), _REQUEST))),
        context(" · ".join(part for part in (state, which, promise) if part)),
        *_cancelling(run),
    ]
    request = inert(run.request, 400)
    return Message(cut(f"{state}: {request}", FALLBACK_TEXT), blocks)


def _stands(run: Run) -> str:
    """In a word or two, as its opening message says it for as long as that is read; mrkdwn."""
    if run.state is RunState.STOPPED and run.cancelled_by:
        return say("Cancelled by {name}", name=canceller(run))
    match run.state:
        case RunState.COMPLETED:
            return say("Finished")
        case RunState.STOPPED:
            return say("Stopped")
        case RunState.FAILED:
            return say("Interrupted; ops has been told")
        case _:
            return say("Started")


def _cancelling(run: Run) -> list[Block]:
    """How the run is stopped by hand, while it can be."""
    if run.state in RUN_ENDED:
        return []
    if run.cancelled_by:
        return [context(say("Cancelled by {name}; what is at work ends first", name=canceller(run)))]
    stop = button(say("Cancel"), ActionId.CANCEL, run.id, label=say("Cancel this run"))
    ask = say("What waits for a decision is withdrawn. What is being carried out right now is not interrupted.")
    stop["confirm"] = confirm(say("Cancel this run?"), ask, say("Cancel the run"), style="danger")
    return [actions(RUN, stop)]


def render_answer(run: Run, states: Sequence[State] = ()) -> Message:
    """How a run ended: our sentence first, the model's words marked as its own. `states` are those of its calls."""
    not_run = sum(state in _NOT_RUN for state in states)
    short = say_count(not_run, "{number} call of this run did not run.", "{number} calls of this run did not run.")
    said = f"{_ended(run)} {short}" if not_run else _ended(run)
    blocks: list[Block] = [rich(line(leaf(said, bold=True)))]
    if run.answer:
        shown = clip(visible(run.answer), _ANSWER)
        blocks += [rich(quote(shown[at : at + _CHUNK])) for at in range(0, len(shown), _CHUNK)]
        own = say("The agent's own words; what really happened is in the outcome table.")
        hidden = f" {say('Invisible characters in them are shown as ⟨U+…⟩.')}" if hides(run.answer) else ""
        blocks.append(context(f"{own}{hidden}"))
    words = f" {say('The agent says: {answer}', answer=inert(run.answer, 2_000))}" if run.answer else ""
    return Message(cut(f"{escaped(said)}{words}", FALLBACK_TEXT), blocks)


def _ended(run: Run) -> str:
    reason = full_stop(clip(one_line(run.reason or ""), _REASON) or say("no reason was given"))
    match run.state:
        case RunState.STOPPED if run.cancelled_by:
            return say("Cancelled by {name}.", name=clip(one_line(run.cancelled_name or run.cancelled_by), 80))
        case RunState.STOPPED:
            return say("Stopped: {reason}", reason=reason)
        case RunState.FAILED:
            return say("Interrupted: {reason} Nothing is lost; ops has been told.", reason=reason)
        case RunState.COMPLETED:
            return say("Finished.")
        case _:
            return say("Going on.")


def render_notice(call: Call) -> Message:
    """To an editor: the data had changed, so the edit stands on the card but is not their approval."""
    editors = [decision.reviewer for decision in call.decisions if decision.verdict == "edit"]
    to: list[Block] = [person(editors[-1]), leaf(" ")] if editors else []
    changes = one_line("; ".join(call.content.previous))
    said = say(
        "Call {number} was checked after your edit, and the data behind it had changed meanwhile.", number=call.number
    )
    if changes:
        said = say(
            "Call {number} was checked after your edit, and the data behind it had changed meanwhile: {changes}.",
            number=call.number,
            changes=clip(changes, 600),
        )
    end = f" {say('Your approval was dropped; please decide on the card as it is now.')}"
    mention = f"<@{editors[-1]}> " if editors else ""
    return Message(cut(f"{mention}{escaped(said)}{end}", FALLBACK_TEXT), [rich(line(*to, leaf(f"{said}{end}")))])
