"""What state something is in, as a clause of a sentence: `Nothing is left to decide here: the call is approved.`"""

from approvals.lifecycle import RunState, State
from approvals.models import Run
from bot.language import say
from bot.text import inert


def call_is(state: str) -> str:
    """A call's state; of what has none (any more), that it is closed."""
    return {
        State.PROPOSED.value: say("the call is only proposed"),
        State.PENDING_REVIEW.value: say("the call is waiting for review"),
        State.APPROVED.value: say("the call is approved"),
        State.EXECUTING.value: say("the call is being executed"),
        State.SUCCEEDED.value: say("the call is done"),
        State.FAILED.value: say("the call has failed"),
        State.UNKNOWN.value: say("nobody knows whether the call took effect"),
        State.REJECTED.value: say("the call is rejected"),
        State.EXPIRED.value: say("the call has expired"),
    }.get(state, say("it is closed"))


def run_is(state: str) -> str:
    """A run's state; of what has none (any more), that it is closed."""
    return {
        RunState.QUEUED.value: say("it waits for a worker"),
        RunState.RUNNING.value: say("it is running"),
        RunState.PAUSED.value: say("it waits for decisions"),
        RunState.READY.value: say("it is about to go on"),
        RunState.RESUMING.value: say("it is going on"),
        RunState.COMPLETED.value: say("it has finished"),
        RunState.STOPPED.value: say("it was stopped"),
        RunState.FAILED.value: say("it has failed"),
    }.get(state, say("it is closed"))


def canceller(run: Run) -> str:
    """Whoever cancelled the run, by name as far as it is known; mrkdwn, empty when nobody did."""
    return inert(run.cancelled_name or run.cancelled_by or "", 80)
