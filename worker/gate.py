"""The executor's door: claim, look again, intend, run, record. The only place where an effect can happen, once."""

import asyncio
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum

from approvals import tracing
from approvals.lifecycle import Cause
from approvals.models import BatchLease, Call, CallContent, Claim, Run
from approvals.outcomes import Outcome
from approvals.queue import JobTimeout
from approvals.sealing import Subject, sealed
from policies.arguments import ArgumentsRefused
from policies.history import keeping, still_asked
from policies.requirement import Requirement
from policies.risk import Mode
from policies.rule import Facts
from worker.actions import ActionContext
from worker.attempt import Ends, attempt
from worker.bounded import NoAnswer, bounded
from worker.deps import Deps
from worker.door import Door, Reading
from worker.drift import difference
from worker.heartbeat import LEASE_MS, Heartbeat
from worker.judging import Looked, described, judge, look, preview_failed, sealed_facts, stored
from worker.load import Loaded
from worker.looking import LONGEST_S
from worker.recheck import Authority, Standing, authority, stricter

#: How often a call is judged in one job while others take from the caps that its rule looks at.
MOST_JUDGED = 4


class Passed(StrEnum):
    """How a call came through the gate."""

    RAN = "ran"  # tried; what became of it is recorded
    ENDED = "ended"  # refused, lapsed
    RETURNED = "returned"  # back to review
    WAITS = "waits"  # frozen, or nobody knows whether the approvers still exist
    FAILED = "failed"  # the team's code raised, or gave no answer; only said by the batch
    LOST = "lost"  # the batch belongs to another worker now
    MOVED = "moved"  # others took from a cap since it was judged; only between its tries


