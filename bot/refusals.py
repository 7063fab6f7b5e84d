"""Refusals of a person, in that person's language; the ledger and the worker keep the law's own words of the law's."""

from bot.language import say, say_time
from bot.text import inert
from policies.authority import Refusal
from policies.requirement import Requirement

_MINUTE_MS = 60_000


def may_not_decide(refusal: Refusal, requirement: Requirement) -> str:
    """For whoever pressed a control of a card."""
    match refusal.cause:
        case "forbidden":
            return say("This call is forbidden by policy; nobody can decide it.")
        case "requester":
            return say("You started this run, so somebody else must decide. You can cancel the run instead.")
        case "not_in_tier":
            return say("Only {tier} may decide this, and you are not one of them.", tier=inert(refusal.about))
        case "over_limit" if requirement.amount and not refusal.about:
            return say(
                "No limit in {currency} is set for you, so you cannot approve {amount}. Ask ops to set one.",
                currency=requirement.amount.currency,
                amount=requirement.amount,
            )
        case "over_limit":
            return say(
                "This comes to {amount}; your limit is {limit}. You can lower it with Edit, or reject it.",
                amount=requirement.amount,
                limit=refusal.about,
            )
        case _:
            return _may_do_nothing(refusal)


def may_not_start(refusal: Refusal) -> str:
    """For whoever asked the agent."""
    if refusal.cause != "not_in_tier":
        return _may_do_nothing(refusal)
    if refusal.about:
        return say(
            "You may not start runs with the agent {agent}. Ask ops to add you to its starters.",
            agent=inert(refusal.about),
        )
    return say("You may not start runs here. Ask ops to add you to the starters.")


def may_not_operate(refusal: Refusal) -> str:
    """For whoever pressed a control of the operators."""
    if refusal.cause != "not_in_tier":
        return _may_do_nothing(refusal)
    return say("Only ops may do this, and you are not listed in reviewers.toml.")


def still_at_work(until: int) -> str:
    """For an operator who says "not done" while a worker may be at work on it, as far as is known until then (ms)."""
    return say(
        "Nothing was noted: a worker may still be at work on it until {time}. Look at the provider again then, and if"
        " it did not happen, send this once more.",
        time=say_time(whole_minute(until)),
    )


def whole_minute(at_ms: int) -> int:
    """Not before this instant, as a time of day without seconds: whoever comes back then is not too early."""
    return -(-at_ms // _MINUTE_MS) * _MINUTE_MS


def from_elsewhere() -> str:
    """For a person of another workspace."""
    return say("Only members of the home workspace may do this; you are from another.")


def _may_do_nothing(refusal: Refusal) -> str:
    """Refusals that hold for everything. One that is not known here is said in the law's own words."""
    match refusal.cause:
        case "elsewhere":
            return from_elsewhere()
        case "bot":
            return say("Apps may not do this; a person must.")
        case "deactivated":
            return say("This account is deactivated, so it may not do this.")
        case "guest":
            return say("Guests may not do this; ask a full member of the workspace.")
        case _:
            return inert(refusal.sentence)
