"""What must hold of the stored keys after every step, read from Redis and from the ledger's events alone."""

from dataclasses import dataclass, field

import redis

import inbox_invariants
import tally_invariants
from approvals.keys import Keys
from approvals.lifecycle import FINAL, TABLE, State
from store_model import ModelCall
from store_model_workers import Model

CAP = ("per customer", "EUR", "cus_1", "day-2026-11-29")
HIDDEN = {b"request", b"content", b"receipt", b"late_receipt"}
#: Deadlines that exist exactly while something waits for them.
EXACT = {"post", "decide", "lapse", "lease", "unknown", "unknown-alert"}
#: Deadlines that may exist while a posted card asks.
ASKING = {"remind", "escalate"}
#: Ledger event -> the state a call has after it, where that does not depend on the event's fields.
AFTER = {
    "approved": State.APPROVED,
    "rejected": State.REJECTED,
    "refused": State.REJECTED,
    "withdrawn": State.REJECTED,
    "expired": State.EXPIRED,
    "lapsed": State.EXPIRED,
    "claimed": State.EXECUTING,
    "succeeded": State.SUCCEEDED,
    "failed": State.FAILED,
    "unknown": State.UNKNOWN,
    "unclaimed": State.APPROVED,
}
#: Events about a call that leave its state alone.
BESIDE = {"approval_counted", "edited", "refreshed", "intended", "contradicted", "answered_unknown"}
FOLLOWS = {(before, after) for (_, before), possible in TABLE.items() for after in possible}


