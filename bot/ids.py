"""Every action, block and callback id, and what buttons and modals carry: opaque ids and versions, nothing else."""

import re
from enum import StrEnum
from typing import NamedTuple

from pydantic import BaseModel, ConfigDict


class ActionId(StrEnum):
    """What a control of ours is called in Slack's payloads."""

    APPROVE = "call.approve"
    REJECT = "call.reject"
    EDIT = "call.edit"
    DETAILS = "call.details"
    LINE = "edit.line"
    UNDO = "call.undo"
    APPROVE_ALL = "batch.approve_all"
    REJECT_ALL = "batch.reject_all"
    REVIEW = "batch.review"
    ON_IT = "batch.on_it"
    CANCEL = "run.cancel"
    ASK_AGAIN = "run.ask_again"
    RECONCILE = "ops.reconcile"
    MARK_DONE = "ops.mark_done"
    MARK_NOT_DONE = "ops.mark_not_done"
    RECONCILE_UNDO = "ops.reconcile_undo"
    MARK_UNDONE = "ops.mark_undone"
    MARK_NOT_UNDONE = "ops.mark_not_undone"
    REQUEUE = "ops.requeue"
    CLOSE = "ops.close"
    PAGE_BACK = "details.page_back"
    PAGE_NEXT = "details.page_next"
    HOME_PAGE = "home.page"
    HOME_FILTER = "home.filter"
    TIMELINE = "run.timeline"
    PAST_BACK = "past.page_back"
    PAST_NEXT = "past.page_next"


class CallbackId(StrEnum):
    """What a modal of ours is called."""

    EDIT = "edit"
    REJECT = "reject"
    REVIEW = "review"
    REVIEW_SURE = "review_sure"
    DETAILS = "details"
    MARK_DONE = "mark_done"
    MARK_NOT_DONE = "mark_not_done"
    MARK_UNDONE = "mark_undone"
    MARK_NOT_UNDONE = "mark_not_undone"
    TIMELINE = "timeline"
    HISTORY = "history"


#: The action id of every input of a modal.
VALUE = "value"
#: Block ids of a modal's inputs.
REASON = "reason"
COMMON_REASON = "common"
KIND = "kind"
FOOTER = "batch"
RUN = "run"
OPS = "ops"

_WORD = r"[A-Za-z0-9_\-]{1,80}"
_CALL = re.compile(rf"({_WORD}):([0-9]{{1,9}})")
_UNDO = re.compile(rf"({_WORD}):({_WORD})")
_BATCH = re.compile(rf"({_WORD}):([0-9]{{1,9}}):([0-9]{{1,9}}(?:\.[0-9]{{1,9}})*)")


class IdRefused(ValueError):
    """A control carries a value that we did not write."""


class CallRef(NamedTuple):
    """One version of one call, as a control of its card names it."""

    key: str
    version: int

    def __str__(self) -> str:
        return f"{self.key}:{self.version}"


class UndoRef(NamedTuple):
    """One attempt at taking a call back, as the operators' controls name it: what is said is about that one alone."""

    key: str
    attempt: str

    def __str__(self) -> str:
        return f"{self.key}:{self.attempt}"


class BatchRef(NamedTuple):
    """A batch as its card showed it: generation, and the version of each of its calls in card order."""

    batch: str
    generation: int
    versions: tuple[int, ...]

    def __str__(self) -> str:
        return f"{self.batch}:{self.generation}:{'.'.join(map(str, self.versions))}"


class Place(BaseModel):
    """What a modal remembers (its private metadata): what it is about and where its answers go."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    ref: str
    channel: str
    thread_ts: str
    page: int = 0
    #: The values of the edit dialog that somebody chose to change, by their places among all that can be changed.
    lines: tuple[int, ...] = ()
    #: The keys of the calls that a question is about, between its window and its answer.
    approve: tuple[str, ...] = ()


def read_call_ref(value: str) -> CallRef:
    """Read the value of a call's button.

    Raises:
        IdRefused: it is not `<call key>:<version>`.
    """
    match = _CALL.fullmatch(value)
    if match is None:
        raise IdRefused(f"{value[:40]!r} is not the value of a call's button.")
    return CallRef(match[1], int(match[2]))


def read_undo_ref(value: str) -> UndoRef:
    """Read the value of a button that settles an undo.

    Raises:
        IdRefused: it is not `<call key>:<attempt>`.
    """
    match = _UNDO.fullmatch(value)
    if match is None:
        raise IdRefused(f"{value[:40]!r} is not the value of a control of ours.")
    return UndoRef(match[1], match[2])


def read_batch_ref(value: str) -> BatchRef:
    """Read the value of a footer button.

    Raises:
        IdRefused: it is not `<batch>:<generation>:<version>.<version>…`.
    """
    match = _BATCH.fullmatch(value)
    if match is None:
        raise IdRefused(f"{value[:40]!r} is not the value of a card's footer.")
    return BatchRef(match[1], int(match[2]), tuple(int(version) for version in match[3].split(".")))


def read_id(value: str) -> str:
    """Read the value of a button that names one run or one call.

    Raises:
        IdRefused: it cannot be an id of ours.
    """
    if re.fullmatch(_WORD, value) is None:
        raise IdRefused(f"{value[:40]!r} is not the value of a control of ours.")
    return value


def is_run_id(text: str) -> bool:
    """Whether a window about the past is about one run, named by its id; else by words that somebody typed."""
    return re.fullmatch(r"run_[A-Za-z0-9_\-]{1,76}", text) is not None


def is_batch_ref(value: str) -> bool:
    """Whether a modal is about a whole batch."""
    return _BATCH.fullmatch(value) is not None


def call_block(key: str) -> str:
    """The block id of a call's controls while it can be decided."""
    return f"call:{key}"


def decided_block(key: str) -> str:
    """The block id of what stays of a call once nothing is left to decide."""
    return f"details:{key}"


def undo_block(key: str) -> str:
    """The block id of the offer to take a call back."""
    return f"undo:{key}"


def argument_block(pointer: str) -> str:
    """The block id of the input for one argument."""
    return f"arg:{pointer}"


def line_block(number: int) -> str:
    """The block id of the choice of a line in the edit dialog, after so many were chosen."""
    return f"line:{number}"


def reason_block(key: str) -> str:
    """The block id of the reason for one call in the review modal."""
    return f"{REASON}:{key}"


def verdict_block(key: str) -> str:
    """The block id of the choice for one call in the review modal."""
    return f"verdict:{key}"
