"""How long the law takes: 1,000 refunds judged as one turn and as turns of eight. Reported, never asserted."""

import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

from rich.console import Console

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "bench")]

from figures import Grid, Section  # noqa: E402 - beside this file

from policies.evaluate import Proposal, evaluate  # noqa: E402 - this checkout, wherever it is started from
from policies.law import load_law  # noqa: E402 - as above
from policies.money import Money  # noqa: E402 - as above
from policies.rules.refunds import RefundFacts, RefundLine, RefundPayments  # noqa: E402 - as above

CALLS = 1000
NOON = datetime(2026, 10, 23, 12, tzinfo=UTC)


def measure() -> Section:
    """Seconds per 1,000 calls, the best of three."""
    law = load_law(["policies.rules"], (ROOT / "policies/rules/reviewers.toml").read_text(encoding="utf-8"))
    calls = [_refund(number) for number in range(CALLS)]

    def judge(turn: int) -> None:
        for at in range(0, CALLS, turn):
            evaluate(law, calls[at : at + turn], requester="U0005", spent={}, vetoes={}, now=NOON)

    grid = Grid((f"{CALLS:,} calls judged", "seconds"))
    for name, turn in (("as one turn", CALLS), ("in turns of 8", 8)):
        grid.add(name, f"{_best(lambda turn=turn: judge(turn)):.3f}")  # type: ignore[misc]  # bound now
    return Section("The law", "Refunds of the sample's rules, pure evaluation, the best of three.", [grid])


def _refund(number: int) -> Proposal:
    payment, amount = f"pay_{number:04d}", Money(minor=199, currency="EUR")
    args = RefundPayments(lines=[RefundLine(payment_id=payment, amount=amount)], reason="failed_capture")
    facts = RefundFacts(customer_of={payment: f"cus_{number:04d}"}, charged={payment: amount})
    return Proposal(f"call_{number}", "refund_payments", "desk", args, facts)


def _best(work: Callable[[], None]) -> float:
    def once() -> float:
        began = time.perf_counter()
        work()
        return time.perf_counter() - began

    return min(once() for _ in range(3))


if __name__ == "__main__":
    measure().show(Console(width=110))
