"""Kills every process at every numbered step of a run, and reads afterwards what became of it.

All runs of `tests/kill_points.py` go through one stack of real processes at the same time; the walks, in which others
than the process at the step die, follow one by one. The tests only look at what is left.
"""

import shutil
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from approvals.ledger import Ledger, LedgerRow
from approvals.lifecycle import RunState, State
from approvals.redis_check import connect
from approvals.store import Store
from approvals.vault import Vault
from crash.driving import EDITED, Driver, Report
from crash.killing import Killer
from effects import effects_of
from kill_points import Plan, Scene, Step, Victim, plans
from reviewing import CHANNEL
from stack import ROOT, Stack, running, until

TENANT = "T0000HOME"
AT_ONCE = 24
PLANS = plans()
CELLS = [(plan, step, victim) for plan in PLANS for step, victims in plan.kills for victim in victims]

every_run = pytest.mark.parametrize("plan", PLANS, ids=[plan.name for plan in PLANS])
every_kill = pytest.mark.parametrize(
    ("plan", "step", "victim"), CELLS, ids=[f"{step}/{victim} in {plan.name}" for plan, step, victim in CELLS]
)


@dataclass(frozen=True)
class Remains:
    """What is left once all runs have ended: reports by plan, the shop, the thread's messages, the ledger."""

    reports: dict[str, Report]
    killed: dict[tuple[str, str], tuple[Victim, ...]]
    attempts: Counter[str]
    effects: dict[str, list[dict[str, Any]]]
    messages: dict[str, list[dict[str, Any]]]
    ledger: dict[str, list[LedgerRow]]
    broken: list[str]

    def of(self, plan: Plan) -> Report:
        """The report of a run that ended."""
        report = self.reports[plan.name]
        assert report.missing is None, report.missing
        return report

    def done(self, key: str) -> list[dict[str, Any]]:
        """The effects that the shop knows of one call."""
        rows = [*self.effects["mails"], *self.effects["deployments"]]
        return [row for row in rows if row["idempotency_key"].endswith(key)]

    def events(self, report: Report) -> list[LedgerRow]:
        """The ledger of one run."""
        return self.ledger[report.run.id] if report.run else []


@pytest.fixture(scope="module")
def remains(request: pytest.FixtureRequest) -> Iterator[Remains]:
    asked = {item.callspec.params["plan"].name for item in request.session.items if _has_plan(item)}
    home = Path(tempfile.mkdtemp(prefix="vobo-"))
    steps = home / "steps"
    extra = {
        "PYTHONPATH": f"{ROOT / 'tests' / 'crash'}:{ROOT}",
        "KILL_POINTS": str(steps),
        "KILL_POINTS_TENANT": TENANT,
        "VOBO_REVIEWERS": _patient_reviewers(home),
    }
    with running(home, extra=extra) as stack, Killer(stack, steps) as killer:
        yield _after(stack, killer, [plan for plan in PLANS if plan.name in asked])
    shutil.rmtree(home, ignore_errors=True)


def _has_plan(item: Any) -> bool:
    return "plan" in getattr(getattr(item, "callspec", None), "params", {})


def _patient_reviewers(home: Path) -> str:
    """The sample's law for people who may be asked a thousand times an hour."""
    law = (ROOT / "policies" / "rules" / "reviewers.toml").read_text()
    path = home / "reviewers.toml"
    path.write_text(law.replace("interruptions_per_hour = 12", "interruptions_per_hour = 1000"))
    return str(path)


def _after(stack: Stack, killer: Killer, asked: list[Plan]) -> Remains:
    client = connect(stack.env["REDIS_URL"])
    store = Store.open(client, Vault.from_text(stack.env["VOBO_STATE_KEYS"]), tenant=TENANT)
    ledger = Ledger.open(stack.env["VOBO_LEDGER_URL"])
    longest_first = sorted(asked, key=lambda plan: -len(plan.kills))
    with ThreadPoolExecutor(AT_ONCE) as pool:
        side_by_side = [plan for plan in longest_first if not plan.alone]
        together = list(pool.map(lambda plan: _driven(stack, store, killer, plan), side_by_side))
    one_by_one = [_driven(stack, store, killer, plan) for plan in longest_first if plan.alone]
    until(lambda: not store.ledger.read(1), "the ledger is drained", 30, stack.home)
    until(lambda: not store.outbox.due(), "nothing is owed to Slack", 30, stack.home)
    messages: dict[str, list[dict[str, Any]]] = {}
    for message in stack.slack.messages(CHANNEL):
        messages.setdefault(message.get("thread_ts") or message["ts"], []).append(message)
    rows: dict[str, list[LedgerRow]] = {}
    for row in ledger.rows(TENANT):
        rows.setdefault(row.body.get("run", ""), []).append(row)
    client.close()
    return Remains(
        reports={report.plan.name: report for report in (*together, *one_by_one)},
        killed=killer.killed,
        attempts=Counter(killer.attempts()),
        effects=effects_of(stack),
        messages=messages,
        ledger=rows,
        broken=ledger.verify(TENANT),
    )


