"""Hashes of Redis to the values of `approvals.models`, decrypting what is encrypted."""

from collections.abc import Iterator, Sequence
from typing import Any, Literal, cast

from approvals import at_work
from approvals.drifts import Drift
from approvals.lifecycle import Cause, RunState, State, UndoState
from approvals.marks import genuine
from approvals.models import Batch, Call, CallContent, Decision, OutboxEntry, Person, Run, Undo
from approvals.room import Room
from approvals.row import Row
from policies.requirement import Requirement

#: Kinds of encrypted blobs; each is bound to its subject and version.
REQUEST, STATE, CALL, RECEIPT, ANSWER = "request", "state", "call", "receipt", "answer"
UNDO_RECEIPT, DRIFTED = "undo_receipt", "drifted"


def run(room: Room, run_id: str, row: Row) -> Run | None:
    """The run in this hash; None when there is none."""
    if not row:
        return None
    request, answer = row.blob("request"), row.blob("answer")
    return Run(
        id=run_id,
        state=RunState(row.text("state")),
        request=room.open(REQUEST, run_id, 0, request).decode() if request else "",
        requester=row.text("requester"),
        channel=row.text("channel"),
        thread_ts=row.text("thread_ts"),
        agent=row.text("agent"),
        parent=row.maybe("parent"),
        barrier=cast("Literal['batch', 'pause']", row.text("barrier")),
        turns=row.number("turns"),
        pause=row.number("pause"),
        reason=row.maybe("reason"),
        answer=room.open(ANSWER, run_id, 0, answer).decode() if answer else None,
        created_at=row.number("created_at"),
        ended_at=row.maybe_number("ended_at"),
        cancelled_by=row.maybe("cancelled_by"),
        cancelled_name=row.maybe("cancelled_name"),
        canary=row.flag("canary"),
        started_as=row.text("started_as"),
    )


def batch(batch_id: str, row: Row, calls: Sequence[str]) -> Batch:
    """The batch in this hash."""
    return Batch(
        id=batch_id,
        run=row.text("run"),
        pause=row.number("pause"),
        radius=row.text("radius"),
        number=row.number("number"),
        calls=tuple(calls),
        has_card=row.flag("has_card"),
        generation=row.number("generation"),
        ttl_s=row.number("ttl_s"),
        lapse_s=row.number("lapse_s"),
        decide_by=row.maybe_number("decide_by"),
        posted_at=row.maybe_number("posted_at"),
        channel=row.maybe("channel"),
        ts=row.maybe("ts"),
        notify=tuple(row.text("notify").split()) or (() if row.flag("quiet") else None),
        quiet=row.flag("quiet"),
        recalled=tuple(row.text("recalled").split()),
        called=tuple(row.text("called").split()),
        on_it=row.maybe("on_it"),
        on_it_name=row.maybe("on_it_name"),
        escalated_at=row.maybe_number("escalated_at"),
    )


def call(room: Room, key: str, row: Row, decisions: Sequence[bytes]) -> Call | None:
    """The call in this hash; None when there is none."""
    if not row:
        return None
    version = row.number("version")
    receipt, cause, drifted = row.blob("receipt"), row.maybe("cause"), row.blob("drifted")
    run = row.text("run")
    content = room.open(CALL, key, version, row.blob("content") or b"", run=run)
    return Call(
        key=key,
        run=run,
        batch=row.maybe("batch"),
        pause=row.number("pause"),
        number=row.number("number"),
        sdk_id=row.text("sdk_id"),
        agent=row.text("agent"),
        tool=row.text("tool"),
        state=State(row.text("state")),
        version=version,
        content=CallContent.model_validate_json(content),
        seal=row.text("seal"),
        cause=Cause(cause) if cause else None,
        reason=row.maybe("reason"),
        needed=row.number("needed"),
        decisions=tuple(_genuine(room, key, decisions)),
        refreshing=row.flag("refreshing"),
        execute_by=row.maybe_number("execute_by"),
        claimed_at=row.maybe_number("claimed_at"),
        at_work_until=_at_work_until(row),
        ended_at=row.maybe_number("ended_at"),
        intended=row.flag("intended"),
        receipt=room.open(RECEIPT, key, version, receipt, run=run).decode() if receipt else None,
        held=row.flag("held"),
        undo=undo(row),
        looked_at=row.maybe_number("looked_at"),
        look_failed_at=row.maybe_number("look_failed_at"),
        drifted=Drift.model_validate_json(room.open(DRIFTED, key, version, drifted, run=run)) if drifted else None,
        contradicted=_contradicted(row),
    )


