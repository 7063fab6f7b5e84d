"""What the law asks of whoever wants a call back: judged as the worker will, so that nobody is promised too much."""

from datetime import UTC, datetime

from approvals.models import Call
from policies.arguments import ArgumentsRefused, read_arguments
from policies.evaluate import Proposal
from policies.law import Law
from policies.requirement import Requirement
from policies.undoing import undo_requirement


def undo_need(law: Law, call: Call, *, requester: str, now_ms: int) -> Requirement:
    """What taking this call back needs now. What only the worker can still read is held to what was sealed."""
    rule, sealed = law.rules.get(call.tool), call.content
    if rule is None:
        return sealed.requirement
    try:
        proposal = Proposal(
            key=call.key,
            tool=call.tool,
            agent=call.agent,
            args=read_arguments(rule.arguments, sealed.arguments),
            facts=None if sealed.problem else read_arguments(rule.facts, sealed.facts),
            problem=sealed.problem,
            kind="facts" if sealed.problem else None,
        )
    except ArgumentsRefused:  # the worker refuses it, and the thread is told why
        return sealed.requirement
    now = datetime.fromtimestamp(now_ms / 1000, UTC)
    return undo_requirement(law, sealed.requirement, proposal, requester=requester, now=now)
