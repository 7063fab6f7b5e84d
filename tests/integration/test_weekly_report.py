"""The weekly report from the ledger to the ops channel: its numbers and its picture, each once, whatever is cut off."""

import sys
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest
import redis

from approvals.drain import drain_once
from approvals.ledger import Ledger, LedgerUnreachable
from approvals.outcomes import Outcome
from approvals.store import Store
from approvals.weekly import KEPT_MS, MOST_BYTES
from bot_office import OPS, Json, Office
from builders import TENANT, a_call, paused
from ledger_months import DAY, Months
from worker.weekly import LOOK_EVERY_MS, Weekly

MONDAY = datetime(2026, 11, 23, tzinfo=UTC)
WEEK = "2026-W48"


def fill(ledger: Ledger, tenant: str = TENANT) -> None:
    ledger.append(tenant, [(row.event_id, row.body) for row in Months().fill(40)])


def weekly(store: Store, ledger: Ledger) -> Weekly:
    return Weekly(store, lambda: ledger, "UTC", "clock-1", store.now)


def test_the_numbers_are_of_the_week_and_the_suggestions_of_the_longer_record(store: Store, ledger: Ledger) -> None:
    fill(ledger)
    assert weekly(store, ledger).make(MONDAY)
    numbers = store.weekly.numbers(WEEK)
    assert numbers is not None
    begin, end = int(MONDAY.timestamp() * 1000), int(MONDAY.timestamp() * 1000) + 7 * DAY
    rows = ledger.rows(TENANT, types=("run_started",), since=begin, until=end)
    assert numbers.runs == len(rows) > 0
    assert any(text.startswith("deploy: all") for text in numbers.suggestions)
    assert numbers.picture
    assert (store.weekly.picture(WEEK) or b"").startswith(b"\x89PNG")
    assert {entry.id for entry in store.outbox.due()} == {f"report:{WEEK}", f"picture:{WEEK}"}


def test_a_week_is_owed_once_for_ever(store: Store, ledger: Ledger, redis_client: redis.Redis) -> None:
    fill(ledger)
    assert weekly(store, ledger).make(MONDAY)
    numbers = store.weekly.numbers(WEEK)
    assert numbers is not None
    assert store.weekly.owe(numbers.model_copy(update={"asked": 0}), None).outcome is Outcome.REPEATED
    assert store.weekly.numbers(WEEK) == numbers
    assert not store.weekly.lease(WEEK, "clock-2")
    redis_client.delete(store.keys.report(WEEK))
    assert store.weekly.owe(numbers, None).outcome is Outcome.REPEATED, "also once it is no longer kept"


def test_one_clock_makes_it_while_another_looks_on(store: Store) -> None:
    assert store.weekly.lease(WEEK, "clock-1")
    assert not store.weekly.lease(WEEK, "clock-2")


def test_what_is_kept_is_encrypted_small_and_gone_after_some_days(
    store: Store, ledger: Ledger, redis_client: redis.Redis
) -> None:
    fill(ledger)
    weekly(store, ledger).make(MONDAY)
    stored = redis_client.hgetall(store.keys.report(WEEK))
    assert b"refund_payments" not in stored[b"numbers"]
    assert not stored[b"picture"].startswith(b"\x89PNG")
    assert 0 < redis_client.pttl(store.keys.report(WEEK)) <= KEPT_MS


def test_too_large_a_picture_is_left_out_and_the_message_says_that_there_is_none(store: Store, ledger: Ledger) -> None:
    fill(ledger)
    weekly(store, ledger).make(MONDAY)
    numbers = store.weekly.numbers(WEEK)
    assert numbers is not None
    assert store.weekly.owe(numbers.model_copy(update={"week": "2026-W49"}), b"x" * (MOST_BYTES + 1)).ok
    later = store.weekly.numbers("2026-W49")
    assert later is not None
    assert not later.picture
    assert store.weekly.picture("2026-W49") is None
    assert "picture:2026-W49" not in {entry.id for entry in store.outbox.due()}


