"""The truthful result the model gets for every gated call: what ran, who decided, and what to do now."""

from collections.abc import Sequence
from enum import StrEnum
from itertools import groupby
from typing import Any

from approvals.lifecycle import UNCHECKED, Cause, State
from approvals.models import Call, Decision
from policies.plain_text import is_hidden
from policies.roster import in_words
from policies.strict_json import ArgumentsRefused, read_json, write_json

FORMAT = "envelope/1"
LONGEST_NAME = 80
LONGEST_REASON = 1000


class Status(StrEnum):
    """What became of a call, as the model reads it."""

    EXECUTED = "executed"  # the effect happened, once
    REJECTED = "rejected"  # a person refused
    EXPIRED = "expired"  # nobody decided in time, or the approval lapsed: not a refusal
    REFUSED = "refused"  # a policy, a budget, a cap, an earlier veto, or arguments that cannot be read
    FAILED = "failed"  # it was tried and provably nothing happened
    UNKNOWN = "unknown"  # nobody can tell whether it happened
    WITHDRAWN = "withdrawn"  # the requester took it back


class NotAnswerable(Exception):
    """A call that is neither final nor unknown was to be told to the model; the resume must stop."""


NO_OTHER_ROUTE = (
    "Do not try another route to the same effect, with this tool or any other."
    " Go on with what does not depend on it, and say in your answer who refused it and why."
)
ONE_CORRECTION = (
    "You may make one new proposal that follows the reason; it will be asked about separately."
    " If you cannot follow it, say so in your answer."
)
NEXT: dict[Status, str] = {
    Status.EXECUTED: "This is done; do not repeat it. Report executed_input, not requested_input.",
    Status.REJECTED: NO_OTHER_ROUTE,
    Status.EXPIRED: "Do not repeat the call in this run. Say in your answer that nobody decided in time and that the"
    " requester can ask again.",
    Status.REFUSED: "Do not try another route to the same effect. Say in your answer which limit or policy applied.",
    Status.FAILED: "Nothing changed. Do not repeat the call unless the requester asks again; report the failure.",
    Status.UNKNOWN: "Do not repeat it and do not claim that it happened or that it did not; say that an operator"
    " must check.",
    Status.WITHDRAWN: "Do not propose it again; the requester does not want it.",
}
PARTLY_APPROVED = (
    "Do not repeat the call in this run. Say in your answer who had approved, that this was not enough in time and that"
    " the requester can ask again."
)
NOT_CHECKED = (
    "Do not repeat the call in this run. Say in your answer that a reviewer had changed it, that the change was not"
    " checked in time and that the requester can ask again."
)
CORRECT_AND_RETRY = "Correct the arguments that are named and call the tool again, or report that you cannot."


def envelope_of(call: Call) -> str:
    """The envelope of a call that is final, or whose outcome nobody could tell in time.

    Raises:
        NotAnswerable: the call still has to be decided or run.
    """
    status = _status(call)
    return envelope(
        status,
        _sentence(call, status),
        decided_by=_deciders(call, status),
        reason=_quoted_reason(call, status),
        requested=_json_or_text(call.content.requested),
        executed=read_json(call.content.arguments) if status is Status.EXECUTED else None,
        result=_json_or_text(call.receipt) if status is Status.EXECUTED and call.receipt else None,
        what_now=_what_now(call, status),
    )


def envelope(
    status: Status,
    sentence: str,
    *,
    decided_by: Sequence[str] = (),
    reason: str | None = None,
    requested: Any = None,
    executed: Any = None,
    result: Any = None,
    what_now: str | None = None,
) -> str:
    """An envelope as JSON text. `reason` is somebody's words and stays quoted data."""
    return write_json(
        {
            "vobo": FORMAT,
            "status": status.value,
            "sentence": sentence,
            "decided_by": list(decided_by),
            "reason_quoted": reason,
            "requested_input": requested,
            "executed_input": executed,
            "result": result,
            "next": what_now or NEXT[status],
        }
    )


def not_through_here(tool: str, *, too_many: bool = False) -> str:
    """What a gated tool answers when anything but the gate calls it, or when a turn asks for too much."""
    if too_many:
        return envelope(
            Status.REFUSED,
            f"NOT executed. This turn asked for more calls than one turn may; this call of {tool} was not taken up.",
            what_now="Nothing happened. Propose it again in a later turn, with fewer calls.",
        )
    return envelope(
        Status.REFUSED,
        f"NOT executed. {tool} runs only after its call was decided, and never from here.",
        what_now="Nothing happened. End your turn and say that this call could not be put to a decision.",
    )


def _status(call: Call) -> Status:
    match call.state:
        case State.SUCCEEDED:
            return Status.EXECUTED
        case State.FAILED:
            return Status.FAILED
        case State.UNKNOWN:
            return Status.UNKNOWN
        case State.EXPIRED:
            return Status.EXPIRED
        case State.REJECTED:
            by_cause = {Cause.PERSON: Status.REJECTED, Cause.WITHDRAWN: Status.WITHDRAWN}
            return by_cause.get(call.cause, Status.REFUSED) if call.cause else Status.REFUSED
        case _:
            raise NotAnswerable(f"Call {call.key} is {call.state}; it cannot be told to the model yet.")


