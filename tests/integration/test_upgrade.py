"""What an older version left waiting is finished by this one. `tests/snapshots.py` recorded it."""

import asyncio
import json
from pathlib import Path

import pytest
import redis
from sqlalchemy.orm import Session

from approvals.lifecycle import RunState, State, UndoState
from approvals.models import Call, Decision
from bot.rendering import Renderer
from bot.standing import ReviewersLaw
from builders import TENANT
from policies.rules.reports import DraftRefundReport
from policies.undoing import people_needed
from refund_desk import BRUNO, OLGA, OMAR, RefundDesk, a_shop
from snapshots import HERE, UNDOABLE, WAITING, load, recorded, restore
from worker import undoing
from worker.refund_desk.shop import reports
from worker.refund_desk.shop.reports import ReportReceipt

RECORDED = sorted(HERE.glob("*.json.gz"))


@pytest.fixture
def desk(redis_client: redis.Redis, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> RefundDesk:
    url = f"sqlite:///{tmp_path}/shop.db"
    monkeypatch.setenv("VOBO_SHOP_URL", url)
    return RefundDesk(redis_client, a_shop(url))


def upgraded(desk: RefundDesk, path: Path, *, hours_ago: float = 0) -> RefundDesk:
    """This version opens what that one left."""
    restore(desk.store.runs.client, load(path), hours_ago=hours_ago)
    desk.store.ledger.vouch(desk.store.ledger.server())
    return desk


def remember(desk: RefundDesk, draft: Call) -> None:
    """The shop as it was when the older version had drafted the report: a snapshot holds the store alone."""
    args = DraftRefundReport.model_validate_json(draft.content.arguments)
    told = json.loads(draft.receipt or "null")

    def again(session: Session, _: str) -> ReportReceipt:
        return reports.draft(session, draft.idempotency_key, title=args.title, body=args.body, at=told["at"])

    made = desk.shop.once(draft.idempotency_key, draft.tool, args, again, ReportReceipt)
    assert made.model_dump() == told


def test_a_version_was_recorded() -> None:
    assert RECORDED, "record one with `python tests/snapshots.py VERSION`"


@pytest.mark.parametrize("path", RECORDED, ids=lambda path: path.name.removesuffix(".json.gz"))
def test_a_run_paused_by_an_older_version_is_decided_carried_out_and_finished(desk: RefundDesk, path: Path) -> None:
    upgraded(desk, path)
    assert {call.state for call in desk.calls()} == {State.PENDING_REVIEW}
    seals = {call.key: call.seal for call in desk.calls()}
    desk.decide("refund_payments", "approve", OLGA)
    desk.decide("send_email", "approve", BRUNO)
    for call in [call for call in desk.calls() if call.tool == "delete_customers"]:
        decision = Decision(call=call.key, version=1, verdict="reject", reviewer=OMAR, name=OMAR, reason="not today")
        assert desk.store.calls.reject(call.key, version=1, decision=decision, person=desk.see(OMAR)).ok
    desk.advance()
    run = desk.store.runs.load(WAITING)
    assert run
    assert run.state is RunState.COMPLETED, run.reason
    done = desk.effects()
    assert (len(done.refunds), sum(refund.minor for refund in done.refunds)) == (38, 412_000)
    assert (len(done.mails), done.deletions) == (36, [])
    assert {call.key: call.seal for call in desk.calls()} == seals, "nothing had to be sealed anew"
    assert [one.reviewer for one in desk.of("refund_payments").decisions] == [BRUNO, OLGA]
    desk.advance()
    assert len(desk.effects().refunds) == 38


@pytest.mark.parametrize("path", RECORDED, ids=lambda path: path.name.removesuffix(".json.gz"))
def test_everything_an_older_version_owed_to_slack_can_be_rendered(desk: RefundDesk, path: Path) -> None:
    upgraded(desk, path)
    law = ReviewersLaw(desk.law.reviewers, lambda: desk.law.reviewers, desk.law.version)
    owed = desk.store.outbox.due()
    assert len(owed) >= 7
    shown = [Renderer(desk.store, law, "C_OPS").render(entry) for entry in owed]
    assert [entry.id for entry, message in zip(owed, shown, strict=True) if message is None] == []
    assert sum("Refund 38 payments, 4,120.00 EUR" in str(one) for one in shown) == 1


@pytest.mark.parametrize("path", RECORDED, ids=lambda path: path.name.removesuffix(".json.gz"))
def test_what_an_older_version_did_can_be_undone(desk: RefundDesk, path: Path) -> None:
    upgraded(desk, path)
    desk.run = UNDOABLE
    (draft,) = desk.calls()
    remember(desk, draft)
    assert desk.store.undos.ask_for(draft, person=desk.see(OLGA), needed=people_needed(draft.content.requirement)).ok
    asyncio.run(undoing.undo(desk.deps, draft.key))
    (draft,) = desk.calls()
    assert draft.undo
    assert draft.undo.state is UndoState.UNDONE, draft.undo.reason
    (report,) = desk.effects().reports
    assert report.idempotency_key == draft.idempotency_key
    assert report.withdrawn_at


@pytest.mark.parametrize("path", RECORDED, ids=lambda path: path.name.removesuffix(".json.gz"))
def test_what_waited_too_long_for_the_upgrade_expires_and_nothing_of_it_runs(desk: RefundDesk, path: Path) -> None:
    upgraded(desk, path, hours_ago=25)
    for member in desk.store.deadlines.due():
        desk.store.deadlines.apply(member)
    desk.advance()
    assert {call.state for call in desk.calls()} == {State.EXPIRED}
    assert (desk.effects().refunds, desk.effects().mails, desk.effects().deletions) == ([], [], [])
    assert "Nobody decided in time" in desk.answer


@pytest.mark.parametrize("path", RECORDED, ids=lambda path: path.name.removesuffix(".json.gz"))
def test_what_an_older_version_left_is_forgotten_with_its_run(desk: RefundDesk, path: Path) -> None:
    upgraded(desk, path, hours_ago=25)
    store, client = desk.store, desk.store.runs.client
    for member in store.deadlines.due():
        store.deadlines.apply(member)
    desk.advance()
    names = [WAITING, *(call.key for call in desk.calls()), *(call.batch for call in desk.calls())]
    assert named_in_keys(client, names) != []
    store.ledger.drop([event for event, _ in store.ledger.read(1000)])
    client.zadd(store.keys.deadlines, {f"retire:{WAITING}": 1})
    assert store.deadlines.apply(f"retire:{WAITING}").ok
    assert named_in_keys(client, names) == []


def named_in_keys(client: redis.Redis, names: list[str | None]) -> list[str]:
    keys = [key.decode() for key in client.scan_iter(count=1000)]
    return [key for key in keys if any(name and name in key for name in names)]


def test_this_version_leaves_what_it_would_read_back(desk: RefundDesk, redis_client: redis.Redis) -> None:
    now = recorded(redis_client, desk, "next")
    redis_client.flushall()
    restore(redis_client, now, hours_ago=1)
    desk.store.ledger.vouch(desk.store.ledger.server())
    desk.run = WAITING
    assert {call.state for call in desk.calls()} == {State.PENDING_REVIEW}
    assert TENANT not in {key.split(":")[1] for key in now["keys"]}