@dataclass(frozen=True, slots=True)
class Gate:
    """The gate for the calls of one run, as long as one batch lease is held."""

    deps: Deps
    loaded: Loaded
    run: Run
    lease: BatchLease

    async def take(self, call: Call) -> Passed:
        """Take one approved call through. Whatever fails before the intent leaves the call approved."""
        for _ in range(MOST_JUDGED):
            passed = await self._judged(call)
            if passed is not Passed.MOVED:
                return passed
        return Passed.WAITS  # each time somebody else was claimed first, so it has not stood still for all

    async def _judged(self, call: Call) -> Passed:  # noqa: PLR0911 - each check before the claim has its way out
        if call.canary is not None:
            return self._canary(call)
        seal = sealed(self._subject(call), call.content, version=call.version)
        if seal != call.seal:
            return self._changed(call)
        door = self.loaded.doors.get((call.agent, call.tool))
        if door is None:
            return self._gone(call)
        try:
            as_decided = stored(call.key, door, call.content, requester=self.run.requester)
        except ArgumentsRefused as refused:
            return self._refuse(call, Cause.POLICY, f"{call.tool} takes other arguments now: {refused.sentence}")
        read: dict[str, int] = {}
        need = self._judge(call, as_decided, read)
        if need.mode is Mode.FORBIDDEN:
            return self._refuse(call, Cause.POLICY, " ".join(need.reasons))
        seen = authority(self.deps.store, self.deps.people(), call, need, requester=self.run.requester)
        why = _ask_again_because(call, door, need, seen)
        if why is not None:
            return await self._revoke(call, door, why)
        return Passed.WAITS if seen.standing is Standing.STALE else await self._claim(call, door, seen, read)

    async def _claim(self, call: Call, door: Door, seen: Authority, read: dict[str, int]) -> Passed:
        if self.lease.in_vain:  # nothing is claimed and told, and no cap is held, for a look that may fail again
            await self._as_it_is_now(call, door)
        effects, token, day = self.deps.store.effects, self.deps.token(), self._day()
        answer, claim = effects.claim(
            call.key,
            lease=self.lease,
            token=token,
            seal=call.seal,
            ttl_ms=LEASE_MS,
            people=seen.people,
            day=day,
            read=read,
        )
        if claim is None:
            return self._not_claimed(call, answer.outcome, answer.detail)
        with Heartbeat(lambda: effects.renew(claim, ttl_ms=LEASE_MS)):
            return await self._claimed(call, door, claim, read)

    async def _claimed(self, call: Call, door: Door, claim: Claim, read: dict[str, int]) -> Passed:
        effects = self.deps.store.effects
        intended = False
        try:
            looked, content = await self._as_it_is_now(call, door, read)
            if looked.kind == "arguments" or content.requirement.mode is Mode.FORBIDDEN:
                effects.unclaim(call.key, token=claim.token)
                return self._refuse(call, Cause.POLICY, looked.problem or " ".join(content.requirement.reasons))
            changed = _more_than_approved(call.content, content)
            if changed:
                return self._release(call, claim, content, changed)
            reading = door.exactly(call.content.arguments)  # a preview may have changed what it was handed
            facts = sealed_facts(door, call.content)
            longest_ms = int(door.timeout_s * 1000)
            intended = effects.intend(claim, longest_ms=longest_ms).ok
        except ArgumentsRefused as refused:
            effects.unclaim(call.key, token=claim.token)
            return self._refuse(call, Cause.POLICY, f"{call.tool} takes other arguments now: {refused.sentence}")
        finally:
            if not intended:  # no effect can have happened: the approval is not spent
                effects.unclaim(call.key, token=claim.token)
        if intended:
            await self._run(call, door, claim, reading, facts=facts)
        return Passed.RAN if intended else Passed.WAITS

    async def _run(self, call: Call, door: Door, claim: Claim, reading: Reading, *, facts: Facts | None) -> None:
        """The effect. From here on nothing is repeated, and every way out is recorded."""
        effects = self.deps.store.effects
        context = ActionContext(
            run=call.run,
            call=call.key,
            idempotency_key=call.idempotency_key,
            requester=self.run.requester,
            tenant=self.deps.store.tenant,
            facts=facts,
        )

        async def effect() -> str:
            with tracing.span("tool.run", run=call.run, call=call.key, tool=call.tool):
                return await door.run(context, call, reading)

        ends = Ends(
            fail=lambda reason: effects.fail(claim, reason=reason),
            abandon=lambda reason: effects.abandon(call.key, token=claim.token, reason=reason),
            succeed=lambda receipt: effects.succeed(claim, receipt=receipt),
            stay=lambda: effects.stay(call.key),
        )
        await attempt(effect, ends, what="tool", call=call, timeout_s=door.timeout_s)

    async def _as_it_is_now(
        self, call: Call, door: Door, read: dict[str, int] | None = None
    ) -> tuple[Looked, CallContent]:
        """The sealed arguments, looked up and judged again; by the caps of the claim, where `read` tells them.

        Raises:
            NoAnswer: its check or preview failed, or gave none in time.
            JobTimeout: the job's time is over. Where the look itself had used up its own, ops is told.
        """
        clock = asyncio.get_running_loop()
        until = clock.time() + LONGEST_S
        try:
            return await bounded(self._looked_up(call, door, read), seconds=LONGEST_S, what="its check or preview")
        except JobTimeout:
            if clock.time() > until:  # it blocks the event loop, which only the job's alarm can end
                self._alarm(call, "gate", "gate_failed", f"The check or preview of {call.tool} blocked the worker.")
            raise

    async def _looked_up(self, call: Call, door: Door, read: dict[str, int] | None) -> tuple[Looked, CallContent]:
        looked = await look(call.key, door, call.content, requester=self.run.requester)
        if looked.kind == "facts":  # without them there is no telling what the rule would limit or forbid
            raise NoAnswer((looked.problem or "its check failed").removesuffix("."))
        need, asked = self._judge(call, looked, read), call.content.requirement
        need = still_asked(asked, need, self.deps.law.reviewers) if asked.mode is Mode.HUMAN else need
        content = await described(looked, need, agent_version=self.loaded.version)
        if preview_failed(looked, need, content) and not call.content.preview.generic:
            raise NoAnswer("its preview failed")
        kept = {"reason": call.content.reason, "lookups": call.content.lookups}
        return looked, content.model_copy(update=kept)

    def _judge(self, call: Call, looked: Looked, read: dict[str, int] | None = None) -> Requirement:
        return judge_again(self.deps, self.run, call, looked, vetoes={}, read=read)

    def _release(self, call: Call, claim: Claim, content: CallContent, changed: list[str]) -> Passed:
        told = content.model_copy(update={"previous": tuple(changed)})
        seal = sealed(self._subject(call), told, version=claim.version + 1)
        self.deps.store.effects.release(claim, content=told, seal=seal, difference=changed)
        return Passed.RETURNED

    async def _revoke(self, call: Call, door: Door, reason: str) -> Passed:
        """Ask again, about what it would be now."""
        looked, content = await self._as_it_is_now(call, door)
        if looked.kind == "arguments" or content.requirement.mode is Mode.FORBIDDEN:
            return self._refuse(call, Cause.POLICY, looked.problem or " ".join(content.requirement.reasons))
        told = content.model_copy(update={"previous": (reason, *difference(call.content, content))})
        seal = sealed(self._subject(call), told, version=call.version + 1)
        answer = self.deps.store.effects.revoke(call.key, lease=self.lease, content=told, seal=seal, reason=reason)
        return Passed.LOST if answer.outcome is Outcome.LEASE_LOST else Passed.RETURNED

    def _changed(self, call: Call) -> Passed:
        reason = "What is stored is not what was sealed; ops must look at it."
        self._alarm(call, "seal", "seal_broken", reason)
        return self._refuse(call, Cause.POLICY, reason)

    def _canary(self, call: Call) -> Passed:
        """The store approves no canary, so somebody else wrote that it is approved."""
        reason = "It is a canary, which may never run; ops must find out who marked it as approved."
        self._alarm(call, "seal", "canary_at_gate", reason)
        return self._refuse(call, Cause.POLICY, reason)

    def _gone(self, call: Call) -> Passed:
        """A tool that its agent lost on purpose is refused; with its agent gone, the deployment is what is wrong."""
        reason = f"{call.tool} is no longer a tool of {call.agent}."
        self._alarm(call, "tool", "tool_gone", reason)
        return self._refuse(call, Cause.POLICY, reason) if call.agent in self.loaded.agents else Passed.WAITS

    def _alarm(self, call: Call, kind: str, event: str, reason: str) -> None:
        self.deps.store.outbox.alarm(f"{kind}:{call.key}", event=event, reason=reason, run=call.run, call=call.key)

    def _refuse(self, call: Call, cause: Cause, reason: str) -> Passed:
        answer = self.deps.store.effects.refuse(call.key, lease=self.lease, cause=cause, reason=reason)
        return Passed.LOST if answer.outcome is Outcome.LEASE_LOST else Passed.ENDED

    def _not_claimed(self, call: Call, outcome: Outcome, detail: dict[str, str]) -> Passed:
        if outcome is Outcome.CAP_REACHED:
            cap, key = detail.get("cap", "a limit"), detail.get("key", "")
            reason = (
                f"The limit on {cap} is reached ({key}: {detail.get('used')} of {detail.get('limit')} minor units)."
            )
            return self._refuse(call, Cause.CAP, reason)
        if outcome is Outcome.LEASE_LOST:
            return Passed.LOST
        if outcome is Outcome.CAPS_MOVED:
            return Passed.MOVED
        return Passed.WAITS if outcome in {Outcome.FROZEN, Outcome.STALE_PERSON} else Passed.ENDED

    def _subject(self, call: Call) -> Subject:
        return Subject.of(call, tenant=self.deps.store.tenant, requester=self.run.requester)

    def _day(self) -> str:
        """The day that daily caps count in: UTC, which no clock change can lengthen or repeat."""
        return datetime.fromtimestamp(self.deps.store.now() / 1000, UTC).date().isoformat()


