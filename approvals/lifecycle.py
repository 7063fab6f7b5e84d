"""The states of a call and of a run, the verbs, and the one table of what may follow what.

```
see docs/lifecycle.md, generated from the table
```
"""

from enum import StrEnum


class State(StrEnum):
    """Where a call stands."""

    PROPOSED = "proposed"  # recorded; nobody has been asked and nothing decided
    PENDING_REVIEW = "pending_review"  # a person must decide
    APPROVED = "approved"  # may run until its execute_by, once
    REJECTED = "rejected"  # will not run; the cause says who or what refused
    EXPIRED = "expired"  # nobody decided in time, or the approval lapsed
    EXECUTING = "executing"  # claimed by one worker under a lease
    SUCCEEDED = "succeeded"  # the effect happened, once
    FAILED = "failed"  # the effect provably did not happen
    UNKNOWN = "unknown"  # nobody can tell whether the effect happened


class Cause(StrEnum):
    """Who or what ended a call."""

    PERSON = "person"
    POLICY = "policy"
    BUDGET = "budget"
    CAP = "cap"
    VETO = "veto"
    WITHDRAWN = "withdrawn"
    CANARY = "canary"  # it was approved and may never run: a test of whether cards are read
    NOBODY = "nobody decided"
    LAPSED = "lapsed"
    UNPOSTED = "could not be posted"


#: The reason of a call whose time ended while an edit of it was still being checked; `expire.lua` writes it.
UNCHECKED = "not checked in time"


class Verb(StrEnum):
    """What may be done to a call."""

    AUTO_APPROVE = "auto_approve"
    FORBID = "forbid"
    SUBMIT = "submit"
    APPROVE = "approve"
    REJECT = "reject"
    EDIT = "edit"
    REFRESH = "refresh"
    EXPIRE = "expire"
    WITHDRAW = "withdraw"
    CLAIM = "claim"
    LAPSE = "lapse"
    REFUSE = "refuse"
    REVOKE = "revoke"
    SUCCEED = "succeed"
    FAIL = "fail"
    RELEASE = "release"
    ABANDON = "abandon"
    UNCLAIM = "unclaim"
    SETTLE = "settle"


_S, _V = State, Verb

#: (verb, from) -> every state that may follow. The scripts in `approvals/scripts` are compared with this table.
TABLE: dict[tuple[Verb, State], frozenset[State]] = {
    (_V.AUTO_APPROVE, _S.PROPOSED): frozenset({_S.APPROVED}),
    (_V.FORBID, _S.PROPOSED): frozenset({_S.REJECTED}),
    (_V.SUBMIT, _S.PROPOSED): frozenset({_S.PENDING_REVIEW}),
    (_V.LAPSE, _S.PROPOSED): frozenset({_S.EXPIRED}),
    (_V.WITHDRAW, _S.PROPOSED): frozenset({_S.REJECTED}),
    # A canary that is approved is rejected.
    (_V.APPROVE, _S.PENDING_REVIEW): frozenset({_S.PENDING_REVIEW, _S.APPROVED, _S.REJECTED}),
    (_V.REJECT, _S.PENDING_REVIEW): frozenset({_S.REJECTED}),
    (_V.EDIT, _S.PENDING_REVIEW): frozenset({_S.PENDING_REVIEW}),
    (_V.REFRESH, _S.PENDING_REVIEW): frozenset({_S.PENDING_REVIEW, _S.APPROVED, _S.REJECTED}),
    (_V.EXPIRE, _S.PENDING_REVIEW): frozenset({_S.EXPIRED}),
    (_V.WITHDRAW, _S.PENDING_REVIEW): frozenset({_S.REJECTED}),
    (_V.CLAIM, _S.APPROVED): frozenset({_S.EXECUTING}),
    (_V.LAPSE, _S.APPROVED): frozenset({_S.EXPIRED}),
    (_V.REFUSE, _S.APPROVED): frozenset({_S.REJECTED}),
    (_V.REVOKE, _S.APPROVED): frozenset({_S.PENDING_REVIEW, _S.PROPOSED}),
    (_V.WITHDRAW, _S.APPROVED): frozenset({_S.REJECTED}),
    (_V.SUCCEED, _S.EXECUTING): frozenset({_S.SUCCEEDED}),
    (_V.FAIL, _S.EXECUTING): frozenset({_S.FAILED}),
    (_V.RELEASE, _S.EXECUTING): frozenset({_S.PENDING_REVIEW, _S.PROPOSED}),
    (_V.ABANDON, _S.EXECUTING): frozenset({_S.UNKNOWN}),
    (_V.UNCLAIM, _S.EXECUTING): frozenset({_S.APPROVED}),
    (_V.SETTLE, _S.UNKNOWN): frozenset({_S.SUCCEEDED, _S.FAILED}),
}

FINAL = frozenset({State.REJECTED, State.EXPIRED, State.SUCCEEDED, State.FAILED})


class UndoState(StrEnum):
    """Where the taking back of a call stands. The call itself stays `succeeded`, whatever happens here."""

    WANTED = "wanted"  # somebody wants it back; as many must as had to approve it
    ASKED = "asked"  # may be tried, for some minutes
    EXECUTING = "executing"  # claimed by one worker under a lease
    UNDONE = "undone"  # taken back, once
    FAILED = "failed"  # it provably was not taken back
    UNKNOWN = "unknown"  # nobody can tell whether it was


class UndoVerb(StrEnum):
    """What may be done about taking a call back."""

    ASK = "ask"
    CLAIM = "claim"
    REFUSE = "refuse"
    LAPSE = "lapse"
    UNCLAIM = "unclaim"
    SUCCEED = "succeed"
    FAIL = "fail"
    ABANDON = "abandon"
    SETTLE = "settle"


_U, _UV = UndoState, UndoVerb

#: As `TABLE`; None stands for a call that nobody has asked to take back.
UNDO_TABLE: dict[tuple[UndoVerb, UndoState | None], frozenset[UndoState]] = {
    (_UV.ASK, None): frozenset({_U.WANTED, _U.ASKED}),
    (_UV.ASK, _U.WANTED): frozenset({_U.WANTED, _U.ASKED}),
    (_UV.LAPSE, _U.WANTED): frozenset({_U.FAILED}),
    (_UV.CLAIM, _U.ASKED): frozenset({_U.EXECUTING}),
    (_UV.REFUSE, _U.ASKED): frozenset({_U.FAILED}),
    (_UV.LAPSE, _U.ASKED): frozenset({_U.FAILED}),
    (_UV.SUCCEED, _U.EXECUTING): frozenset({_U.UNDONE}),
    (_UV.FAIL, _U.EXECUTING): frozenset({_U.FAILED}),
    (_UV.ABANDON, _U.EXECUTING): frozenset({_U.UNKNOWN}),
    (_UV.UNCLAIM, _U.EXECUTING): frozenset({_U.ASKED}),
    (_UV.ASK, _U.FAILED): frozenset({_U.WANTED, _U.ASKED}),
    (_UV.SETTLE, _U.UNKNOWN): frozenset({_U.UNDONE, _U.FAILED}),
}


class RunState(StrEnum):
    """Where a run stands."""

    QUEUED = "queued"
    RUNNING = "running"
    PAUSED = "paused"
    READY = "ready"
    RESUMING = "resuming"
    COMPLETED = "completed"
    STOPPED = "stopped"
    FAILED = "failed"


RUN_ENDED = frozenset({RunState.COMPLETED, RunState.STOPPED, RunState.FAILED})