def test_without_the_plotting_library_the_numbers_are_told_alone(
    store: Store, ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(ledger)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert weekly(store, ledger).make(MONDAY)
    numbers = store.weekly.numbers(WEEK)
    assert numbers is not None
    assert not numbers.picture


def test_a_week_before_the_ledger_began_has_no_report(store: Store, ledger: Ledger) -> None:
    assert not weekly(store, ledger).make(MONDAY)
    assert store.outbox.due() == []


def test_a_week_whose_events_still_wait_for_the_database_waits_too(store: Store, ledger: Ledger) -> None:
    fill(ledger)
    paused(store, a_call("call_1"))
    now = datetime.fromtimestamp(store.now() / 1000, UTC)
    assert not weekly(store, ledger).make(now.replace(hour=0, minute=0, second=0, microsecond=0))
    while drain_once(store, ledger):  # it freezes what the made-up ledger knows better, which is an event too
        continue
    assert weekly(store, ledger).make(now.replace(hour=0, minute=0, second=0, microsecond=0))


def test_the_clock_makes_it_when_it_is_due_and_a_failure_does_not_end_the_clock(store: Store, ledger: Ledger) -> None:
    fill(ledger)
    instant = [int(datetime(2026, 11, 30, 8, 59, tzinfo=UTC).timestamp() * 1000)]
    away = [True]

    def door() -> Ledger:
        if away:
            raise LedgerUnreachable("no database")
        return ledger

    clock = Weekly(store, door, "UTC", "clock-1", lambda: instant[0])
    assert clock() == 0
    assert store.weekly.client.exists(store.keys.report_lease(WEEK)) == 0, "not due yet"
    instant[0] += LOOK_EVERY_MS
    assert clock() == 0
    clock.wait(20)
    assert store.outbox.due() == []
    away.clear()
    instant[0] += LOOK_EVERY_MS
    assert clock() == 0
    clock.wait(20)
    assert store.outbox.due() == [], "another try only once the lease is over"
    store.weekly.client.delete(store.keys.report_lease(WEEK))
    instant[0] += LOOK_EVERY_MS
    assert clock() == 0
    clock.wait(20)
    assert f"report:{WEEK}" in {entry.id for entry in store.outbox.due()}


@pytest.fixture
def made(office: Office, tmp_path: Path) -> Callable[[], None]:
    """Makes the report of a week as a clock does; the office's bot sends it."""

    def make() -> None:
        ledger = Ledger.open(f"sqlite:///{tmp_path / 'ledger.db'}")
        fill(ledger, office.store.tenant)
        assert weekly(office.store, ledger).make(MONDAY)
        ledger.engine.dispose()

    return make


def reports(office: Office) -> list[Json]:
    title = f"Approvals of week {WEEK}"
    return [one for one in office.slack.messages(OPS) if title in one["text"] and not one.get("files")]


def pictures(office: Office) -> list[Json]:
    (report,) = office.until(lambda: reports(office), "the numbers are told")
    thread = office.slack.messages(OPS, report["ts"])
    return [file for message in thread for file in message.get("files") or []]


def look_again(office: Office) -> None:
    """As a minute later."""
    office.client.zadd(office.store.keys.outbox, {f"picture:{WEEK}": 0})


def settled(office: Office) -> None:
    office.until(lambda: not office.store.outbox.due(), "nothing is owed")
    office.until(lambda: office.store.outbox.load(f"picture:{WEEK}").delivered, "the picture is delivered")  # type: ignore[union-attr]


def test_ops_reads_the_numbers_and_sees_the_picture_below_them(office: Office, made: Callable[[], None]) -> None:
    made()
    (picture,) = office.until(lambda: pictures(office), "the picture is shown")
    assert picture["name"] == f"approvals-{WEEK}.png"
    assert "refund_payments: " in picture["alt_txt"], "in words for whoever does not see it"
    (report,) = reports(office)
    assert "approved with edits" in report["text"]
    settled(office)


@pytest.mark.parametrize("kind", ["cut_after", "cut_before"])
@pytest.mark.parametrize("method", ["files.getUploadURLExternal", "files.completeUploadExternal"])
def test_a_connection_cut_during_the_upload_leaves_one_picture(
    office: Office, made: Callable[[], None], method: str, kind: str
) -> None:
    office.slack.fault(method, kind)
    made()
    office.until(lambda: _put_off(office), "the upload was cut, and is looked for in a minute")
    look_again(office)
    settled(office)
    assert len(pictures(office)) == 1
    assert len(reports(office)) == 1


def _put_off(office: Office) -> bool:
    again = office.client.zscore(office.store.keys.outbox, f"picture:{WEEK}")
    return again is not None and again > office.store.now() + 30_000


def test_a_bot_killed_between_upload_and_receipt_finds_the_picture_again(
    office: Office, made: Callable[[], None]
) -> None:
    made()
    settled(office)
    entry = f"picture:{WEEK}"
    office.client.hset(office.store.keys.entry(entry), mapping={"sending": "1", "delivered": "0"})
    office.client.hdel(office.store.keys.entry(entry), "ts", "channel")
    look_again(office)
    settled(office)
    assert len(pictures(office)) == 1


def test_a_missing_scope_is_told_to_ops_and_the_numbers_stand(office: Office, made: Callable[[], None]) -> None:
    office.slack.fault("files.getUploadURLExternal", "error", error="missing_scope")
    made()
    office.until(lambda: reports(office), "the numbers are told")
    office.until(lambda: "missing_scope" in str(office.slack.messages(OPS)), "ops is told what is missing")
    assert pictures(office) == []


def test_a_report_that_is_too_old_to_be_told_is_dropped_in_silence(office: Office, made: Callable[[], None]) -> None:
    office.slack.remove_bot(OPS)
    made()
    office.until(lambda: office.store.outbox.load(f"report:{WEEK}").attempts, "it was tried")  # type: ignore[union-attr]
    office.client.delete(office.store.keys.report(WEEK))
    for kind in ("report", "picture"):
        office.client.zadd(office.store.keys.outbox, {f"{kind}:{WEEK}": 0})
    office.slack.remove_bot(OPS, removed=False)
    office.until(lambda: office.client.zscore(office.store.keys.outbox, f"picture:{WEEK}") is None, "it is dropped")
    assert reports(office) == []
