"""One sentence for every answer of the store, for the person who pressed the button."""

from typing import NamedTuple, assert_never

from approvals.outcomes import Answer, Outcome
from bot.language import say, say_count, say_time
from bot.state_words import call_is
from bot.text import inert


def outage() -> str:
    """When something that a decision rests on does not answer."""
    return say("This could not be done just now, and nothing was decided. Try again in a minute.")


class Waits(NamedTuple):
    """Whose approval is still missing, in words, and until when it may come (ms; None: not known)."""

    whom: str = ""
    until: int | None = None


def sentence(  # noqa: C901, PLR0911, PLR0912 - one case per outcome
    answer: Answer, *, verb: str = "approve", me: str = "", waits: Waits | None = None
) -> str:
    """What became of a click. `verb` is what the person, `me`, wanted: approve, reject, edit, decide.

    `waits` tells after an approval that is not the last who is waited for.
    """
    detail = answer.detail
    match answer.outcome:
        case Outcome.OK:
            return _done(verb, detail.get("verdict", ""), detail.get("missing", ""), waits or Waits())
        case Outcome.REPEATED:
            return say("You had decided this already; nothing changed.")
        case Outcome.ALREADY_DECIDED if me and detail.get("by") == me and detail.get("verdict") == "approve":
            return say("You have approved this already, and that cannot be taken back.")
        case Outcome.ALREADY_DECIDED:
            return _already(detail.get("name") or detail.get("by", ""), detail.get("verdict", ""), detail.get("at", ""))
        case Outcome.EXPIRED:
            return say(
                "Too late: the time to decide was over, so this call will not run. The agent can be asked again."
            )
        case Outcome.STALE_VERSION:
            return say("This call has changed since you saw it. Read the card as it is now, then decide.")
        case Outcome.NOT_FOUND:
            return say(
                "This call is no longer kept, so it cannot be decided. Ask the agent again if it is still needed."
            )
        case Outcome.NOT_PENDING | Outcome.WRONG_STATE:
            return say("Nothing is left to decide here: {state}.", state=call_is(detail.get("state", "closed")))
        case Outcome.NOT_POSTED:
            return say(
                "The card was only just posted and is not recorded yet. Press the button again in half a minute."
            )
        case Outcome.REFRESHING:
            return say(
                "Somebody's edit is being checked. It takes a few seconds; only a rejection is possible meanwhile."
            )
        case Outcome.STALE_PERSON:
            return say(
                "Slack's word on who you are could not be confirmed just now, so nothing was decided. Try again."
            )
        case Outcome.REQUESTER:
            return say("You asked for this yourself, so somebody else must decide it.")
        case Outcome.LEASE_LOST:
            return say("Another process took this over. Nothing was done by this click; look at the card.")
        case Outcome.LAPSED:
            return say("The approval is too old to be used. The agent can be asked again.")
        case Outcome.CAP_REACHED:
            return say('The limit "{cap}" is reached, so this cannot run today.', cap=inert(detail.get("cap", "")))
        case Outcome.CAPS_MOVED:
            return say("Another call just took from the same limit, so it is judged once more.")
        case Outcome.FROZEN:
            return say("An operator has frozen everything; nothing runs until it is released. Your decision is kept.")
        case _:
            assert_never(answer.outcome)


def _done(verb: str, verdict: str, missing: str, waits: Waits) -> str:
    match verb:
        case "approve" if verdict == "pending":
            return _more_needed(missing, waits)
        case "approve":
            return say("Approved.")
        case "reject":
            return say("Rejected.")
        case "edit":
            return say("Your edit is being checked; it counts as your approval when nothing else changed.")
        case _:
            return say("Done.")


def _more_needed(missing: str, waits: Waits) -> str:
    if not missing.isdigit():
        return say("Your approval is kept. More are needed.")
    if waits.whom and waits.until:
        return say_count(
            int(missing),
            "Your approval is kept. {number} more needed from {whom} by {time}, else nothing runs.",
            "Your approval is kept. {number} more needed from {whom} by {time}, each by somebody else, else nothing"
            " runs.",
            whom=inert(waits.whom),
            time=say_time(waits.until),
        )
    return say_count(
        int(missing),
        "Your approval is kept. {number} more needed.",
        "Your approval is kept. {number} more needed, each by somebody else.",
    )


def _already(name: str, verdict: str, at: str) -> str:
    who = inert(name) or say("somebody else")
    match verdict:
        case "approve" | "approved":
            what = say("Already approved by {name}", name=who)
        case "reject" | "rejected":
            what = say("Already rejected by {name}", name=who)
        case "edit":
            what = say("Already edited by {name}", name=who)
        case "withdraw":
            what = say("Already withdrawn by {name}", name=who)
        case _:
            what = say("Already decided by {name}", name=who)
    return say("{what} at {time}.", what=what, time=say_time(int(at))) if at.isdigit() else f"{what}."
