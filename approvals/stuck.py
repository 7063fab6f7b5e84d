"""Runs that nothing will ever move again: "silently stuck" must be something `vobo doctor` can see."""

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any, NamedTuple, TypeVar

from approvals.lifecycle import RunState, State, UndoState
from approvals.room import Room

#: So long after its last deadline a clock that lives has seen to it.
GRACE_MS = 300_000
_PAGE = 500
T = TypeVar("T")
_FIELDS = ("state", "pause", "created_at", "lease_until", "channel")
_ENDED = frozenset({RunState.COMPLETED, RunState.STOPPED, RunState.FAILED})  # a failed run is a dead letter
_CARD = ("decide", "post")
#: What the state of a call that a run waits for must have in the deadlines: by whom it is kept, and its kinds.
_WATCHED: dict[str, tuple[str, tuple[str, ...]]] = {
    State.PENDING_REVIEW: ("batch", _CARD),
    State.APPROVED: ("call", ("lapse",)),
    State.EXECUTING: ("call", ("lease",)),
    State.UNKNOWN: ("call", ("unknown",)),
}


class OpenRun(NamedTuple):
    """A run that has not ended. Instants are milliseconds of the store's clock."""

    id: str
    state: str
    pause: str
    created_at: int
    lease_until: int
    channel: str


class StuckRun(NamedTuple):
    """A run that nothing will move. `since` is its last deadline, None when it has none at all."""

    run: str
    state: str
    since: int | None


def open_runs(room: Room) -> list[OpenRun]:
    """Every run that has not ended, the oldest first. Scans the keys of all kept runs, in pages, blocking nobody."""
    prefix = room.keys.run("")
    found: list[OpenRun] = []
    names = (key.decode() for key in _scan(room, f"{prefix}*"))
    for page in _pages(name for name in names if ":" not in name.removeprefix(prefix)):
        rows = _rows(room, page, *_FIELDS)
        for name, row in zip(page, rows, strict=True):
            state, pause, created, lease, channel = ((value or b"").decode() for value in row)
            if state and state not in _ENDED:
                found.append(
                    OpenRun(name.removeprefix(prefix), state, pause, int(created or 0), int(lease or 0), channel)
                )
    return sorted(found, key=lambda run: run.created_at)


def stuck_runs(room: Room, runs: Iterable[OpenRun]) -> Iterator[StuckRun]:
    """Those that are older than their last deadline and that no wake-up is owed for. A few round trips a page."""
    now = room.now()
    for some in _pages(runs):
        asked = _asked(room, some, now)
        page = [run for run in some if run.id not in asked]
        watched = _watched(room, page)
        deadlines = _scores(room, room.keys.deadlines, (member for one in watched for member in one.deadlines))
        hints = _scores(room, room.keys.wakeups, (member for one in watched for member in one.hints))
        for run, one in zip(page, watched, strict=True):
            instants = [deadlines[member] for member in one.deadlines if member in deadlines]
            last = max((*instants, run.lease_until)) or None
            if not any(member in hints for member in one.hints) and (last is None or last < now - GRACE_MS):
                yield StuckRun(run.id, run.state, last)


def _asked(room: Room, runs: list[OpenRun], now: int) -> set[str]:
    """Runs with a card that waits for people or for Slack, and for the clock: nearly all, seen without their calls."""
    with room.client.pipeline(transaction=False) as pipe:
        for run in runs:
            pipe.lrange(room.keys.pause_batches(run.id, run.pause), 0, -1)
        cards = [[f"{kind}:{batch.decode()}" for batch in batches for kind in _CARD] for batches in pipe.execute()]
    deadlines = _scores(room, room.keys.deadlines, (member for members in cards for member in members))
    late = now - GRACE_MS
    return {
        run.id
        for run, members in zip(runs, cards, strict=True)
        if any(deadlines.get(member, 0) >= late for member in members)
    }


class _Watched(NamedTuple):
    """What could move a run: members of the deadlines, and wake-ups."""

    deadlines: list[str]
    hints: list[str]


def _watched(room: Room, runs: list[OpenRun]) -> list[_Watched]:
    """For each run, by what it waits for: a worker, or the calls of its pause."""
    keys = room.keys
    with room.client.pipeline(transaction=False) as pipe:
        for run in runs:
            pipe.smembers(keys.unanswered(run.id, run.pause))
        waiting = [sorted(call.decode() for call in calls) for calls in pipe.execute()]
    rows = iter(_rows(room, (keys.call(call) for calls in waiting for call in calls), "state", "batch"))
    found = []
    for run, calls in zip(runs, waiting, strict=True):
        one = _Watched([], [f"start_run:{run.id}", f"resume_run:{run.id}"])
        for call in calls:
            state, batch = ((value or b"").decode() for value in next(rows))
            whose, kinds = _WATCHED.get(state, ("call", ()))
            one.deadlines.extend(f"{kind}:{batch if whose == 'batch' else call}" for kind in kinds)
            one.hints.extend((f"execute_batch:{batch}", f"refresh_call:{call}", f"reconcile_call:{call}"))
        found.append(one)
    return found


def open_alerts(room: Room) -> list[str]:
    """The subjects of what ops was told and nobody has closed; what settled itself is not among them."""
    prefix = room.keys.entry("alert:")
    names = [key.decode() for key in _scan(room, f"{prefix}*")]
    found: list[str] = []
    for page in _pages(names):
        rows = _rows(room, page, "desired", "closed_at_version")
        for name, (desired, closed) in zip(page, rows, strict=True):
            subject = name.removeprefix(prefix)
            if desired != closed and not _settled(room, subject):
                found.append(subject)
    return sorted(found)


def _settled(room: Room, subject: str) -> bool:
    """Whether the matter is over by itself: the outcome is known, the run goes on, nothing is frozen any more."""
    kind, _, rest = subject.partition(":")
    if kind == "switch":
        return not room.client.exists(room.keys.frozen)
    places = {
        "call": (room.keys.call, "state", State.UNKNOWN),
        "run": (room.keys.run, "state", RunState.FAILED),
        "undo": (room.keys.call, "undo_state", UndoState.UNKNOWN),
    }
    if kind not in places:
        return False
    late = {"undo": ("undo_late_receipt",), "call": ("late_receipt", "late_word")}.get(kind, ())
    if any(room.client.hexists(room.keys.call(rest), field) for field in late):
        return False  # what was settled is not what happened
    place, field, open_ = places[kind]
    state: Any = room.client.hget(place(rest), field)
    return (state or b"").decode() != open_


def _scan(room: Room, pattern: str) -> Iterator[bytes]:
    found: Iterator[bytes] = room.client.scan_iter(match=pattern, count=2_000)
    return found


def _scores(room: Room, name: str, members: Iterable[str]) -> dict[str, int]:
    """The instants of those members that are there."""
    wanted = list(dict.fromkeys(members))
    scores: Any = room.client.zmscore(name, wanted) if wanted else []
    return {member: int(score) for member, score in zip(wanted, scores, strict=True) if score is not None}


def _rows(room: Room, names: Iterable[str], *fields: str) -> list[list[bytes | None]]:
    """Some fields of many hashes, in one round trip."""
    with room.client.pipeline(transaction=False) as pipe:
        for name in names:
            pipe.hmget(name, list(fields))
        return list(pipe.execute())


def _pages(found: Iterable[T]) -> Iterator[list[T]]:
    rest = iter(found)
    while page := list(islice(rest, _PAGE)):
        yield page
