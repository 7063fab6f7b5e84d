"""The stateful test's hands: each verb of the model, done to the real store; and time, moved instead of waited for."""

from collections.abc import Callable
from typing import Any

import redis

from approvals.lifecycle import Cause, State
from approvals.models import BatchLease, CallContent, Claim, Person
from approvals.outcomes import Answer
from builders import (
    CHANNEL,
    LONG,
    a_call,
    a_content,
    a_decision,
    a_pause,
    a_person,
    a_requirement,
    a_store,
    an_auto,
    lease_run,
    start_run,
)
from inbox_invariants import tier_of
from policies.money import eur
from policies.requirement import Requirement, Spending
from policies.risk import Mode
from store_model import LeaseId, ModelBatch, ModelCall
from store_model_workers import CAP_HOLDS, Model

RUN, DAY, OVER = "run_1", "2026-11-29", 1
#: Kind of a deadline -> the verb of the model.
CLOCK = {
    "decide": "expire",
    "post": "unposted",
    "lapse": "lapse",
    "lease": "lost_lease",
    "unknown": "answer_unknown",
    "unknown-alert": "alert_unknown",
}


def content(needed: int = 1, **changes: Any) -> CallContent:
    """A call's content; every call spends 100.00 of one cap."""
    spends = (Spending(cap="per customer", amounts={"cus_1": eur(100)}, limit=eur(100 * CAP_HOLDS)),)
    requirement: Requirement = a_requirement(reviewers=needed, tier=tier_of(needed), spends=spends, **changes)
    return a_content(requirement=requirement)


