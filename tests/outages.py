"""An hour in which Slack misbehaves, as people and ops live through it; what was seen becomes a table.

Instants are moved, clocks are not: each of twelve steps moves everything that is stored five minutes into the past,
what is known about people too, lets the bot look them up again, a worker try, the clock sweep and the relay send.
`python tests/outages.py` writes the table into docs/operations.md.
"""

import re
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import redis

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

from alert_receiver import hearing  # noqa: E402 - as below
from approvals.lifecycle import Cause, State  # noqa: E402 - this checkout, wherever it is started from
from approvals.outcomes import Outcome  # noqa: E402 - as above
from approvals.redis_check import connect  # noqa: E402 - as above
from approvals.valkey import ensure_server, stop_server  # noqa: E402 - as above
from bot import transports  # noqa: E402 - as above
from bot_office import BRUNO, CHANNEL, OLGA, OPS, Office, a_refund, readable, running  # noqa: E402 - as above
from clocks import a_clock  # noqa: E402 - as above

PAGE = ROOT / "docs" / "operations.md"
BEGIN, END = "<!-- an hour without Slack: begin -->", "<!-- an hour without Slack: end -->"
STEP_MS, STEPS = 5 * 60_000, 12
FOREVER = 1_000_000
APPROVED, ENDS, STAYS, UNPOSTED, LATER = CALLS = tuple(f"call_{n:012d}" for n in (1, 2, 3, 4, 5))
COUNTS = "counts, and runs"
_ZSETS = ("deadlines", "outbox", "wakeups")
_INSTANTS = ("posted_at", "decide_by", "execute_by", "post_by", "fetched_at")


@dataclass(frozen=True, slots=True)
class Outage:
    """One way in which Slack misbehaves. `during` starts it and gives back what ends it."""

    name: str
    during: Callable[[Office], Callable[[], object]]
    over: str = "http"


def failing(kind: str, **details: object) -> Callable[[Office], Callable[[], object]]:
    """Every method of the Web API fails in this way."""

    def start(office: Office) -> Callable[[], object]:
        office.slack.fault("*", kind, count=FOREVER, **details)
        return office.slack.clear_faults

    return start


def archived(office: Office) -> Callable[[], object]:
    """Somebody archives the channel."""
    office.slack.archive(CHANNEL)
    return lambda: office.slack.archive(CHANNEL, archived=False)


def deaf(office: Office) -> Callable[[], object]:
    """The connection stays open and nothing comes through; every new one is refused as well."""
    office.slack.deafen()
    office.slack.fault("apps.connections.open", "http", count=FOREVER, status=500)
    return office.slack.clear_faults


OUTAGES = (
    Outage("answers 429 to everything", failing("http", status=429, retry_after=1)),
    Outage("answers 500 to everything", failing("http", status=500)),
    Outage("says `is_archived` (somebody archived the channel)", archived),
    Outage("says `account_inactive` (the app's token is gone)", failing("error", error="account_inactive")),
    Outage("is silent on the open socket (Socket Mode)", deaf, over="socket"),
)


@dataclass(frozen=True, slots=True)
class Seen:
    """What became of everything; each a few words for a cell of the table."""

    approved: str
    later: str
    click: str
    ended: str
    unposted: str
    ops: str
    afterwards: str
    doubles: int
    deciders: frozenset[str]


def live_through(outage: Outage, url: str, client: redis.Redis) -> Seen:
    """Five cards meet it: approved and begun, approved and not begun, ending meanwhile, waiting on, not posted yet."""
    client.flushall()
    told: list[str] = []
    transports.PING_S = 0.5  # a silent socket is noticed after four pings, which nobody here wants to wait for
    with running(url, client, over=outage.over) as office:
        object.__setattr__(office.bot.relay, "_second_route", hearing(told))
        hour = Hour(office, client, told, over_socket=outage.over == "socket")
        hour.prepare()
        end = outage.during(office)
        hour.pass_by()
        during = hour.ops()
        end()
        return hour.afterwards(during)


