"""What an agent is called on a card. A canary's agent is nobody, and its card names the one that other cards name."""

from approvals.models import Call, Run


def of_run(run: Run) -> str:
    """The agent that a run was started with; empty when it was not named."""
    return run.started_as if run.canary else run.agent


def of_call(call: Call) -> str:
    """The agent that asks for a call."""
    return call.canary.agent if call.canary else call.agent