@dataclass
class Watchman:
    """Reads everything of one run after each step, remembers the ledger, and complains."""

    client: redis.Redis
    keys: Keys
    run: str
    events: list[dict[str, str]] = field(default_factory=list)
    states: dict[str, State] = field(default_factory=dict)
    intended: set[str] = field(default_factory=set)
    _told: dict[str, State] = field(default_factory=dict)
    _last: str = "-"

    def look(self, model: Model) -> None:
        """Every invariant, once."""
        self._read(model)
        self._states_follow_the_table(model)
        for event in self._fresh:
            self._every_intent_rests_on_decisions(model, event)
            self.events.append(event)
        self._the_ledger_tells_the_states(model)
        for call, row in zip(model.calls.values(), self._calls, strict=True):
            self._agrees(call, row)
        self._votes_agree(model)
        self._the_run_waits_for_what_is_open(model)
        self._whoever_has_work_is_woken(model)
        self._caps_hold_what_had_or_may_have_an_effect(model)
        self._clocks_watch_what_can_run_out(model)
        self._ops_is_told_of_what_stays_unknown(model)
        inbox_invariants.check(self.client, self.keys, model)
        tally_invariants.check(self.client, self.keys, model, self.events)

    def _read(self, model: Model) -> None:
        """Everything that is looked at, in one step."""
        calls, pauses = list(model.calls), range(1, model.pause + 1)
        with self.client.pipeline(transaction=True) as pipe:
            pipe.xrange(self.keys.ledger, min=self._last)
            pipe.zrange(self.keys.wakeups, 0, -1)
            pipe.zrange(self.keys.deadlines, 0, -1)
            pipe.zrange(self.keys.outbox, 0, -1)
            pipe.hgetall(self.keys.run(self.run))
            pipe.hgetall(self.keys.cap(*CAP))
            for key in calls:
                pipe.hgetall(self.keys.call(key))
                pipe.hgetall(self.keys.votes(key))
            for pause in pauses:
                pipe.smembers(self.keys.unanswered(self.run, pause))
            for batch in model.batches:
                pipe.smembers(self.keys.batch_open(batch))
            events, wakeups, deadlines, owed, run, cap, *rest = pipe.execute()
        if events:
            self._last = "(" + events[-1][0].decode()
        self._fresh = [text(fields) for _, fields in events]
        self._woken = {member.decode() for member in wakeups}
        self._owed = {entry.decode() for entry in owed if entry.startswith(b"alert:call:")}
        self._watched = {member.decode() for member in deadlines}
        self._run, self._cap = text(run), text(cap)
        self._calls = [text(row) for row in rest[: 2 * len(calls) : 2]]
        self._votes = [text(row) for row in rest[1 : 2 * len(calls) : 2]]
        sets = [{member.decode() for member in found} for found in rest[2 * len(calls) :]]
        asked = dict.fromkeys(pauses, frozenset[str]())
        for batch, found in zip(model.batches.values(), sets[len(pauses) :], strict=True):
            asked[batch.pause] |= found
        self._waits = [(pause, sets[at], asked[pause]) for at, pause in enumerate(pauses)]

    def _states_follow_the_table(self, model: Model) -> None:
        for key, row in zip(model.calls, self._calls, strict=True):
            state, before = State(row["state"]), self.states.get(key)
            if before is not None and state is not before:
                # A release without time left undoes the claim first; then the approval lapses.
                no_time = (before, state) == (State.EXECUTING, State.EXPIRED)
                assert (before, state) in FOLLOWS or no_time, f"{key}: {before} -> {state}"
            assert before not in FINAL or state is before, f"{key} was final and is {state} now"
            self.states[key] = state

    def _every_intent_rests_on_decisions(self, model: Model, event: dict[str, str]) -> None:
        if event["type"] != "intended":
            return
        call = model.calls[event["call"]]
        assert call.key not in self.intended, f"{call.key} may have its effect twice"
        self.intended.add(call.key)
        same = ("call", "version", "seal")
        said = [
            past["actor"]
            for past in self.events
            if past["type"] in {"approved", "approval_counted"} and all(past[name] == event[name] for name in same)
        ]
        if call.carded:
            assert len(set(said) - {"policy"}) >= call.needed_of[int(event["version"])], (event, said)
        else:
            assert said == ["policy"], (event, said)

    def _the_ledger_tells_the_states(self, model: Model) -> None:
        for event in self._fresh:
            key, kind = event.get("call"), event["type"]
            if key is None or kind in BESIDE:
                continue
            if kind == "proposed":
                told = State(event["state"])
            elif kind == "settled":
                told = State(event["cause"])
            elif kind in {"released", "revoked"}:
                told = State.PENDING_REVIEW if model.calls[key].carded else State.PROPOSED
            else:
                told = AFTER[kind]
            self._told[key] = told
        assert self._told == self.states

    def _agrees(self, call: ModelCall, row: dict[str, str]) -> None:
        assert State(row["state"]) is call.state, call
        assert (int(row["version"]), row["seal"], int(row["needed"])) == (call.version, call.seal, call.needed), call
        assert (row.get("refreshing") == "1") is call.refreshing, call
        if call.state is State.APPROVED:
            assert ("execute_by" in row) is (call.execute is not None), call
        if call.state is State.EXECUTING:
            assert (row["token"], row["intended"] == "1") == (call.token, call.intended), call

    def _votes_agree(self, model: Model) -> None:
        for call, row in zip(model.calls.values(), self._votes, strict=True):
            assert {user: vote.split(" ")[0] for user, vote in row.items()} == call.votes, call

    def _the_run_waits_for_what_is_open(self, model: Model) -> None:
        assert (self._run["state"], int(self._run["pause"])) == (model.state, model.pause)
        for pause, unanswered, asked in self._waits:
            assert unanswered == model.unanswered(pause)
            assert asked == {call.key for call in model.asked(model.calls.values()) if call.pause == pause}
        assert (model.state == "ready") is (not model.unanswered(model.pause))

    def _whoever_has_work_is_woken(self, model: Model) -> None:
        wanted = {f"execute_batch:{batch}" for batch in model.batches if model.has_work(batch)}
        wanted |= {f"refresh_call:{call.key}" for call in model.calls.values() if call.refreshing}
        wanted |= {
            f"reconcile_call:{call.key}"
            for call in model.calls.values()
            if call.state is State.UNKNOWN and not call.answered
        }
        if model.state == "ready":
            wanted.add(f"resume_run:{self.run}")
        assert wanted <= self._woken, wanted - self._woken
        idle = {name for name in self._woken - wanted if not name.startswith("execute_batch:")}
        assert not idle, f"woken for nothing: {idle}"

    def _caps_hold_what_had_or_may_have_an_effect(self, model: Model) -> None:
        assert self._cap == dict.fromkeys(model.spending(), "10000")

    def _ops_is_told_of_what_stays_unknown(self, model: Model) -> None:
        """And of what somebody settled in another way than the tool did; of nothing else."""
        contradicted = {event["call"] for event in self.events if event["type"] == "contradicted"}
        wanted = {f"alert:call:{call.key}" for call in model.calls.values() if call.alerted or call.key in contradicted}
        assert self._owed == wanted

    def _clocks_watch_what_can_run_out(self, model: Model) -> None:
        watched = {member for member in self._watched if member.partition(":")[0] in EXACT}
        attention = {member for member in self._watched if member.partition(":")[0] in ASKING}
        calls = model.calls.values()
        open_to_workers = {State.APPROVED, State.PROPOSED}
        wanted = {f"lapse:{call.key}" for call in calls if call.state in open_to_workers and call.execute is not None}
        wanted |= {f"lease:{call.key}" for call in calls if call.state is State.EXECUTING}
        wanted |= {f"unknown:{call.key}" for call in calls if call.state is State.UNKNOWN and not call.answered}
        wanted |= {f"unknown-alert:{call.key}" for call in calls if call.state is State.UNKNOWN and not call.alerted}
        asking = {batch for batch in model.batches if model.asked(model.of_batch(batch))}
        wanted |= {f"{'decide' if model.batches[batch].posted else 'post'}:{batch}" for batch in asking}
        assert watched == wanted
        assert {member.partition(":")[2] for member in attention} <= {b for b in asking if model.batches[b].posted}


def text(row: dict[bytes, bytes]) -> dict[str, str]:
    """A hash without what is encrypted."""
    return {name.decode(): row[name].decode() for name in row.keys() - HIDDEN}
