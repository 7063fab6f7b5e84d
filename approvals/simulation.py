"""Recorded calls judged again by a changed law, beside what was asked then and what people made of it."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from enum import StrEnum
from itertools import groupby
from typing import Literal, NamedTuple

from approvals.ledger_rows import LedgerRow
from approvals.recordings import Recorded
from policies.evaluate import Proposal, evaluate
from policies.law import Law
from policies.requirement import Requirement
from policies.reread import reread
from policies.risk import Mode


class Verdict(StrEnum):
    """What people made of a call."""

    APPROVED = "approved"
    EDITED = "edited"
    REJECTED = "rejected"
    NOBODY = "not decided"


class Replayed(NamedTuple):
    """One call under both laws."""

    call: Recorded
    now: Requirement
    verdict: Verdict

    @property
    def was(self) -> Requirement:
        """What was asked then."""
        return self.call.requirement

    @property
    def let_through(self) -> bool:
        """A person rejected or changed it, and now nobody would be asked."""
        return self.now.mode is Mode.AUTO and self.verdict in {Verdict.REJECTED, Verdict.EDITED}


def replay(law: Law, calls: Sequence[Recorded], verdicts: Mapping[str, Verdict], ran: set[str]) -> list[Replayed]:
    """Every recorded call under `law`, turn by turn, with what its run had taken up by then.

    `ran` are the calls that had their effect. Vetoes and budgets of then are left out: a law does not decide them.
    """
    replayed: list[Replayed] = []
    spent: dict[str, Counter[tuple[str, str]]] = {}
    ordered = sorted(calls, key=lambda call: (call.run, call.pause, call.number))
    for (run, _), turn in groupby(ordered, key=lambda call: (call.run, call.pause)):
        members = list(turn)
        counts = spent.setdefault(run, Counter())
        needs = evaluate(
            law,
            [_proposal(law, call) for call in members],
            requester=members[0].requester,
            spent=counts,
            vetoes={},
            now=datetime.fromtimestamp(members[0].at / 1000, UTC),
        )
        for call, need in zip(members, needs, strict=True):
            replayed.append(Replayed(call, need, verdicts.get(call.call, Verdict.NOBODY)))
            if call.call in ran:
                counts.update({(label, amount.currency): amount.minor for label, amount in need.counts.items()})
    return replayed


def replayable(call: Recorded) -> bool:
    """Whether a law alone decided what was asked then."""
    return call.cause != "veto" and not call.requirement.vetoed


def verdicts_of(rows: Iterable[LedgerRow]) -> tuple[dict[str, Verdict], set[str]]:
    """What people decided, and which calls had their effect, from the ledger."""
    found: dict[str, Verdict] = {}
    ran: set[str] = set()
    for row in rows:
        key, person = row.body.get("call", ""), row.body.get("actor", "") not in {"", "policy"}
        if row.type == "succeeded":
            ran.add(key)
        if row.type == "edited":
            found[key] = Verdict.EDITED
        elif row.type == "rejected" and person:
            found[key] = Verdict.REJECTED
        elif row.type == "approved" and person:
            found.setdefault(key, Verdict.APPROVED)
    return found, ran


def _proposal(law: Law, call: Recorded) -> Proposal:
    kind: Literal["facts", "arguments"] = "facts" if call.requirement.mode is Mode.HUMAN else "arguments"
    return reread(law, call.call, call.tool, call.agent, call.requested, call.facts, call.problem, kind)
