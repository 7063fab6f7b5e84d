"""What an older version left waiting is finished by this one. `tests/snapshots.py` recorded it."""

import asyncio
from pathlib import Path

import pytest
import redis

from approvals.lifecycle import RunState, State, UndoState
from approvals.models import Decision
from bot.rendering import Renderer
from bot.standing import ReviewersLaw
from builders import TENANT
from policies.undoing import people_needed
from refund_desk import BRUNO, OLGA, OMAR, RefundDesk, a_shop
from snapshots import HERE, UNDOABLE, WAITING, load, recorded, restore
from worker import undoing

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
    assert desk.store.undos.ask_for(draft, person=desk.see(OLGA), needed=people_needed(draft.content.requirement)).ok
    asyncio.run(undoing.undo(desk.deps, draft.key))
    (draft,) = desk.calls()
    assert draft.undo
    assert draft.undo.state is UndoState.FAILED, "the shop of this test knows nothing of the draft"


@pytest.mark.parametrize("path", RECORDED, ids=lambda path: path.name.removesuffix(".json.gz"))
def test_what_waited_too_long_for_the_upgrade_expires_and_nothing_of_it_runs(desk: RefundDesk, path: Path) -> None:
    upgraded(desk, path, hours_ago=25)
    for member in desk.store.deadlines.due():
        desk.store.deadlines.apply(member)
    desk.advance()
    assert {call.state for call in desk.calls()} == {State.EXPIRED}
    assert (desk.effects().refunds, desk.effects().mails, desk.effects().deletions) == ([], [], [])
    assert "nobody decided in time" in desk.answer


def test_this_version_leaves_what_it_would_read_back(desk: RefundDesk, redis_client: redis.Redis) -> None:
    now = recorded(redis_client, desk, "next")
    redis_client.flushall()
    restore(redis_client, now, hours_ago=1)
    desk.store.ledger.vouch(desk.store.ledger.server())
    desk.run = WAITING
    assert {call.state for call in desk.calls()} == {State.PENDING_REVIEW}
    assert TENANT not in {key.split(":")[1] for key in now["keys"]}
