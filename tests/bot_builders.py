"""Cards' worth of calls, each field open to change."""

from typing import Any

from approvals.lifecycle import RunState, State
from approvals.models import Batch, BatchView, Call, CallContent, Decision, PauseView, Run
from approvals.preview import Precondition, Preview
from bot.standing import Addressed
from policies.money import Money
from policies.requirement import Requirement

NOW = 1_780_000_000_000


class AnyLaw:
    """A law for rendering: billing decides."""

    version = ""

    def who(self, requirement: Requirement) -> str:
        return f"To decide: {requirement.tier}: Bruno or Olga."

    def addressed(self, requirement: Requirement, *, escalated: bool = False) -> Addressed:  # noqa: ARG002 - as above
        return Addressed(("U0001", "U0002"), ("S_BILLING",))

    def switches(self) -> str:
        return ""


def a_requirement(**changes: Any) -> Requirement:
    fields = {
        "radius": "refunds in EUR",
        "tier": "billing",
        "amount": Money(minor=31240, currency="EUR"),
        "reasons": ("over 250.00: two different reviewers",),
        "ttl_s": 900,
        "lapse_s": 600,
    }
    return Requirement(**{**fields, **changes})


def a_preview(**changes: Any) -> Preview:
    row = {"payment": "pay_0009", "customer": "anna@example.test", "amount": "312.40 EUR"}
    fields = {
        "headline": "Refund 1 payment, 312.40 EUR",
        "impact": ("1 customer", "0 already disputed"),
        "columns": ("payment", "customer", "amount"),
        "sample": (row,),
        "rows": (row,),
        "personal": ("customer",),
        "precondition": Precondition(sentence="pay_0009 has failed and was not refunded", rows={}),
    }
    return Preview(**{**fields, **changes})


def a_content(**changes: Any) -> CallContent:
    text = '{"lines":[{"payment_id":"pay_0009","amount":{"minor":31240,"currency":"EUR"}}],"reason":"failed"}'
    fields = {
        "requested": text,
        "arguments": text,
        "requirement": a_requirement(),
        "preview": a_preview(),
        "agent_version": "1",
        "tool_schema": "schema",
        "reason": "The customer paid twice.",
    }
    return CallContent(**{**fields, **changes})


def a_call(number: int = 1, state: State = State.PENDING_REVIEW, **changes: Any) -> Call:
    fields = {
        "key": f"call_{number:012d}",
        "run": "run_1",
        "batch": "batch_a",
        "pause": 1,
        "number": number,
        "sdk_id": f"sdk{number}",
        "agent": "desk",
        "tool": "refund_payments",
        "state": state,
        "version": 1,
        "content": a_content(),
        "seal": f"{number:02d}" * 32,
    }
    return Call(**{**fields, **changes})


def a_decision(call: Call, verdict: str = "approve", **changes: Any) -> Decision:
    fields = {
        "call": call.key,
        "version": call.version,
        "verdict": verdict,
        "reviewer": "U0001",
        "name": "Bruno Billing",
        "at": NOW,
    }
    return Decision(**{**fields, **changes})


def decided(call: Call, state: State, *decisions: Decision, **changes: Any) -> Call:
    return call.model_copy(update={"state": state, "decisions": decisions, **changes})


def a_run(**changes: Any) -> Run:
    fields = {
        "id": "run_1",
        "state": RunState.PAUSED,
        "request": "refund yesterday's failed payments",
        "requester": "U0005",
        "channel": "C_REFUNDS",
        "thread_ts": "1780000000.000100",
        "agent": "desk",
        "created_at": NOW,
    }
    return Run(**{**fields, **changes})


def a_view(*calls: Call, run: Run | None = None, **changes: Any) -> BatchView:
    fields = {
        "id": "batch_a",
        "run": "run_1",
        "pause": 1,
        "radius": "refunds in EUR",
        "number": 1,
        "calls": tuple(call.key for call in calls),
        "generation": 3,
        "ttl_s": 900,
        "lapse_s": 600,
        "decide_by": NOW + 900_000,
        "posted_at": NOW,
        "channel": "C_REFUNDS",
        "ts": "1780000000.000200",
    }
    return BatchView(run=run or a_run(), batch=Batch(**{**fields, **changes}), calls=calls, now=NOW)


def a_pause(*calls: Call) -> PauseView:
    return PauseView(run=a_run(), pause=1, calls=calls, now=NOW)
