"""What a verb of the store answers. The bot turns each into one sentence."""

from enum import StrEnum
from typing import NamedTuple


class Outcome(StrEnum):
    """How a verb went. Scripts return these words and no others."""

    OK = "ok"  # done now
    REPEATED = "repeated"  # the same verb by the same caller had been done before; nothing changed
    ALREADY_DECIDED = "already_decided"  # detail: by, name, at, verdict, state
    EXPIRED = "expired"  # decide_by passed, even if no sweep ran; detail: decide_by
    STALE_VERSION = "stale_version"  # the card or modal showed another version; detail: version, generation
    NOT_FOUND = "not_found"
    NOT_PENDING = "not_pending"  # detail: state
    NOT_POSTED = "not_posted"  # no card was posted yet, so nobody can have seen it
    REFRESHING = "refreshing"  # an edit is being checked; approve and edit wait
    STALE_PERSON = "stale_person"  # snapshot missing, changed, over 60 s old, or not a full member; detail: user
    REQUESTER = "requester"  # own call
    LEASE_LOST = "lease_lost"
    LAPSED = "lapsed"  # execute_by, or the 24 hours, passed
    CAP_REACHED = "cap_reached"  # detail: cap, key, limit, used
    CAPS_MOVED = "caps_moved"  # others hold more or less of a cap than when the call was judged: judge it again
    FROZEN = "frozen"
    WRONG_STATE = "wrong_state"  # this verb is not allowed from this state; detail: state


class Answer(NamedTuple):
    """An outcome, and what a sentence about it needs."""

    outcome: Outcome
    detail: dict[str, str] = {}

    @property
    def ok(self) -> bool:
        """It is done, now or by an earlier call of the same verb."""
        return self.outcome in {Outcome.OK, Outcome.REPEATED}
