"""Drives one run of the kill matrix as people would, and reports what is left of it at the end."""

import re
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar

from redis.exceptions import RedisError

from approvals.lifecycle import RUN_ENDED, State
from approvals.models import Batch, Call, Run
from approvals.store import Store
from bot.reject_modal import OWN_WORDS
from bot.sandbox.errors import SandboxError
from crash.killing import Killer
from effects import effects_of
from kill_points import Plan, Scene
from reviewing import BRUNO, CHANNEL, OMAR, RITA, ROSA, Thread
from stack import NotInTime, Stack

T = TypeVar("T")
Json = dict[str, Any]
PATIENCE_S = 240.0
#: How long after the end of a run its last messages and ledger rows may take.
ENDED_S = 60.0
#: How long somebody waits for an answer to a click or a mention before trying again.
AGAIN_S = 8.0
EDITED = "edited by a person"
NO = "not like this"
#: One person has one modal open at a time.
_KEYBOARD = threading.Lock()


@dataclass
class Report:
    """What is left of one run. `said` are the decisions that were acknowledged and found answered: who said what."""

    plan: Plan
    thread: str = ""
    run: Run | None = None
    batch: Batch | None = None
    call: Call | None = None
    was_unknown: bool = False
    said: list[tuple[str, str]] = field(default_factory=list)
    missing: str | None = None
    #: The run ended, but the process at an armed step was killed on behalf of another run before it got there.
    overtaken: bool = False


class Driver:
    """One run in a thread of its own."""

    def __init__(self, stack: Stack, store: Store, killer: Killer, plan: Plan) -> None:
        self.stack, self.store, self.killer, self.plan = stack, store, killer, plan
        self.slack = stack.slack
        self.report = Report(plan)
        self.ended = False

    def drive(self) -> Report:
        """From the request to the end of the run; what did not come in time is named in the report."""
        try:
            self._drive()
        except (NotInTime, SandboxError) as failed:
            self.report.missing = str(failed)
            self.report.overtaken = self.ended and bool(self._unreached())
        return self.report

    def _drive(self) -> None:
        # The thread stands before its run, so that steps can be armed for it.
        thread = self.slack.say(ROSA, CHANNEL, f"about {self.plan.name}")["ts"]
        self.report.thread = thread
        self._arm(thread, decided=False)
        run = self._start(thread)
        call = self._posted(run)
        self._arm(thread, decided=True)
        self._decide(thread, call)
        if self.plan.scene is Scene.BLIND:
            self._settle_by_hand(call.key)
        self._await(lambda: (found := self.store.runs.load(run)) and found.state in RUN_ENDED, "the run ends")
        self.ended = True
        self._await(lambda: not self._unreached(), "every armed step is reached", ENDED_S)
        self.report.run = self.store.runs.load(run)
        self.report.call = self.store.calls.load(call.key)
        self.report.batch = self.store.batches.load(call.batch or "")

    def _arm(self, thread: str, *, decided: bool) -> None:
        for step, victims in self.plan.kills:
            if step.decided is decided:
                self.killer.arm(thread, step, victims)

    def _start(self, thread: str) -> str:
        text = f'write to cus_0001 "{self.plan.name}"' if self.plan.scene is not Scene.BLIND else "deploy dep_0042"

        def mention() -> None:
            self.slack.mention(ROSA, CHANNEL, text, thread)

        def started() -> str | None:
            found = self.store.runs.newest_in_thread(CHANNEL, thread)
            return found.id if found else None

        return self._insist(mention, started, "a run is recorded")

    def _posted(self, run: str) -> Call:
        def look() -> Call | None:
            calls = self.store.calls.of_pause(run, 1)
            batch = self.store.batches.load(calls[0].batch or "") if calls else None
            return calls[0] if batch and batch.posted_at else None

        return self._await(look, "the card is posted")

    def _decide(self, thread: str, call: Call) -> None:
        people = (OMAR, RITA) if self.plan.scene is Scene.BLIND else (BRUNO,)
        verdict = {Scene.EDIT: "edit", Scene.REJECT: "reject"}.get(self.plan.scene, "approve")
        for user in people:

            def press(user: str = user) -> None:
                with _KEYBOARD:
                    self._press(thread, call.key, user, verdict)

            def recorded(user: str = user) -> bool:
                found = self.store.calls.load(call.key)
                return bool(found and any((one.reviewer, one.verdict) == (user, verdict) for one in found.decisions))

            self._insist(press, recorded, f"the {verdict} of {user} is recorded")
            self.report.said.append((user, verdict))

    def _press(self, thread: str, key: str, user: str, verdict: str) -> None:
        at = Thread(self.stack, thread)
        card = next(message for message in at.cards() if f"call:{key}" in str(message["blocks"]))
        if self.slack.view(user):
            self.slack.close_view(user, everything=True)
        clicked = self.slack.click(user, CHANNEL, card["ts"], f"call.{verdict}", f"call:{key}")
        if verdict == "approve" or not clicked["acked"]:
            return
        view = at.modal(user)
        name = "arg:/body" if verdict == "edit" else "reason"
        block = next(one for one in view["blocks"] if one.get("block_id", "").startswith(name))
        typed = EDITED if verdict == "edit" else NO
        chosen = {} if verdict == "edit" else {"common": {"value": OWN_WORDS}}
        self.slack.submit(user, {**chosen, block["block_id"]: {block["element"]["action_id"]: typed}})

    def _settle_by_hand(self, key: str) -> None:
        """Nobody can tell: the call stays unknown, ops is told, and only a person ends it."""

        def unknown() -> bool:
            found = self.store.calls.load(key)
            return bool(found and found.state is State.UNKNOWN)

        self._await(unknown, "the call is unknown")
        self._await(lambda: self.store.outbox.load(f"alert:call:{key}"), "ops is told")
        time.sleep(AGAIN_S)  # long enough for anything that would wrongly settle or repeat it
        self.report.was_unknown = unknown()
        happened = any(one["idempotency_key"].endswith(key) for one in effects_of(self.stack)["deployments"])
        self.store.effects.settle(key, happened=happened, by=OMAR, reason="looked at the cluster")

    def _unreached(self) -> list[str]:
        thread = self.report.thread
        return [str(step) for step, _ in self.plan.kills if (thread, step.name) not in self.killer.killed]

    def _insist(self, act: Callable[[], None], seen: Callable[[], T | None], what: str) -> T:
        """Do it, wait, and do it again when nothing came of it, as a person would."""
        deadline = time.monotonic() + PATIENCE_S
        while True:
            try:
                act()
            except (SandboxError, StopIteration, NotInTime) as failed:
                why = re.sub(r"\s+", " ", str(failed))[:200]
            else:
                why = ""
            again = time.monotonic() + AGAIN_S
            while time.monotonic() < again:
                found = self._look(seen)
                if found:
                    return found
                time.sleep(0.1)
            if time.monotonic() > deadline:
                raise NotInTime(f"{self.plan.name}: not in {PATIENCE_S:.0f} s: {what} {why}")

    def _await(self, seen: Callable[[], T | None], what: str, seconds: float = PATIENCE_S) -> T:
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            found = self._look(seen)
            if found:
                return found
            if self.killer.failure:
                raise NotInTime(f"the killer failed: {self.killer.failure!r}")
            time.sleep(0.2)
        left = ", ".join(self._unreached()) or "no step"
        raise NotInTime(f"{self.plan.name}: not in {seconds:.0f} s: {what}; {left} still to be reached")

    @staticmethod
    def _look(seen: Callable[[], T | None]) -> T | None:
        try:
            return seen()
        except RedisError:  # the store was killed just now
            return None
