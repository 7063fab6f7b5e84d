"""What `vobo doctor` looks at itself: the server, the keys, the ledger, and whether anything waits that should not."""

import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime

import redis
from sqlalchemy import insert
from sqlalchemy.exc import SQLAlchemyError

from approvals import codec
from approvals.certificates import certificate
from approvals.errors import ApprovalsError
from approvals.findings import Finding, failure, fine, warning
from approvals.installed_check import app_installed
from approvals.key_use import keys_needed
from approvals.ledger_opening import ledger_of
from approvals.ledger_stream import EventsWait
from approvals.ledger_tables import HEADS
from approvals.opening import Opened
from approvals.redis_check import server_in_words
from approvals.settings import Settings
from approvals.store import Store
from approvals.store_checks import store_checks
from approvals.stuck import OpenRun, open_alerts, open_runs, stuck_runs
from approvals.tallies import Reading
from approvals.vault import Binding

#: Seconds by which this machine's clock may differ from the store's: noticed, and no longer tolerated.
DRIFT_S, GREAT_DRIFT_S = 2.0, 60.0
#: What waits longer was seen by nobody: a living relay, clock or drainer takes a second or two.
LATE_MS = 60_000
_SHOWN = 20


def checkup(settings: Settings, opened: Opened, clock: Callable[[], float] = time.time) -> Iterator[Finding]:
    """Every finding about an open store. `clock` tells this machine's seconds since 1970."""
    store = opened.store
    yield (
        fine("redis", f"{server_in_words(store.runs.client)}.")
        if not opened.warnings
        else warning("redis", " ".join(opened.warnings))
    )
    yield from certificate(store.runs.client, store.now())
    yield from store_checks(store)
    yield drift("this machine's clock", store.now() / 1000, clock())
    yield ledger_writable(settings, store)
    yield from undrained(store)
    runs = open_runs(store.runs)
    yield oldest_readable(store, runs)
    yield from keys_needed(settings, store.runs.client, opened.vault)
    yield from app_installed(store)
    yield from stuck(store, runs)
    yield from dead_letters(store)
    yield from backlogs(store.tallies.read(), store)


def drift(whose: str, here: float, there: float) -> Finding:
    """How far another clock (`there`, seconds) is from the store's (`here`), which alone decides deadlines."""
    apart = abs(here - there)
    said = f"The store's clock and {whose} are {apart:.1f} s apart."
    if apart < DRIFT_S:
        return fine("clock", said)
    level = failure if apart >= GREAT_DRIFT_S else warning
    return level("clock", said, "Let both machines follow NTP; deadlines are always the store's.")


def ledger_writable(settings: Settings, store: Store) -> Finding:
    """Whether it is the ledger that events were handed over to. Writes a row into it and takes it back."""
    try:
        engine = ledger_of(settings.ledger_url, store).engine
        with engine.connect() as connection:
            connection.execute(insert(HEADS).values(tenant="vobo-doctor", seq=0, hash=""))
            connection.rollback()
    except ApprovalsError as refused:
        return failure("ledger", str(refused))
    except SQLAlchemyError as refused:
        return failure(
            "ledger",
            f"The ledger cannot be written ({type(refused).__name__}), so its events stay in Redis.",
            "Check VOBO_LEDGER_URL, the rights of its user, and the disk.",
        )
    return fine("ledger", f"The ledger can be written ({engine.dialect.name}).")


def undrained(store: Store) -> Iterator[Finding]:
    """Whether what waits for the ledger needs a key that is not configured here."""
    lacking = next((key for key in store.ledger.needed() if key not in store.runs.vault.key_ids), None)
    if lacking is not None:
        yield failure("ledger", str(EventsWait(lacking)))


