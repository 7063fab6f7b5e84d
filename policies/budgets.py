"""How much of people's attention an agent may take up."""

from pydantic import Field

from policies.values import Frozen


class Budgets(Frozen):
    """Limits on asking. What goes beyond them is refused, never approved and never dropped silently."""

    cards_per_run: int = Field(default=3, ge=0)
    calls_per_card: int = Field(default=8, ge=1, le=8)
    #: Notifications one reviewer may get within an hour.
    interruptions_per_hour: int = Field(default=12, ge=1)
    turns_per_run: int = Field(default=12, ge=1)
    calls_per_turn: int = Field(default=300, ge=1, le=300)
    #: Gated calls of one turn of an agent that is used as a tool.
    nested_calls_per_turn: int = Field(default=8, ge=1, le=8)


def cards_left(budgets: Budgets, posted: int, wanted: int) -> int:
    """How many of the `wanted` cards may still be posted, when the run has `posted` so many already."""
    return max(0, min(wanted, budgets.cards_per_run - posted))