class Steps:
    """Does to the store what the model is told."""

    def __init__(self, client: redis.Redis, model: Model) -> None:
        self.client, self.model, self.store = client, model, a_store(client)

    def do(self, verb: str, **arguments: Any) -> str:
        """The outcome of one verb, as a word."""
        answer: Answer = getattr(self, f"_{verb}")(**arguments)
        return answer.outcome

    # The run.

    def start(self, barrier: str) -> None:
        assert start_run(self.store, RUN, barrier=barrier).ok

    def shaped(
        self, shape: list[str], pause: int, fresh: Callable[[str], str]
    ) -> tuple[list[ModelCall], list[ModelBatch]]:
        """Calls of these kinds: two cards at most, and a batch of those that nobody is asked about."""
        asks = any(kind != "auto" for kind in shape)
        places = {name: fresh("batch") for name in ("first", "second", "autos")}
        calls = []
        for number, kind in enumerate(shape):
            key = fresh("call")
            auto = kind == "auto"
            batch = places["autos" if auto else "first" if number % 2 else "second"]
            state = State.PENDING_REVIEW if not auto else State.PROPOSED if asks else State.APPROVED
            needed = 2 if kind == "two" else 1
            calls.append(ModelCall(key, batch, pause, not auto, state, needed, f"seal-{key}-1"))
        used = dict.fromkeys(call.batch for call in calls)
        return calls, [ModelBatch(batch, pause, batch != places["autos"]) for batch in used]

    def pause(self, calls: list[ModelCall], token: str) -> None:
        proposed = []
        for number, call in enumerate(calls, start=1):
            if call.carded:
                one = a_call(call.key, number=number, batch=call.batch, content=content(call.needed))
            else:
                held = call.state is State.PROPOSED
                one = an_auto(call.key, number=number, batch=call.batch, held=held, content=content(1, mode=Mode.AUTO))
            proposed.append(one)
        assert self.store.runs.pause(lease_run(self.store, RUN, token), a_pause(*proposed)).ok

    # People.

    def _post(self, key: str) -> Answer:
        return self.store.batches.record_posted(key, channel=CHANNEL, ts=f"ts-{key}")

    def _seen(self, who: str, sight: str) -> Person:
        person = self.store.people.put(a_person(who, guest=sight == "guest"))
        if sight == "old":
            self.client.hset(self.store.keys.person(who), "fetched_at", person.fetched_at - 61_000)
        return person

    def _approve(self, key: str, version: int, who: str, sight: str) -> Answer:
        decision = a_decision(key, by=who, version=version)
        return self.store.calls.approve(key, version=version, decision=decision, person=self._seen(who, sight))

    def _reject(self, key: str, version: int, who: str, sight: str) -> Answer:
        decision = a_decision(key, "reject", by=who, version=version)
        return self.store.calls.reject(key, version=version, decision=decision, person=self._seen(who, sight))

    def _edit(self, key: str, version: int, who: str, sight: str, arguments: str) -> Answer:
        decision = a_decision(key, "edit", by=who, version=version)
        changed = content(self.model.calls[key].needed).model_copy(
            update={"arguments": f'{{"payment_id":"{arguments}"}}'}
        )
        return self.store.calls.edit(
            key, version=version, decision=decision, person=self._seen(who, sight), content=changed
        )

    def _refresh(self, key: str, version: int, seal: str, found: str, needed: int) -> Answer:
        rejected = "the law forbids it" if found == "forbidden" else None
        drift = found == "drift"
        return self.store.calls.refresh(
            key, version=version, content=content(needed), seal=seal, drift=drift, rejected=rejected
        )

    def _withdraw(self, key: str, who: str) -> Answer:
        return self.store.calls.withdraw(key, by=who)

    # Workers.

    def _lease_batch(self, batch: str, token: str) -> Answer:
        return self.store.batches.ask("lease_batch", batch, token, LONG)

    def _finish(self, lease: LeaseId) -> Answer:
        generation = self.model.batches[lease[0]].generation
        return self.store.batches.ask("finish_batch", *lease, generation, 0, 4_000)

    def _lease(self, lease: LeaseId) -> BatchLease:
        return BatchLease(batch=lease[0], run=RUN, token=lease[1], epoch=lease[2], generation=0)

    def _claim(self, key: str, lease: LeaseId, token: str, seal: str, sight: str) -> Answer:
        people = [self._seen(who, sight) for who in self.model.calls[key].votes]
        answer, _ = self.store.effects.claim(
            key, lease=self._lease(lease), token=token, seal=seal, ttl_ms=LONG, people=people, day=DAY
        )
        return answer

    def _auto_approve(self, key: str, lease: LeaseId) -> Answer:
        return self.store.calls.auto_approve(key, lease=self._lease(lease))

    def _forbid(self, key: str, lease: LeaseId, reason: str) -> Answer:
        return self.store.calls.forbid(key, lease=self._lease(lease), reason=reason)

    def _refuse(self, key: str, lease: LeaseId, reason: str) -> Answer:
        return self.store.effects.refuse(key, lease=self._lease(lease), cause=Cause.CAP, reason=reason)

    def _revoke(self, key: str, lease: LeaseId, seal: str) -> Answer:
        needed = self.model.calls[key].needed
        return self.store.effects.revoke(
            key, lease=self._lease(lease), content=content(needed), seal=seal, reason="the law is stricter"
        )

    def _token(self, key: str, token: str, version: int = 0) -> Claim:
        version = version or self.model.calls[key].version
        run, batch = self.store.effects.run_of(key), self.model.calls[key].batch
        return Claim(call=key, run=run, batch=batch, token=token, version=version, lease_until=0)

    def _renew(self, key: str, token: str) -> Answer:
        return self.store.effects.ask("renew_call", key, token, LONG)

    def _intend(self, key: str, token: str) -> Answer:
        return self.store.effects.intend(self._token(key, token))

    def _unclaim(self, key: str, token: str) -> Answer:
        return self.store.effects.unclaim(key, token=token)

    def _release(self, key: str, token: str, version: int, seal: str) -> Answer:
        claim, needed = self._token(key, token, version - 1), self.model.calls[key].needed
        return self.store.effects.release(claim, content=content(needed), seal=seal, difference=["a row is gone"])

    def _succeed(self, key: str, token: str) -> Answer:
        return self.store.effects.succeed(self._token(key, token), receipt='{"id": 1}')

    def _fail(self, key: str, token: str) -> Answer:
        return self.store.effects.fail(self._token(key, token), reason="the provider refused")

    def _abandon(self, key: str, token: str) -> Answer:
        return self.store.effects.abandon(key, token=token, reason="no answer")

    def _lost_lease(self, key: str) -> Answer:
        return self.store.deadlines.apply(f"lease:{key}")

    def _settle(self, key: str, who: str, happened: bool) -> Answer:  # noqa: FBT001 - the model's form
        return self.store.effects.settle(key, happened=happened, by=who, reason="looked it up")

    def freeze(self, *, frozen: bool) -> None:
        answer = self.store.switches.freeze("U0OPS", "a drill") if frozen else self.store.switches.unfreeze("U0OPS")
        assert answer.ok

    # Time.

    def due(self) -> list[tuple[str, str]]:
        """(verb of the model, subject) of what the clock would apply now."""
        members = (member.partition(":") for member in self.store.deadlines.due())
        return [(CLOCK[kind], subject) for kind, _, subject in members if kind in CLOCK]

    def apply(self, verb: str, subject: str) -> str:
        kind = next(kind for kind, known in CLOCK.items() if known == verb)
        return self.store.deadlines.apply(f"{kind}:{subject}").outcome

    def _over(self, deadline: str, key: str | None = None, *fields: str) -> None:
        """Put instants, and the deadline that watches them, into the past."""
        for name in fields:
            if key is not None and self.client.hexists(key, name):
                self.client.hset(key, name, OVER)
        self.client.zadd(self.store.keys.deadlines, {deadline: OVER}, xx=True)

    def end_lease_of_call(self, call: ModelCall) -> None:
        if call.state is State.EXECUTING:
            call.leased = False
            self._over(f"lease:{call.key}", self.store.keys.call(call.key), "lease_until")

    def end_lease_of_batch(self, batch: ModelBatch) -> None:
        batch.leased = False
        self._over("", self.store.keys.batch(batch.key), "lease_until")

    def end_time_of_call(self, call: ModelCall, what: str) -> None:
        if what == "execute" and call.state in {State.APPROVED, State.PROPOSED} and call.execute is not None:
            call.execute = False
            self._over(f"lapse:{call.key}", self.store.keys.call(call.key), "execute_by")
        if what in {"unknown", "unknown-alert"}:
            self._over(f"unknown-alert:{call.key}")  # which is over long before the answer is
        if what == "unknown":
            self._over(f"unknown:{call.key}")

    def end_time_of_batch(self, batch: ModelBatch, what: str) -> None:
        """`decide`: the time of the card; `check`: also what edits gave; `day`: it was posted long ago."""
        name = self.store.keys.batch(batch.key)
        if what == "post" and not batch.posted:
            batch.unposted_too_long = True
            self._over(f"post:{batch.key}", name, "post_by")
        if what in {"decide", "check"} and batch.posted:
            batch.lasts = False
            self._over(f"decide:{batch.key}", name, "decide_by")
        if what == "check":
            for call in self.model.of_batch(batch.key):
                call.being_checked = False
                self._over("", self.store.keys.call(call.key), "check_by")
        if what == "day" and batch.posted:
            batch.old = True
            self._over("", name, "posted_at")