def _sentence(call: Call, status: Status) -> str:
    approvers = " and ".join(_names(call, ("approve",)))
    if status is Status.EXECUTED:
        return _executed(call, approvers)
    if status is Status.EXPIRED:
        return _expired(call, approvers)
    if status is Status.REFUSED:
        approved = f"Approved by {approvers}, but: " if approvers else ""
        return f"NOT executed. {approved}{_clean(call.reason or 'A policy refuses it.')}"
    if status is Status.FAILED:
        return f"NOT executed{f', although approved by {approvers}' if approvers else ''}. It was tried and failed."
    return {
        Status.REJECTED: f"NOT executed. {' and '.join(_names(call, ('reject',))) or 'A reviewer'} rejected this call.",
        Status.WITHDRAWN: "NOT executed. The requester withdrew this call.",
        Status.UNKNOWN: "UNKNOWN. The call was started, and nobody can tell whether it took effect.",
    }[status]


def _executed(call: Call, approvers: str) -> str:
    if not approvers:
        return "EXECUTED. The policy lets this run without asking anybody."
    editors = [_clean(decision.name)[:LONGEST_NAME] for decision in call.decisions if decision.verdict == "edit"]
    if editors:
        changed = " and ".join(dict.fromkeys(editors))
        return f"EXECUTED WITH CHANGES. {changed} changed the arguments; approved by {approvers}. See executed_input."
    return f"EXECUTED. Approved by {approvers}."


def _expired(call: Call, approvers: str) -> str:
    if call.cause is Cause.LAPSED:
        by = f" by {approvers}" if approvers else ""
        return f"NOT executed. It was approved{by}, but the approval lapsed before it could run. This is not a refusal."
    if call.cause is Cause.UNPOSTED:
        return "NOT executed. The question could not be put to anybody in time. This is not a refusal."
    return f"NOT executed. {_too_late(call, approvers)} This is not a refusal."


def _too_late(call: Call, approvers: str) -> str:
    """Who had approved what when its time ended, and what was missing."""
    if call.reason == UNCHECKED:
        return "A reviewer's change was not checked in time."
    if approvers:
        return f"{approvers} approved, but {_missing(call) or 'its decision was'} missing when the time ended."
    if any(decision.version < call.version for decision in call.decisions):
        return "It had been changed, and nobody decided in time on what it had become."
    return "Nobody decided in time."


def _missing(call: Call) -> str:
    """How many approvals the last version lacked; empty when none, or when it had none at all."""
    counted = {decision.reviewer for decision in _deciding(call, ("approve",))}
    missing = call.content.requirement.reviewers - len(counted)
    if not counted or missing < 1:
        return ""
    return f"{in_words(missing)} more approval{'s were' if missing > 1 else ' was'}"


def _what_now(call: Call, status: Status) -> str:
    if status is Status.REJECTED and any(decision.correction for decision in _deciding(call, ("reject",))):
        return ONE_CORRECTION
    if status is Status.EXPIRED and call.reason == UNCHECKED:
        return NOT_CHECKED
    if status is Status.EXPIRED and _missing(call):
        return PARTLY_APPROVED
    if status is Status.REFUSED and call.content.problem and not call.decisions:
        return CORRECT_AND_RETRY
    return NEXT[status]


def _quoted_reason(call: Call, status: Status) -> str | None:
    if status is Status.REJECTED:
        reasons = [decision.reason for decision in _deciding(call, ("reject",)) if decision.reason]
        return _clean(reasons[-1]) if reasons else _clean(call.reason) if call.reason else None
    if status in {Status.FAILED, Status.UNKNOWN} and call.reason:
        return _clean(call.reason)
    return None


def _deciders(call: Call, status: Status) -> list[str]:
    return _names(call, ("reject",) if status is Status.REJECTED else ("approve",))


def _names(call: Call, verdicts: Sequence[str]) -> list[str]:
    # A display name is text its owner chose: it may not start a line of its own in what the model reads.
    names = [_clean(decision.name)[:LONGEST_NAME] for decision in _deciding(call, verdicts)]
    return list(dict.fromkeys(names))


def _deciding(call: Call, verdicts: Sequence[str]) -> list[Decision]:
    """Decisions on the last version; an editor's approval of the version they made is a decision of its own."""
    return [
        decision for decision in call.decisions if decision.verdict in verdicts and decision.version == call.version
    ]


def _clean(text: str) -> str:
    """What somebody wrote, on one line: each stretch that nobody would see becomes a blank."""
    seen = "".join(" " if hidden else "".join(stretch) for hidden, stretch in groupby(text, is_hidden))
    return seen.strip()[:LONGEST_REASON]


def _json_or_text(text: str) -> Any:
    try:
        return read_json(text)
    except ArgumentsRefused:  # what the model wrote need not be JSON
        return _clean(text)
