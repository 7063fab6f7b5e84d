"""Drives a run one turn at a time, from its request or its checkpoint, until it ends or people are asked."""

from collections.abc import Sequence
from typing import Any

from agents import Runner
from agents.exceptions import InputGuardrailTripwireTriggered, OutputGuardrailTripwireTriggered
from agents.run_config import RunConfig, ToolExecutionConfig
from agents.run_state import RunState
from pydantic import BaseModel

from approvals import tracing
from approvals.errors import ApprovalsError
from approvals.models import Run, RunLease
from approvals.outcomes import Outcome
from approvals.queue import JobTimeout
from approvals.storable import whole_text
from worker.bounded import Patience
from worker.deps import Deps
from worker.heartbeat import LEASE_MS, Heartbeat
from worker.load import Loaded
from worker.pause import Asked, asked, pause_write
from worker.resume import answered, refuse_changed
from worker.saved import ResumeRefused, Saved
from worker.shadow import beside, record
from worker.transcript import lookups, opening_text
from worker.watch import Watch

PAUSE_TRIES = 5
OUT_OF_TURNS = "I stopped because this run used up its {limit} model turns. Nothing further was started."


class LeaseLost(Exception):
    """Another worker may drive this run now; whatever was not saved is thrown away."""


async def advance(deps: Deps, run_id: str) -> None:
    """Take the run if it is free, and drive it as far as it goes without people. Safe to call at any time."""
    lease = deps.store.runs.lease(run_id, token=deps.token(), ttl_ms=LEASE_MS)
    if lease is None:
        return
    name = "run.resume" if lease.resuming else "run.drive"
    with tracing.span(name, run=run_id), Heartbeat(lambda: deps.store.runs.renew(lease, ttl_ms=LEASE_MS)):
        try:
            run = deps.store.runs.load(run_id)
            if run is not None:
                await _attempt(deps, run, lease)
        except LeaseLost:
            return
        except ApprovalsError as refused:
            # It cannot go on by itself: the state is kept, ops reads the sentence.
            deps.store.runs.fail(lease, reason=str(refused))


async def _attempt(deps: Deps, run: Run, lease: RunLease) -> None:
    saved = Saved.read(deps.store.runs.load_state(run.id))
    if saved.attempts >= len(deps.retry_delays_ms):
        _save(deps, lease, saved.model_copy(update={"attempts": 0}), run.turns)  # for whoever requeues it
        deps.store.runs.fail(lease, reason=f"It got no further in {saved.attempts} attempts. See the worker's log.")
        return
    # Counted before the attempt, so that one which kills its process counts as well.
    started = saved.model_copy(update={"attempts": saved.attempts + 1})
    _save(deps, lease, started, run.turns)
    watch = deps.watch(turns=run.turns, last=saved.last)
    try:
        async with deps.loaded(run.agent, watch) as loaded:
            await _drive(deps, loaded, run, lease, saved, watch)
    except (ApprovalsError, LeaseLost):
        raise
    except (InputGuardrailTripwireTriggered, OutputGuardrailTripwireTriggered) as tripped:
        deps.store.runs.stop(lease, reason=f"A guardrail of the agent stopped it ({type(tripped).__name__}).")
    except JobTimeout:
        deps.store.runs.give_back(lease, delay_ms=deps.retry_delays_ms[saved.attempts])
        raise
    # A boundary of the job: a provider that is down or a bug in the agent's code. The segment is thrown away whole,
    # and the last checkpoint is tried again later.
    except Exception:
        if watch.spent:
            _out_of_turns(deps, lease, watch)
            return
        deps.store.runs.give_back(lease, delay_ms=deps.retry_delays_ms[saved.attempts])
        raise