def _contradicted(row: Row) -> State | None:
    """What a late word proved; version 0.1 kept no more than the receipt."""
    said = row.maybe("late_word")
    if said is None and row.blob("late_receipt") is not None:
        return State.SUCCEEDED
    return State(said) if said else None


def _at_work_until(row: Row, of: str = "") -> int | None:
    """Until when an effect, or an undo, may be at work; version 0.1 wrote what it follows from."""
    until = row.maybe_number(f"{of}at_work_until")
    if until is not None or not row.flag(f"{of}intended"):
        return until
    return row.number(f"{of}claimed_at") + row.number(f"{of}longest_ms") + at_work.MARGIN_MS


def undo(row: Row) -> Undo | None:
    """The undo in the hash of its call; None when nobody has asked for it."""
    state = row.maybe("undo_state")
    if state is None:
        return None
    return Undo(
        state=UndoState(state),
        seal=row.text("undo_seal"),
        by=row.text("undo_by"),
        name=row.text("undo_name"),
        at=row.number("undo_at"),
        missing=row.number("undo_missing"),
        at_work_until=_at_work_until(row, "undo_"),
        ended_at=row.maybe_number("undo_ended_at"),
        reason=row.maybe("undo_reason"),
        token=row.maybe("undo_token") or "",
        contradicted=row.blob("undo_late_receipt") is not None,
    )


def _genuine(room: Room, key: str, entries: Sequence[bytes]) -> Iterator[Decision]:
    """The decisions that were taken here. Ops is told about others, which are none."""
    for entry in entries:
        found = decision(entry)
        if found.call == key and genuine(room.vault, room.tenant, found):
            yield found.model_copy(update={"mark": ""})
        else:
            room.tell_of_forgery(key)


def decision(entry: bytes) -> Decision:
    """A stored decision: the instant the store recorded it, a space, the decision as JSON."""
    at, _, body = entry.decode().partition(" ")
    return Decision.model_validate_json(body).model_copy(update={"at": int(at)})


def person_text(person: Person) -> str:
    """What makes two snapshots of a user equal: everything but the instant of the fetch."""
    return person.model_copy(update={"fetched_at": 0}).model_dump_json()


def counts_text(requirement: Requirement) -> str:
    """What a call adds to its run's sums, as JSON that only `Runs.counts` reads; empty when nothing."""
    return requirement.model_dump_json(include={"counts"}) if requirement.counts else ""


def entry(entry_id: str, row: Row) -> OutboxEntry | None:
    """The outbox entry in this hash; None when there is none."""
    if not row:
        return None
    kind, _, subject = entry_id.partition(":")
    return OutboxEntry(
        id=entry_id,
        kind=cast("Any", kind),
        subject=subject,
        desired=row.number("desired"),
        delivered=row.number("delivered"),
        channel=row.maybe("channel"),
        ts=row.maybe("ts"),
        attempts=row.number("attempts"),
        error=row.maybe("error"),
        told_elsewhere=row.number("told_elsewhere") >= row.number("desired"),
        before=row.maybe("before"),
        sending=row.flag("sending"),
        closed_by=row.maybe("closed_name") if row.maybe("closed_at_version") == row.maybe("desired") else None,
    )
