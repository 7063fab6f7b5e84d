"""Whose words stand in the screens of the tests: people's ordinary ones, or one hostile text in place of each."""

from dataclasses import dataclass
from typing import Any

from approvals.lifecycle import Cause, State
from approvals.models import Call, Run
from approvals.preview import Precondition
from bot_builders import NOW, a_call, a_content, a_decision, a_preview, a_requirement, a_run, decided
from policies.requirement import Requirement


@dataclass(frozen=True)
class Words:
    """`hostile` takes the place of every text that a model, a customer's data or a person wrote."""

    hostile: str | None = None

    def of(self, own: str) -> str:
        """This text, or the hostile one."""
        return own if self.hostile is None else self.hostile

    def must(self, own: str) -> str:
        """The same where the state of record never holds an empty text."""
        return self.of(own) or "-"

    def run(self, **changes: Any) -> Run:
        """A run somebody asked for."""
        fields = {"request": self.of("refund yesterday's failed payments"), "agent": self.must("desk")}
        return a_run(**{**fields, **changes})

    def requirement(self, **changes: Any) -> Requirement:
        """What the law says; its reasons may quote arguments."""
        fields = {
            "radius": self.must("refunds in EUR"),
            "reasons": (self.of("over 250.00: two different reviewers"),),
            "resources": (self.must("pay_0009"),),
            "undo": None if self.hostile is None else self.hostile,
            "law": "a" * 64,
        }
        return a_requirement(**{**fields, **changes})

    def content(self, **changes: Any) -> Any:
        """Everything a reviewer could read of a call."""
        row = {self.must("payment")[:200]: self.of("pay_0009"), "customer": self.of("anna@example.test")}
        preview = a_preview(
            headline=self.must("Refund 1 payment, 312.40 EUR"),
            impact=(self.of("1 customer"), self.of("0 already disputed")),
            columns=() if self.hostile is not None else ("payment", "customer"),
            sample=(row,) * 5,
            rows=(row,) * 38,
            body=self.of("Dear customer, your payment failed and is given back."),
            details=(self.of("a line more"),),
            precondition=Precondition(
                sentence=self.of("38 failed payments, 4,120.00 EUR"), rows={self.must("pay_0009"): row}
            ),
        )
        fields = {
            "preview": preview,
            "requirement": self.requirement(),
            "reason": self.of("The customer paid twice."),
            "lookups": (self.of("find_payments: 38 rows"),),
        }
        if self.hostile is not None:
            fields |= {"requested": self.hostile, "arguments": self.hostile, "facts": self.hostile}
        return a_content(**{**fields, **changes})

    def call(self, number: int = 1, state: State = State.PENDING_REVIEW, **changes: Any) -> Call:
        """One call, whoever wrote its words."""
        fields = {
            "content": self.content(),
            "tool": self.must("refund_payments"),
            "agent": self.must("desk"),
            "reason": self.of("the provider said no"),
        }
        return a_call(number, state, **{**fields, **changes})

    def ended(self, number: int, state: State, cause: Cause | None = None, **changes: Any) -> Call:
        """A call that somebody decided, as it stands since."""
        call = self.call(number)
        verdict = "reject" if state is State.REJECTED else "approve"
        said = a_decision(call, verdict, name=self.must("Bruno Billing"), reason=self.of("wrong customer"))
        instants = {"claimed_at": NOW + 1_000, "ended_at": NOW + 61_000, "cause": cause}
        return decided(call, state, said, **{**instants, **changes})