async def _drive(deps: Deps, loaded: Loaded, run: Run, lease: RunLease, saved: Saved, watch: Watch) -> None:  # noqa: PLR0917
    step = await _first_step(deps, loaded, run, saved)
    while True:
        with tracing.span("agent.turn", run=run.id, turn=watch.turns + 1):
            result = await _turn(loaded, step, run, watch)
        state = result.to_state()
        if result.interruptions:
            if watch.turns >= watch.limit:
                _out_of_turns(deps, lease, watch)
                return
            calls = asked(result.interruptions, watch)
            at = saved.at(state, loaded, pending=tuple(call.sdk_id for call in calls))
            read = lookups(result.to_input_list(), loaded.reads)
            with tracing.span("run.pause", run=run.id, pause=run.pause + 1, calls=len(calls)):
                await _pause(deps, loaded, run, lease, calls, at, watch=watch, read=read)
            return
        if result.final_output is not None:
            deps.store.runs.complete(lease, answer=_text(result.final_output))
            return
        saved = saved.at(state, loaded)
        _save(deps, lease, saved, watch.turns)
        step = state


async def _pause(  # noqa: PLR0917 - one pause
    deps: Deps,
    loaded: Loaded,
    run: Run,
    lease: RunLease,
    calls: Sequence[Asked],
    saved: Saved,
    *,
    watch: Watch,
    read: tuple[str, ...],
) -> None:
    """Write the pause; once more when another run has asked the same people in between."""
    patience = Patience()  # for all tries together, so that they fit into one job
    for _ in range(PAUSE_TRIES):
        write = await pause_write(deps, loaded, run, calls, saved, watch=watch, read=read, patience=patience)
        differences = beside(deps, run, write)
        answer = deps.store.runs.pause(lease, write)
        if answer.outcome is not Outcome.CAP_REACHED:
            break
    _ensure(answer.ok)
    if watch.withheld:
        deps.store.outbox.alarm(f"secret:{run.id}", event="secret_withheld", reason="in arguments", run=run.id)
    record(deps, differences)


async def _first_step(deps: Deps, loaded: Loaded, run: Run, saved: Saved) -> "str | RunState[Any, Any]":
    if saved.state is None and run.pause:  # begun anew, it would ask and do again what it has done
        raise ResumeRefused(
            f"The saved state of the run is gone, although it was asked about {run.pause} times. Nothing was resumed."
            " Restore the store's data and requeue the run, or close it and ask again."
        )
    if saved.state is None:
        return opening_text(deps.store, run)
    state = await saved.restored(loaded)
    if saved.pending:
        calls = deps.store.calls.of_pause(run.id, run.pause)
        refuse_changed(calls, tenant=deps.store.tenant, requester=run.requester)
        answered(state, calls, nested=saved.has_nested)
    return state


async def _turn(loaded: Loaded, step: "str | RunState[Any, Any]", run: Run, watch: Watch) -> Any:
    """One model turn with its read-only tools. Stopping at the first event lets the turn finish, and no more.

    Raises:
        Exception: what the model raised, also when an agent tool made an answer of it.
    """
    # A restored state brings its own context along.
    context = {"run_id": run.id} if isinstance(step, str) else None
    result = Runner.run_streamed(loaded.root, step, context=context, run_config=_config(), max_turns=None)
    stopping = False
    async for _ in result.stream_events():
        if not stopping:
            result.cancel(mode="after_turn")
            stopping = True
    if watch.failed or watch.spent:
        raise SegmentDiscarded("A model call failed inside this turn.")
    return result


class SegmentDiscarded(Exception):
    """A turn whose result cannot be trusted, because a model call in it failed."""


def _config() -> RunConfig:
    return RunConfig(
        tracing_disabled=True,
        tool_not_found_behavior="return_error_to_model",
        tool_execution=ToolExecutionConfig(max_function_tool_concurrency=1),
    )


def _out_of_turns(deps: Deps, lease: RunLease, watch: Watch) -> None:
    answer = OUT_OF_TURNS.format(limit=watch.limit)
    deps.store.runs.stop(lease, reason="turn budget", answer=answer)


def _save(deps: Deps, lease: RunLease, saved: Saved, turns: int) -> None:
    _ensure(deps.store.runs.save_turn(lease, state=saved.stored(), turns=turns))


def _ensure(held: bool) -> None:  # noqa: FBT001 - the answer of a fenced verb
    if not held:
        raise LeaseLost


def _text(output: Any) -> str:
    return whole_text(output.model_dump_json() if isinstance(output, BaseModel) else str(output))