def _driven(stack: Stack, store: Store, killer: Killer, plan: Plan) -> Report:
    began = time.monotonic()
    report = Driver(stack, store, killer, plan).drive()
    if report.overtaken:  # all runs share their processes; a kill that was never made says nothing, so it is made again
        report = Driver(stack, store, killer, plan).drive()
    print(f"{time.monotonic() - began:6.1f} s  {plan.name}  {report.missing or ''}", flush=True)  # noqa: T201 - with -s
    return report


@every_kill
def test_the_victim_was_killed_at_the_step(remains: Remains, plan: Plan, step: Step, victim: Victim) -> None:
    assert victim in remains.killed[remains.of(plan).thread, step.name]


@every_run
def test_an_effect_was_attempted_at_most_once_and_only_if_approved(remains: Remains, plan: Plan) -> None:
    report = remains.of(plan)
    assert report.call
    attempts = remains.attempts[report.call.idempotency_key]
    assert attempts <= 1
    assert len(remains.done(report.call.key)) <= attempts
    assert attempts == 0 or plan.scene is not Scene.REJECT
    for row in remains.done(report.call.key):
        assert plan.scene is Scene.BLIND or row["body"] == (EDITED if plan.scene is Scene.EDIT else plan.name)


@every_run
def test_no_answered_decision_is_lost_and_none_counts_twice(remains: Remains, plan: Plan) -> None:
    report = remains.of(plan)
    kinds = {"approve": {"approved", "approval_counted"}, "reject": {"rejected"}, "edit": {"edited"}}
    for user, verdict in report.said:
        kept = [row for row in remains.events(report) if row.type in kinds[verdict] and row.body.get("actor") == user]
        # An edit is its author's approval of the new version as well.
        assert len(kept) == 1, (user, verdict, [row.type for row in remains.events(report)])


@every_run
def test_an_approved_call_is_not_forgotten_and_what_is_said_of_it_is_true(remains: Remains, plan: Plan) -> None:
    report = remains.of(plan)
    assert report.call
    assert report.call.state in _possible(plan)
    assert (report.call.state is State.SUCCEEDED) == bool(remains.done(report.call.key))


def _possible(plan: Plan) -> set[State]:
    """How a call may end. Only where a process died between intent and effect may an approved one not have run."""
    if plan.scene is Scene.REJECT:
        return {State.REJECTED}
    if plan.undecidable and any(step.name in {"effects.intend:after", "effect:inside"} for step, _ in plan.kills):
        return {State.FAILED}
    return {State.SUCCEEDED}


@every_run
def test_a_call_becomes_unknown_exactly_where_nobody_can_know(remains: Remains, plan: Plan) -> None:
    report = remains.of(plan)
    became = sum(row.type == "unknown" for row in remains.events(report))
    assert became == plan.undecidable
    assert report.was_unknown is (plan.scene is Scene.BLIND)


@every_run
def test_the_run_ends_and_its_thread_has_one_card_one_outcome_and_one_answer(remains: Remains, plan: Plan) -> None:
    report = remains.of(plan)
    assert report.run
    assert report.batch
    assert report.run.state is RunState.COMPLETED
    posted = Counter(_posted_as(message) for message in remains.messages[report.thread])
    wanted = {f"{kind}:{report.run.id}" for kind in ("opening", "outcome", "answer")} | {f"card:{report.batch.id}"}
    # Whoever asked twice, because the bot was dead, may have a second run in the thread.
    assert {name: number for name, number in posted.items() if name in wanted} == dict.fromkeys(wanted, 1)


def _posted_as(message: dict[str, Any]) -> str:
    """The outbox entry a message was posted for; outcomes without their pause."""
    entry = (message.get("metadata") or {}).get("event_payload", {}).get("id", "")
    return str(entry).removesuffix(":1") if str(entry).startswith("outcome:") else str(entry)


def test_the_ledger_is_whole(remains: Remains) -> None:
    assert remains.broken == []