class Hour:
    """The hour of one outage."""

    def __init__(self, office: Office, client: redis.Redis, told: list[str], *, over_socket: bool) -> None:
        self.office, self.client, self.told, self.over_socket = office, client, told, over_socket
        self.clock = a_clock(office.store, office.bot.deps.law)
        self.click = ""

    def prepare(self) -> None:
        """Four cards in Slack, two of them approved."""
        office = self.office
        self.runs = {key: office.start(f"refund {key}")[0] for key in CALLS}
        self.approved = office.pause(self.runs[APPROVED], a_refund(31240, key=APPROVED))
        self.ends = office.pause(self.runs[ENDS], a_refund(31240, key=ENDS), ttl_s=1_800)
        self.stays = office.pause(self.runs[STAYS], a_refund(31240, key=STAYS), ttl_s=4 * 3_600)
        self.later = office.pause(self.runs[LATER], a_refund(31240, key=LATER), ttl_s=4 * 3_600, lapse_s=3_600)
        for batch in (self.approved, self.ends, self.stays, self.later):
            office.card_with(batch, "decide by")
        for batch, key in ((self.approved, APPROVED), (self.later, LATER)):
            office.press(BRUNO, batch, "call.approve", key)
            office.state(key, State.APPROVED)
        self.decide_by = self._instant("decide_by")

    def pass_by(self) -> None:
        """An hour: a card is owed, somebody clicks, a worker takes one call at once and another later, time goes on."""
        office = self.office
        self.unposted = office.pause(self.runs[UNPOSTED], a_refund(31240, key=UNPOSTED))
        office.run_the_batch(self.approved)
        self._move_on()
        self.click = self._clicked()
        for _ in range(STEPS):
            self._move_on()
        if self.over_socket:
            self.office.until(self.office.bot.missing, "readiness says that nothing is received", 20)
        self.office.until(self._all_told, "ops was told of everything", 45)

    def ops(self) -> str:
        """What ops heard while it lasted."""
        here = _about(office_messages(self.office))
        there = _about(self.told)
        parts = [f"in the channel: {here}"] if here else []
        parts += [f"by `VOBO_ALERT_WEBHOOK`: {there}"] if there else []
        parts += ["`/readyz` is 503"] if self.office.bot.missing() else []
        return "; ".join(parts) or "nothing yet"

    def afterwards(self, during: str) -> Seen:
        """Good weather again."""
        office, store = self.office, self.office.store
        office.until(self._all_posted, "what is owed is posted", 40)
        if office.bot.missing() is not None:
            office.until(lambda: office.bot.missing() is None, "the bot receives again", 60)
        if self.click != COUNTS:
            office.press(OLGA, self.stays, "call.approve", STAYS)
            office.state(STAYS, State.APPROVED)
            waiting = "the waiting card can be decided"
        else:
            waiting = "the decision stands on the card"
        moved = self._instant("decide_by") + (STEPS + 1) * STEP_MS
        later = _about(office_messages(office))
        calls = [office.call(key) for key in CALLS]
        doubles = sum(len(_of_entry(office, f"card:{batch}")) > 1 for batch in self._batches())
        first = "its first deadline" if abs(moved - self.decide_by) < STEP_MS else "another deadline"
        assert store.batches.view(self.stays)
        return Seen(
            approved=_fate(office, APPROVED),
            later=_fate(office, LATER),
            click=self.click,
            ended=_fate(office, ENDS),
            unposted=_fate(office, UNPOSTED),
            ops=during,
            afterwards=f"{waiting}, with {first}; ops finds: {later}",
            doubles=doubles,
            deciders=frozenset(decision.name for call in calls for decision in call.decisions),
        )

    def _clicked(self) -> str:
        """Olga presses approve on the card that stays; what became of it."""
        before = len(self.office.slack.ephemerals(OLGA, CHANNEL))
        heard = self.office.press(OLGA, self.stays, "call.approve", STAYS)
        if not heard["acked"]:
            return "does not arrive; Slack marks the button with a warning"
        deadline = time.monotonic() + 4
        while time.monotonic() < deadline and self.office.call(STAYS).state is State.PENDING_REVIEW:
            if len(self.office.slack.ephemerals(OLGA, CHANNEL)) > before:
                return "is answered in private: nothing was decided, try again"
            time.sleep(0.05)
        if self.office.call(STAYS).state is not State.APPROVED:
            return "decides nothing, and cannot be answered"
        self.office.run_the_batch(self.stays)
        return COUNTS

    def _move_on(self) -> None:
        """Five minutes pass."""
        keys = self.office.store.keys
        for name in _ZSETS:
            place = getattr(keys, name)
            for member, score in self.client.zrange(place, 0, -1, withscores=True):
                self.client.zadd(place, {member: score - STEP_MS}, xx=True)
        hashes = [keys.batch(batch) for batch in self._batches()] + [keys.call(key) for key in CALLS]
        hashes += [keys.person(user) for user in (BRUNO, OLGA)]
        for place in hashes:
            for field in _INSTANTS:
                at = self.client.hget(place, field)
                if at:
                    self.client.hset(place, field, int(at) - STEP_MS)
        self.office.bot.deps.watch.round()
        self._work_later()
        self.clock.tick()
        self._tried()

    def _work_later(self) -> None:
        """A worker is free for the call that was approved before; nobody else's word is asked for."""
        office, effects, batches = self.office, self.office.store.effects, self.office.store.batches
        call = office.call(LATER)
        if call.state is not State.APPROVED:
            return
        lease = batches.lease(self.later, token="w", ttl_ms=60_000)
        assert lease
        people = [person for one in call.decisions if (person := office.store.people.get(one.reviewer))]
        answer, claim = effects.claim(
            LATER, lease=lease, token="c", seal=call.seal, ttl_ms=60_000, people=people, day="2026-11-29"
        )
        if claim:
            assert effects.intend(claim).ok
            assert effects.succeed(claim, receipt="{}").ok
        else:
            assert answer.outcome in {Outcome.STALE_PERSON, Outcome.LAPSED}
        batches.finish(lease)

    def _batches(self) -> tuple[str, ...]:
        return (self.approved, self.ends, self.stays, self.unposted, self.later)

    def _tried(self) -> None:
        """Until the relay has tried everything that is due."""
        self.office.bot.deps.wake.set()
        self.office.until(lambda: not self.office.store.outbox.due(), "the relay has tried what is due", 20)

    def _all_told(self) -> bool:
        """Whether ops was told of everything by now: in the channel, else in the other way, once for each alert."""
        owed = [entry.decode() for entry in self.client.zrange(self.office.store.keys.outbox, 0, -1)]
        outbox = self.office.store.outbox
        alerts = [found for entry in owed if entry.startswith("alert:") and (found := outbox.load(entry))]
        # A channel takes one message a second, so only one: whoever was tried least.
        self._hasten([entry.id for entry in sorted(alerts, key=lambda entry: entry.attempts)[:1]])
        return len(alerts) <= len(self.told)

    def _all_posted(self) -> bool:
        """Whether nothing is owed any more."""
        self._hasten([entry.decode() for entry in self.client.zrange(self.office.store.keys.outbox, 0, -1)])
        return not self.client.zcard(self.office.store.keys.outbox)

    def _hasten(self, entries: list[str]) -> None:
        """Do not wait out the pauses between two tries."""
        now = self.office.store.now()
        for entry in entries:
            self.client.zadd(self.office.store.keys.outbox, {entry: now - 1}, xx=True)
        self.office.bot.deps.wake.set()
        time.sleep(0.3)

    def _instant(self, field: str) -> int:
        return int(self.client.hget(self.office.store.keys.batch(self.stays), field) or 0)


