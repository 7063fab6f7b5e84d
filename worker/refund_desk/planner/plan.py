"""What to do next, worked out anew from the whole conversation each time: look up, propose, correct once, report."""

from worker.refund_desk.planner.account import account, not_understood
from worker.refund_desk.planner.conversation import Conversation
from worker.refund_desk.planner.corrections import corrections
from worker.refund_desk.planner.findings import Findings
from worker.refund_desk.planner.proposals import GATED, proposals
from worker.refund_desk.planner.steps import Calls, Say, ToolCall
from worker.refund_desk.planner.wishes import read_request


def next_step(conversation: Conversation, tools: frozenset[str]) -> Calls | Say:
    """The next turn, with these tools at hand."""
    wanted = read_request(conversation.request)
    if not wanted.texts:
        return Say(not_understood(conversation.request))
    findings = Findings(conversation, wanted)
    lookups = _at_hand(findings.missing(), tools)
    if lookups:
        return Calls(lookups)
    proposed = proposals(findings)
    if not conversation.of(*GATED):
        calls = _at_hand(proposed.calls, tools)
        if calls:
            return Calls(calls, " ".join(proposed.why))
    again = _at_hand(corrections(conversation), tools)
    if again:
        return Calls(again, "The same once more, with what was named changed.")
    return Say(account(findings, proposed, toolless=not tools))


def _at_hand(calls: tuple[ToolCall, ...], tools: frozenset[str]) -> tuple[ToolCall, ...]:
    return tuple(call for call in calls if call.tool in tools)
