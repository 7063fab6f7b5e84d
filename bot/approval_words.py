"""What an approval leads to: how many are still missing, and when the call runs."""

from collections.abc import Sequence

from approvals.models import BatchView, Call
from bot.card_text import pending
from bot.drift_words import drift_asked
from bot.language import say, say_count
from bot.standing import standing


def asks_twice(call: Call) -> bool:
    """Whether an approval of this call is asked about once more: the law says so, or its data has changed."""
    return call.content.requirement.confirm or bool(drift_asked([call]))


def nothing_beside(view: BatchView, chosen: Sequence[Call]) -> bool:
    """Whether nothing else has to be decided before these calls run."""
    left = {call.key for call in pending(view)} - {call.key for call in chosen}
    return not left and view.run.barrier == "batch"


def while_frozen() -> str:
    """What a last approval leads to while operators have frozen all effects."""
    return say("Everything is frozen: it runs only if that is released in time")


def comes_next(call: Call, *, alone: bool, frozen: bool = False) -> str:
    """What one more approval leads to. `alone` when nothing else has to be decided before the call runs."""
    said = standing(call)
    given, left = len(said.approved_by), said.missing - 1
    if left > 0:
        return say_count(
            left,
            "Approval {this} of {all}: nothing runs until another person approves",
            "Approval {this} of {all}: nothing runs until {number} other people approve",
            this=given + 1,
            all=given + said.missing,
        )
    if frozen:
        return while_frozen()
    if alone:
        return say("Last approval: it runs at once") if given else say("It runs at once")
    if given:
        return say("Last approval: it runs once the calls beside it are decided or expire")
    return say("It runs once the calls beside it are decided or expire")


def all_come_next(calls: Sequence[Call], *, alone: bool, frozen: bool = False) -> str:
    """The same for several that are approved together."""
    short = sum(standing(call).missing > 1 for call in calls)
    if short == len(calls):
        return say("Nothing runs until another person approves")
    if short:
        return say_count(
            short,
            "{number} call needs another approval, and nothing runs before",
            "{number} calls need another approval, and nothing runs before",
        )
    if frozen:
        return while_frozen()
    return say("All of it runs at once") if alone else say("It runs once the calls beside it are decided or expire")
