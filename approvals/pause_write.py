"""A pause as the arguments of `pause_run.lua`, after checking that its parts fit each other."""

from collections.abc import Iterator

from approvals import codec
from approvals.errors import ApprovalsError
from approvals.kept import kept
from approvals.keys import checked_id
from approvals.lifecycle import State
from approvals.models import PauseWrite, ProposedBatch, ProposedCall
from approvals.room import Room
from approvals.scripts import Argument


class PauseMalformedError(ApprovalsError):
    """Calls and batches of a pause do not fit each other; written, they could never be decided."""


def arguments(room: Room, run: str, write: PauseWrite) -> Iterator[Argument]:
    """The batches, then the calls, each list led by its length.

    Raises:
        PauseMalformedError: see `check`.
    """
    check(write)
    yield write.interruptions
    for texts in (write.alerts, write.withdrawn, write.corrected):
        yield len(texts)
        yield from texts
    yield len(write.batches)
    for batch in write.batches:
        yield from _batch(batch)
    yield len(write.calls)
    for call in write.calls:
        yield from _call(room, run, call)


def check(write: PauseWrite) -> None:
    """Every call that is not final is in exactly one batch, only batches with a card hold calls for people, and no call
    is a canary.

    Raises:
        PauseMalformedError: they are not; the text names the call or batch.
    """
    cards = {batch.id: batch.has_card for batch in write.batches}
    listed = [(key, batch.id) for batch in write.batches for key in batch.calls]
    placed = [(call.key, call.batch) for call in write.calls if call.batch is not None]
    if len(cards) != len(write.batches) or len({call.key for call in write.calls}) != len(write.calls):
        raise PauseMalformedError("A pause lists the same call or batch twice; give each its own id.")
    if sorted(listed) != sorted(placed):
        raise PauseMalformedError("Calls and batches of a pause disagree about who belongs where.")
    for call in write.calls:
        if call.content.requirement.canary is not None:
            raise PauseMalformedError(f"Call {call.key} is marked as a canary; no agent may propose one.")
        if call.batch is None and call.state is not State.REJECTED:
            raise PauseMalformedError(f"Call {call.key} is {call.state} and in no batch; nobody could ever decide it.")
        if (
            call.batch
            and call.state is not State.REJECTED
            and cards[call.batch] != (call.state is State.PENDING_REVIEW)
        ):
            raise PauseMalformedError(f"Call {call.key} is {call.state}; only a batch with a card asks people.")


def _batch(batch: ProposedBatch) -> Iterator[Argument]:
    yield from (checked_id(batch.id), batch.radius, batch.number, batch.has_card, batch.ttl_s, batch.lapse_s)
    yield batch.quiet
    yield len(batch.calls)
    yield from (checked_id(key) for key in batch.calls)
    yield len(batch.notify)
    yield from (checked_id(slack_id) for slack_id in batch.notify)


def _call(room: Room, run: str, call: ProposedCall) -> Iterator[Argument]:
    requirement = call.content.requirement
    yield from (checked_id(call.key), call.sdk_id, call.number, call.agent, call.tool, call.batch)
    yield from (call.state, call.cause, call.reason, call.held, call.seal)
    yield room.seal(codec.CALL, call.key, 1, call.content.model_dump_json(), run=run)
    yield from (requirement.reviewers, codec.counts_text(requirement), requirement.law)
    yield from (requirement.mode, requirement.radius, kept(room, call.key, 1, call.content, run=run), requirement.tier)
