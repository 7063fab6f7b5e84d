"""Takes what was decided in one batch through the gate, in order, one effect at a time."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import structlog

from approvals import tracing
from approvals.away import STORE_AWAY
from approvals.batches import AGAIN_MS
from approvals.job_time import time_is_over
from approvals.lifecycle import Cause
from approvals.models import BatchLease, Call, Run
from approvals.queue import JobTimeout
from policies.arguments import ArgumentsRefused
from policies.risk import Mode
from worker.bounded import NoAnswer
from worker.deps import Deps
from worker.gate import Gate, Passed, judge_again
from worker.heartbeat import LEASE_MS, Heartbeat
from worker.judging import stored
from worker.load import Loaded

#: After this long no further effect is begun in the job, so that RQ's limit never falls into one; the rest is woken.
BEGIN_UNTIL_MS = 60_000
#: The longest pause before a call that could not be carried out is tried again; an outage may last for hours.
LATE_MS = 60_000

_log = structlog.get_logger(__name__)

NOW_HUMAN = "It may no longer run unasked, and everybody else of this turn was already asked. Propose it again."


async def execute(deps: Deps, batch_id: str) -> None:
    """Run what may run of a batch; leave the rest. Safe to call at any time, any number of times."""
    lease = deps.store.batches.lease(batch_id, token=deps.token(), ttl_ms=LEASE_MS)
    if lease is None:
        return
    run = deps.store.runs.load(lease.run)
    if run is None:
        return
    with Heartbeat(lambda: deps.store.batches.renew(lease, ttl_ms=LEASE_MS)) as beat:
        async with deps.loaded(run.agent, deps.watch()) as loaded:
            for call in deps.store.batches.held(batch_id):
                with _alone(deps, call):
                    _judge_held(deps, loaded, run, lease, call)
            became = await _all_taken(Gate(deps, loaded, run, lease), beat)
    in_vain = lease.in_vain + 1 if Passed.FAILED in became else 0
    again_ms = AGAIN_MS if Passed.WAITS in became else pause_ms(in_vain)
    deps.store.batches.finish(lease, in_vain=in_vain, again_ms=again_ms)


def pause_ms(in_vain: int) -> int:
    """How long what is left over waits when so many rounds without a break had a call that could not be carried out."""
    return min(LATE_MS, AGAIN_MS << max(0, in_vain - 1))


async def _all_taken(gate: Gate, beat: Heartbeat) -> set[Passed]:
    """Everything approved through the gate, as long as there is time and the lease is held; what became of them."""
    store, became = gate.deps.store, set[Passed]()
    until = store.now() + BEGIN_UNTIL_MS
    for call in _in_order(gate.deps, store.batches.claimable(gate.lease.batch)):
        if store.now() > until:
            return became | {Passed.WAITS}
        passed = Passed.LOST if beat.lost.is_set() else await _taken(gate, call)
        became.add(passed)
        if passed is Passed.LOST:
            break
    return became


async def _taken(gate: Gate, call: Call) -> Passed:
    """One call through the gate, as a span of its run's trace."""
    passed = Passed.FAILED
    span = tracing.span("call.effect", run=call.run, batch=call.batch, call=call.key, tool=call.tool)
    with _alone(gate.deps, call), span as told:
        passed = await gate.take(call)
        told.set_attribute("vobo.passed", passed.value)
        _log.info("call at the gate", passed=passed.value)
    return passed


@contextmanager
def _alone(deps: Deps, call: Call) -> Iterator[None]:
    """What goes wrong with one call stops no other. Ops is told once; while it can still run it is tried again.

    Raises:
        JobTimeout: the job's time is over.
        Exception: the store does not answer, which is nothing about this call.
    """
    try:
        yield
    except (JobTimeout, *STORE_AWAY):
        raise
    # A boundary: on the way lie validators, tools and data of the team's, and those beside it are approved as well.
    except Exception as error:
        _log.exception("a call could not be taken through the gate", call=call.key, tool=call.tool)
        why = str(error) if isinstance(error, NoAnswer) else type(error).__name__
        reason = f"{call.tool} could not be taken through the gate ({why})."
        deps.store.outbox.alarm(f"gate:{call.key}", event="gate_failed", reason=reason, run=call.run, call=call.key)
        if time_is_over():
            raise JobTimeout from error


def _in_order(deps: Deps, calls: Sequence[Call]) -> Sequence[Call]:
    """What failed in an earlier job comes last: it may use up the time of this one as well."""
    return calls if len(calls) < 2 else sorted(calls, key=lambda call: _failed_before(deps, call))  # noqa: PLR2004


def _failed_before(deps: Deps, call: Call) -> bool:
    """Whether ops was told that it could not be taken through the gate."""
    try:
        return deps.store.outbox.load(f"alert:gate:{call.key}") is not None
    except ValueError:  # a newer version told them
        return True


def _judge_held(deps: Deps, loaded: Loaded, run: Run, lease: BatchLease, call: Call) -> None:
    """What waited beside calls for people, judged again with what they decided."""
    door = loaded.doors.get((call.agent, call.tool))
    calls = deps.store.calls
    if door is None:
        reason = f"{call.tool} is no longer a tool of {call.agent}."
        deps.store.outbox.alarm(f"tool:{call.key}", event="tool_gone", reason=reason, run=run.id, call=call.key)
        if call.agent in loaded.agents:  # otherwise the deployment is what is wrong, and the call waits for the next
            calls.forbid(call.key, lease=lease, reason=reason)
        return
    try:
        looked = stored(call.key, door, call.content, requester=run.requester)
    except ArgumentsRefused as refused:
        reason = f"{call.tool} takes other arguments now: {refused.sentence}"
        calls.forbid(call.key, lease=lease, reason=reason)
        return
    vetoes = deps.store.vetoes.of_thread(run.channel, run.thread_ts)
    need = judge_again(deps, run, call, looked, vetoes=vetoes)
    if need.mode is Mode.AUTO and call.content.requirement.mode is Mode.AUTO:
        calls.auto_approve(call.key, lease=lease)
        return
    reason = NOW_HUMAN if need.mode is not Mode.FORBIDDEN else " ".join(need.reasons)
    calls.forbid(call.key, lease=lease, reason=reason, cause=Cause.VETO if need.vetoed else Cause.POLICY)
