"""What one job knows about the model's calls: the ids it issued, what was unreadable, what was too much."""

import string
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field

from approvals.known_secrets import NO_SECRETS, KnownSecrets

#: Which providers take what differs; nine letters and digits are taken by all of them.
ID_LENGTH = 9
ID_ALPHABET = string.ascii_letters + string.digits
#: The SDK's cost of resuming grows with the square of the pending calls of nested agents.
GATED_PER_ROOT_TURN = 300
GATED_IN_NESTED_AGENTS = 8

HELD_BACK = (
    "The arguments hold the value of a secret of this installation, so they were not stored and nobody was asked."
    " Leave it out; tools read secrets from their own settings."
)
Choose = Callable[[Sequence[str]], str]


class TurnsSpent(Exception):
    """The run has used up its model turns; it ends with what it has."""


@dataclass
class Watch:
    """Shared by the models of one run's agents for the length of one job.

    `choose` picks one of some characters unpredictably. `turns` counts model calls, nested ones included, over the
    whole run; `last` lets the model speak once more, without tools. `failed` says that a model call raised, so
    whatever the SDK made of it must be discarded; `spent` that one was refused because the turns are used up.
    `withheld` are calls whose arguments held one of the `secrets`, and were never kept.
    """

    choose: Choose
    turns: int
    limit: int
    last: bool = False
    secrets: KnownSecrets = NO_SECRETS
    issued: set[str] = field(default_factory=set)
    malformed: dict[str, tuple[str, str]] = field(default_factory=dict)
    withheld: set[str] = field(default_factory=set)
    asked_by: dict[str, str] = field(default_factory=dict)
    surplus: set[str] = field(default_factory=set)
    said: dict[str, str] = field(default_factory=dict)
    failed: bool = False
    spent: bool = False
    _nested: int = 0

    def begin_turn(self) -> None:
        """Count one model call.

        Raises:
            TurnsSpent: the run may not make another one.
        """
        if self.turns >= self.limit:
            self.spent = True
            raise TurnsSpent(f"The run has used its {self.limit} model turns.")
        self.turns += 1

    def new_id(self) -> str:
        """A call id that was never issued in this job and that nobody can guess."""
        while True:
            fresh = "".join(self.choose(ID_ALPHABET) for _ in range(ID_LENGTH))
            if fresh not in self.issued:
                self.issued.add(fresh)
                return fresh

    def admit(self, call_ids: Sequence[str], *, nested: bool) -> Collection[str]:
        """Take up gated calls of one turn in order; the ones that are too many are remembered and returned."""
        room = max(0, GATED_IN_NESTED_AGENTS - self._nested) if nested else GATED_PER_ROOT_TURN
        surplus = list(call_ids[room:])
        if nested:
            self._nested += min(room, len(call_ids))
        else:
            self._nested = 0
        self.surplus.update(surplus)
        return surplus


def is_call_id(text: str | None) -> bool:
    """Whether this has the shape of an id we issue."""
    return text is not None and len(text) == ID_LENGTH and all(character in ID_ALPHABET for character in text)
