"""What must hold of the stored keys after every step, read from Redis and from the ledger's events alone."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import redis

from approvals.keys import Keys
from approvals.lifecycle import FINAL, TABLE, State
from store_model import ModelCall
from store_model_workers import Model

CAP = ("per customer", "EUR", "cus_1", "day-2026-11-29")
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
        fresh = self._new_events()
        stored = self._hashes([self.keys.call(key) for key in model.calls])
        self._states_follow_the_table(model, stored)
        for event in fresh:
            self._every_intent_rests_on_decisions(model, event)
            self.events.append(event)
        self._the_ledger_tells_the_states(model, fresh)
        for call, row in zip(model.calls.values(), stored, strict=True):
            self._agrees(call, row)
        self._votes_agree(model)
        self._the_run_waits_for_what_is_open(model)
        self._whoever_has_work_is_woken(model)
        self._caps_hold_what_had_or_may_have_an_effect(model)
        self._clocks_watch_what_can_run_out(model)

    def _new_events(self) -> list[dict[str, str]]:
        rows: Any = self.client.xrange(self.keys.ledger, min=self._last)
        if rows:
            self._last = "(" + rows[-1][0].decode()
        return [{name.decode(): value.decode() for name, value in row.items()} for _, row in rows]

    def _hashes(self, names: Sequence[str]) -> list[dict[str, str]]:
        with self.client.pipeline(transaction=False) as pipe:
            for name in names:
                pipe.hgetall(name)
            rows: list[Any] = pipe.execute()
        hidden = {b"content", b"receipt", b"late_receipt"}
        return [{key.decode(): row[key].decode() for key in row.keys() - hidden} for row in rows]

    def _states_follow_the_table(self, model: Model, stored: Sequence[dict[str, str]]) -> None:
        for key, row in zip(model.calls, stored, strict=True):
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

    def _the_ledger_tells_the_states(self, model: Model, fresh: Sequence[dict[str, str]]) -> None:
        for event in fresh:
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
        rows = self._hashes([self.keys.votes(key) for key in model.calls])
        for call, row in zip(model.calls.values(), rows, strict=True):
            assert {user: vote.split(" ")[0] for user, vote in row.items()} == call.votes, call

    def _the_run_waits_for_what_is_open(self, model: Model) -> None:
        (run,) = self._hashes([self.keys.run(self.run)])
        assert (run["state"], int(run["pause"])) == (model.state, model.pause)
        for pause in range(1, model.pause + 1):
            assert self._members(self.keys.unanswered(self.run, pause)) == model.unanswered(pause)
            asked = {call.key for call in model.asked(call for call in model.calls.values() if call.pause == pause)}
            assert self._members(self.keys.pause_open(self.run, pause)) == asked
        assert (model.state == "ready") is (not model.unanswered(model.pause))

    def _members(self, name: str) -> set[str]:
        members: Any = self.client.smembers(name)
        return {member.decode() for member in members}

    def _sorted(self, name: str) -> set[str]:
        members: Any = self.client.zrange(name, 0, -1)
        return {member.decode() for member in members}

    def _whoever_has_work_is_woken(self, model: Model) -> None:
        woken = self._sorted(self.keys.wakeups)
        wanted = {f"execute_batch:{batch}" for batch in model.batches if model.has_work(batch)}
        wanted |= {f"refresh_call:{call.key}" for call in model.calls.values() if call.refreshing}
        wanted |= {
            f"reconcile_call:{call.key}"
            for call in model.calls.values()
            if call.state is State.UNKNOWN and not call.answered
        }
        if model.state == "ready":
            wanted.add(f"resume_run:{self.run}")
        assert wanted <= woken, wanted - woken
        idle = {name for name in woken - wanted if not name.startswith("execute_batch:")}
        assert not idle, f"woken for nothing: {idle}"

    def _caps_hold_what_had_or_may_have_an_effect(self, model: Model) -> None:
        (held,) = self._hashes([self.keys.cap(*CAP)])
        assert held == dict.fromkeys(model.spending(), "10000")

    def _clocks_watch_what_can_run_out(self, model: Model) -> None:
        watched = self._sorted(self.keys.deadlines)
        calls = model.calls.values()
        wanted = {f"lapse:{call.key}" for call in calls if call.state is State.APPROVED and call.execute is not None}
        wanted |= {f"lease:{call.key}" for call in calls if call.state is State.EXECUTING}
        wanted |= {f"unknown:{call.key}" for call in calls if call.state is State.UNKNOWN and not call.answered}
        asking = {batch for batch in model.batches if model.asked(model.of_batch(batch))}
        wanted |= {f"{'decide' if model.batches[batch].posted else 'post'}:{batch}" for batch in asking}
        assert watched == wanted
