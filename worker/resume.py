"""The answer to every pending call of a saved state: its envelope, and never an approval.

To the SDK every call is rejected, approved ones too: their effects were run by the gate. Approving would let the SDK
run a tool whose rule has become read-only, or lose the envelope of one that was removed.
"""

from collections.abc import Sequence
from typing import Any

from agents.run_state import RunState

from approvals.lifecycle import State
from approvals.models import Call
from approvals.sealing import intact
from worker.envelope import NotAnswerable, envelope_of
from worker.saved import ResumeRefused


def refuse_changed(calls: Sequence[Call], *, tenant: str, requester: str) -> None:
    """The model may only be told about what was decided and run, as it was sealed.

    Raises:
        ResumeRefused: naming a call whose record was changed since.
    """
    for call in calls:
        # An edit that expired before it was checked was never sealed, and nothing of it ran.
        unsealed = not call.seal and call.state in {State.EXPIRED, State.REJECTED}
        if not unsealed and not intact(call, tenant=tenant, requester=requester):
            raise ResumeRefused(
                f"What is stored about call {call.key} is not what was sealed. Nothing was resumed."
                " Find out who can write to Redis; then close the run and ask again."
            )


def answered(state: "RunState[Any, Any]", calls: Sequence[Call], *, nested: bool) -> None:
    """Answer all pending calls of `state`, in place.

    Raises:
        ResumeRefused: a pending call has no stored call, or one that is still open; nothing was answered then.
    """
    by_id = {call.sdk_id: call for call in calls}
    pending = list(state.get_interruptions())
    envelopes = {str(item.call_id): _envelope(by_id, str(item.call_id)) for item in pending}
    for item in pending:
        message = envelopes[str(item.call_id)]
        context = getattr(state, "_context", None)
        if nested or context is None:
            state.reject(item, rejection_message=message)
        else:
            # The public way copies every pending item for every answer: 300 calls would take a minute.
            context.reject_tool(item, rejection_message=message)


def _envelope(by_id: dict[str, Call], sdk_id: str) -> str:
    call = by_id.get(sdk_id)
    if call is None:
        raise ResumeRefused(
            f"The saved run waits for the call {sdk_id}, which the store does not know. Nothing was resumed."
            " Find out whether Redis was restored from a backup; then close the run and ask again."
        )
    try:
        return envelope_of(call)
    except NotAnswerable as open_call:
        raise ResumeRefused(f"{open_call} The run was woken too early; requeue it when the call is settled.") from None
