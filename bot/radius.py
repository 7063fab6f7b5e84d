"""What is hurt if it goes wrong, as it is sealed now: an edit or drift may have changed it since calls share a card."""

from collections.abc import Sequence

from approvals.lifecycle import State
from approvals.models import BatchView, Call
from bot.language import say_list


def radius_of(calls: Sequence[Call]) -> str:
    """The blast radius of these calls; where they differ, each once."""
    return say_list(list(dict.fromkeys(call.content.requirement.radius for call in calls)))


def radius_on(view: BatchView) -> str:
    """That of a card: of what waits for a person, else of all its calls."""
    return radius_of([call for call in view.calls if call.state is State.PENDING_REVIEW] or view.calls)