def table(seen: dict[str, Seen]) -> str:
    """The rows of docs/operations.md."""
    head = (
        "| for an hour Slack | approved, begun within a minute | approved, not begun yet | a click |"
        " a card whose time ends | a card not posted yet | ops hears | afterwards |"
    )
    lines = [head, "|---|---|---|---|---|---|---|---|"]
    lines += [
        f"| {name} | {one.approved} | {one.later} | {one.click} | {one.ended} | {one.unposted} | {one.ops}"
        f" | {one.afterwards} |"
        for name, one in seen.items()
    ]
    return "\n".join(lines)


def committed(page: str) -> str:
    """The table as it stands in the page."""
    found = re.search(f"{re.escape(BEGIN)}\n(.*?)\n{re.escape(END)}", page, re.DOTALL)
    return found[1] if found else ""


@contextmanager
def a_server() -> Iterator[str]:
    """A Valkey of its own."""
    data = Path(tempfile.mkdtemp(prefix="vk-"))
    try:
        yield ensure_server(data).url
    finally:
        stop_server(data)
        shutil.rmtree(data)


def main() -> None:
    """Live through every outage and write what was seen."""
    with a_server() as url:
        client = connect(url)
        seen = {outage.name: live_through(outage, url, client) for outage in OUTAGES}
    page = PAGE.read_text(encoding="utf-8")
    now = f"{BEGIN}\n{table(seen)}\n{END}"
    PAGE.write_text(re.sub(f"{re.escape(BEGIN)}.*{re.escape(END)}", lambda _: now, page, flags=re.DOTALL), "utf-8")


def office_messages(office: Office) -> list[str]:
    """What stands in the ops channel."""
    return [readable(message) for message in office.slack.messages(OPS)]


def _about(texts: list[str]) -> str:
    """The matters of some alerts, each once: their bold first words."""
    matters = {
        "A card expired": "a card expired",
        "An approval lapsed": "an approval lapsed",
        "cannot be delivered": "a message cannot be delivered",
    }
    found = [short for words, short in matters.items() if any(words in text for text in texts)]
    return " and ".join(filter(None, (", ".join(found[:-1]), *found[-1:])))


def _of_entry(office: Office, entry: str) -> list[str]:
    return [
        readable(message)
        for message in office.slack.messages(CHANNEL)
        if ((message.get("metadata") or {}).get("event_payload") or {}).get("id") == entry
    ]


def _fate(office: Office, key: str) -> str:
    call = office.call(key)
    match call.state, call.cause:
        case State.SUCCEEDED, _:
            return "runs, once"
        case State.EXPIRED, Cause.LAPSED:
            return "waits for a look at its approver, and lapses when it is too old"
        case State.EXPIRED, Cause.UNPOSTED:
            return "expires after an hour; it was never decidable"
        case State.EXPIRED, Cause.NOBODY if key == UNPOSTED:
            return "is posted all the same; expires, nobody's refusal"
        case State.EXPIRED, Cause.NOBODY:
            return "expires; nobody's refusal"
        case _:
            return f"{call.state.value} ({call.cause})"


if __name__ == "__main__":
    main()
