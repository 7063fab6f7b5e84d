"""One sentence for every answer about an undo, for the person who pressed."""

from approvals.lifecycle import UndoState
from approvals.outcomes import Answer, Outcome
from bot.language import say, say_count, say_time
from bot.refusals import may_not_decide
from bot.state_words import call_is
from bot.text import inert
from policies.authority import Refusal
from policies.requirement import Requirement


def undo_refusal(refusal: Refusal, requirement: Requirement) -> str:
    """Why the law does not let this person take a call back."""
    match refusal.cause:
        case "requester":
            return own_run()
        case "not_in_tier":
            return say("Only those who may approve such a call may take it back, and you are not one of them.")
        case "over_limit":
            return say("This is above your limit, so somebody with a higher one must take it back.")
        case _:
            return may_not_decide(refusal, requirement)


def own_run() -> str:
    """A call that people had to decide is taken back by others than whoever asked for it."""
    return say("You started this run, so somebody else must take this back.")


def undo_sentence(answer: Answer) -> str:
    """What became of the press."""
    detail = answer.detail
    match answer.outcome:
        case Outcome.OK | Outcome.REPEATED if detail.get("state") == UndoState.WANTED:
            return _missing(detail)
        case Outcome.OK:
            return say("It is being undone. The thread is told what becomes of it.")
        case Outcome.REPEATED | Outcome.ALREADY_DECIDED:
            return _already(detail)
        case _:
            return _not_now(answer)


def _not_now(answer: Answer) -> str:
    match answer.outcome:
        case Outcome.FROZEN:
            return say(
                "An operator has frozen everything, so nothing can be undone now. Ask again when it is released."
            )
        case Outcome.NOT_FOUND:
            return say("This call is no longer kept, so it cannot be undone here.")
        case Outcome.STALE_PERSON:
            return say("Slack's word on who you are could not be confirmed just now, so nothing was done. Try again.")
        case Outcome.REQUESTER:
            return own_run()
        case _:
            return say("There is nothing to undo: {state}.", state=call_is(answer.detail.get("state", "")))


def _missing(detail: dict[str, str]) -> str:
    return say_count(
        int(detail.get("missing") or 1),
        "Your word is kept. {number} more person must want it undone within ten minutes.",
        "Your word is kept. {number} more people must want it undone within ten minutes.",
    )


def _already(detail: dict[str, str]) -> str:
    name, at = inert(detail.get("name", ""), 120), detail.get("at", "")
    who = say("{name} asked for it at {time}.", name=name, time=say_time(int(at))) if name and at.isdigit() else ""
    match detail.get("state"):
        case UndoState.UNDONE:
            what = say("It is undone already.")
        case UndoState.UNKNOWN:
            what = say("Nobody can tell whether it was undone, so it is not tried again. Ops has been told.")
        case "contradicted":
            what = say("A late answer says that it was undone, so it is not tried again. Ops has been told.")
        case _:
            what = say("It is being undone already.")
    return f"{what} {who}".strip()