def oldest_readable(store: Store, runs: list[OpenRun]) -> Finding:
    """The oldest open run opens with the keys at hand. It is read past the store, which would tell ops otherwise."""
    if not runs:
        return fine("keys", "VOBO_STATE_KEYS can be used; no run is open that they would have to read.")
    oldest, room = runs[0].id, store.runs
    blob = room.row(store.keys.run(oldest)).blob("request") or b""
    try:
        room.vault.open_blob(blob, Binding(room.tenant, codec.REQUEST, oldest, 0))
    except ApprovalsError as refused:
        return failure("keys", str(refused))
    return fine("keys", f"VOBO_STATE_KEYS can be used, and read the oldest of {len(runs)} open runs.")


def stuck(store: Store, runs: list[OpenRun]) -> Iterator[Finding]:
    """Open runs that are older than their last deadline."""
    found = list(stuck_runs(store.runs, runs))
    for one in found[:_SHOWN]:
        since = f"its last deadline was {_at(one.since)}" if one.since else "it has no deadline"
        yield failure(
            "runs",
            f"The run {one.run} is {one.state}, {since}, and nothing will move it.",
            f"See that a clock runs (python -m worker.clock). If it stays, `vobo show {one.run}` tells its story;"
            " cancel it in its thread and ask again.",
        )
    if len(found) > _SHOWN:
        yield failure("runs", f"{len(found) - _SHOWN} more runs are stuck like these.")
    if not found:
        yield fine("runs", f"{len(runs)} runs are open, and each has something that will move it.")


def dead_letters(store: Store) -> Iterator[Finding]:
    """What ops was told and nobody has closed, and a freeze."""
    frozen = store.switches.frozen()
    if frozen:
        yield failure(
            "freeze", f"Nothing is executed: {frozen}.", "See docs/operations.md, then `vobo unfreeze --reconciled`."
        )
    alerts = [subject for subject in open_alerts(store.runs) if not subject.startswith("switch")]
    if alerts:
        some = ", ".join(alerts[:_SHOWN]) + (", ..." if len(alerts) > _SHOWN else "")
        yield warning(
            "dead letters", f"{len(alerts)} matters wait for ops: {some}.", "Settle or close them in the ops channel."
        )
    else:
        yield fine("dead letters", "Nothing waits for ops.")


def backlogs(now: Reading, store: Store) -> Iterator[Finding]:
    """Whether bot, worker and clock are seen to be at work."""
    late = (
        ("clock", now.deadline_lag_ms, "No clock applies deadlines", "Start one: python -m worker.clock."),
        (
            "bot",
            now.relay_lag_ms,
            "Messages to Slack are not delivered",
            "Start a bot: python -m bot; its log says what Slack says.",
        ),
        (
            "ledger",
            now.ledger_lag_ms,
            "Nobody drains the ledger",
            "Start a clock; its log says what the database says.",
        ),
        ("worker", _wakeup_lag(store), "Nobody hints workers at what waits", "Start a clock: python -m worker.clock."),
    )
    for about, lag_ms, what, fix in late:
        if lag_ms > LATE_MS:
            yield failure(about, f"{what}: the oldest has waited {lag_ms // 1000} s.", fix)
    if now.frozen and store.switches.frozen() is None:
        yield failure(
            "clock",
            "Nothing is executed: this server was not compared with the ledger since it started.",
            "Start a clock: python -m worker.clock; it does that first.",
        )
    if all(lag_ms <= LATE_MS for _, lag_ms, _, _ in late):
        yield fine(
            "processes", f"Nothing is overdue; {now.wakeups} hints for workers, {now.undrained} events to drain."
        )


def _wakeup_lag(store: Store) -> int:
    due = store.wakeups.peek()
    return max(0, store.now() - due) if due is not None else 0


def _at(instant_ms: int) -> str:
    return f"{datetime.fromtimestamp(instant_ms / 1000, UTC):%Y-%m-%d %H:%M} UTC"


def unanswered(failed: redis.RedisError) -> Finding:
    """The server went away while it was looked at."""
    return failure("redis", f"Redis stopped answering ({type(failed).__name__}).", "Look at its log, then try again.")
