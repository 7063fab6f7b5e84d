"""One sentence for every answer of the store, for the person who pressed the button."""

from datetime import UTC, datetime
from typing import assert_never

from approvals.outcomes import Answer, Outcome
from bot.text import inert

OPEN_AGAIN = "Slack closed the window before it could be filled. Press the button again."
OUTAGE = "This could not be done just now, and nothing was decided. Try again in a minute."


def sentence(answer: Answer, *, verb: str = "approve") -> str:  # noqa: C901, PLR0911, PLR0912 - one case per outcome
    """What became of a click. `verb` is what the person wanted: approve, reject, edit, decide."""
    detail = answer.detail
    match answer.outcome:
        case Outcome.OK:
            return _done(verb, detail.get("verdict", ""), detail.get("missing", ""))
        case Outcome.REPEATED:
            return "You had decided this already; nothing changed."
        case Outcome.ALREADY_DECIDED:
            return _already(detail.get("name") or detail.get("by", ""), detail.get("verdict", ""), detail.get("at", ""))
        case Outcome.EXPIRED:
            return "Too late: the time to decide was over, so this call will not run. The agent can be asked again."
        case Outcome.STALE_VERSION:
            return "This call has changed since you saw it. Read the card as it is now, then decide."
        case Outcome.NOT_FOUND:
            return "This call is no longer kept, so it cannot be decided. Ask the agent again if it is still needed."
        case Outcome.NOT_PENDING | Outcome.WRONG_STATE:
            return f"Nothing is left to {verb} here: the call is {_state(detail.get('state', 'closed'))}."
        case Outcome.NOT_POSTED:
            return "The card was only just posted. Press the button again in a second."
        case Outcome.REFRESHING:
            return "Somebody's edit is being checked. It takes a few seconds; only a rejection is possible meanwhile."
        case Outcome.STALE_PERSON:
            return "Slack's word on who you are could not be confirmed just now, so nothing was decided. Try again."
        case Outcome.REQUESTER:
            return "You asked for this yourself, so somebody else must decide it."
        case Outcome.LEASE_LOST:
            return "Another process took this over. Nothing was done by this click; look at the card."
        case Outcome.LAPSED:
            return "The approval is too old to be used. The agent can be asked again."
        case Outcome.CAP_REACHED:
            return f'The limit "{inert(detail.get("cap", ""))}" is reached, so this cannot run today.'
        case Outcome.FROZEN:
            return "An operator has frozen everything; nothing runs until it is released. Your decision is kept."
        case _:
            assert_never(answer.outcome)


def _done(verb: str, verdict: str, missing: str) -> str:
    match verb:
        case "approve" if verdict == "pending":
            return f"Your approval is kept. {missing or 'More'} more needed."
        case "approve":
            return "Approved."
        case "reject":
            return "Rejected."
        case "edit":
            return "Your edit is being checked; it counts as your approval when nothing else changed."
        case _:
            return "Done."


def _already(name: str, verdict: str, at: str) -> str:
    known = {"approve": "approved", "reject": "rejected", "edit": "edited", "withdraw": "withdrawn"}
    what = known.get(verdict, verdict or "decided")
    clock = f" at {datetime.fromtimestamp(int(at) / 1000, UTC):%H:%M} UTC" if at.isdigit() else ""
    return f"Already {what} by {inert(name) or 'somebody else'}{clock}."


def _state(state: str) -> str:
    return {"pending_review": "waiting for review", "unknown": "in an unknown state"}.get(state, state)