def _ask_again_because(call: Call, door: Door, need: Requirement, seen: Authority) -> str | None:
    """Why an approval no longer carries, None when it does. A looser law changes nothing."""
    if door.schema != call.content.tool_schema:
        return "The tool was changed since it was approved."
    return stricter(call.content.requirement, need) or (seen.sentence if seen.standing is Standing.LOST else None)


def _more_than_approved(old: CallContent, new: CallContent) -> list[str]:
    """What people did not know of or decide: a law that asks for more by what was looked up, and what has changed."""
    more = stricter(old.requirement, new.requirement)
    return [*([more] if more else []), *difference(old, new)]


def judge_again(
    deps: Deps,
    run: Run,
    call: Call,
    looked: Looked,
    *,
    vetoes: dict[str, str],
    read: dict[str, int] | None = None,
) -> Requirement:
    """What the law asks of one call now, beside everything else the run has taken up.

    `read` is filled with what it looked at of caps, by place; what it holds already is taken as still so.
    """
    spent = dict(deps.store.runs.counts(run.id))
    for label, amount in call.content.requirement.counts.items():  # counted in the store already
        place = (label, amount.currency)
        spent[place] = max(0, spent.get(place, 0) - amount.minor)
    (need,) = judge(
        deps.law,
        [looked],
        requester=run.requester,
        spent=spent,
        vetoes=vetoes,
        now_ms=deps.store.now(),
        held=lambda needs: deps.store.caps.held(needs, run=run.id, without=call.key, read=read),
    )
    return keeping(call.content.requirement, need)
