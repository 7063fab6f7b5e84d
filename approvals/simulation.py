"""Recorded calls judged again by a changed law, beside what was asked then and what people made of it."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from enum import StrEnum
from itertools import groupby
from typing import Literal, NamedTuple

from approvals.ledger_rows import LedgerRow
from approvals.recordings import Recorded
from policies.blast_radius import group
from policies.budgets import Budgets, cards_left
from policies.evaluate import Proposal, evaluate
from policies.history import keeping
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
    """Every recorded call under `law`, turn by turn, with what its run and the caps had taken up by then.

    `ran` are the calls that had their effect. What followed a person's rejection goes on following it.
    """
    replayed: list[Replayed] = []
    taken = _Taken()
    for members in turns(calls):
        needs = evaluate(
            law,
            [_proposal(law, call) for call in members],
            requester=members[0].requester,
            spent=taken.in_run(members[0]),
            vetoes={},
            caps=taken.of_caps(members[0]),
            now=_moment(members[0]),
        )
        for call, judged in zip(members, needs, strict=True):
            need = keeping(call.requirement, judged)
            replayed.append(Replayed(call, need, verdicts.get(call.call, Verdict.NOBODY)))
            if call.call in ran:
                taken.take(call, need)
    return replayed


def turns(calls: Sequence[Recorded]) -> list[list[Recorded]]:
    """The calls of one pause together, in the order in which they were proposed."""
    ordered = sorted(calls, key=lambda call: (call.at, call.run, call.pause, call.number))
    return [list(turn) for _, turn in groupby(ordered, key=lambda call: (call.at, call.run, call.pause))]


class Cards(NamedTuple):
    """How often people would be asked: cards, and calls for which a run has no card left."""

    cards: int
    refused: int


def cards(budgets: Budgets, needs: Iterable[tuple[Recorded, Requirement]]) -> Cards:
    """The cards that these requirements make, within the budget of each run."""
    need_of = {call.call: (call, need) for call, need in needs}
    used: Counter[str] = Counter()
    refused = 0
    for members in turns([call for call, _ in need_of.values()]):
        found = [(call.call, need_of[call.call][1]) for call in members]
        asked = [(key, need.radius) for key, need in found if need.mode is Mode.HUMAN]
        for each in group(asked, limit=budgets.calls_per_card):
            room = cards_left(budgets, used[members[0].run], 1)
            used[members[0].run] += room
            refused += 0 if room else len(each.keys)
    return Cards(used.total(), refused)


class _Taken:
    """What the runs' sums and the caps hold at a moment of the replay: minor units."""

    def __init__(self) -> None:
        self._runs: dict[str, Counter[tuple[str, str]]] = {}
        self._caps: dict[str, Counter[tuple[str, str, str]]] = {}

    def in_run(self, call: Recorded) -> Counter[tuple[str, str]]:
        """By label and currency."""
        return self._runs.setdefault(call.run, Counter())

    def of_caps(self, call: Recorded) -> Mapping[tuple[str, str, str], int]:
        """By cap, currency and key, in the windows that the call falls into."""
        nothing: Counter[tuple[str, str, str]] = Counter()
        return self._caps.get(_day(call), nothing) + self._caps.get(call.run, nothing)

    def take(self, call: Recorded, need: Requirement) -> None:
        """The call had its effect."""
        self.in_run(call).update({(label, one.currency): one.minor for label, one in need.counts.items()})
        for spending in need.spends:
            held = self._caps.setdefault(_day(call) if spending.window == "day" else call.run, Counter())
            held.update({(spending.cap, one.currency, key): one.minor for key, one in spending.amounts.items()})


def _moment(call: Recorded) -> datetime:
    return datetime.fromtimestamp(call.at / 1000, UTC)


def _day(call: Recorded) -> str:
    """Daily caps count in UTC, as at the gate."""
    return _moment(call).date().isoformat()


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
