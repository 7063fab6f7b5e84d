"""What people do during a soak: ask, read the card, approve or reject, and try again when nothing comes of it."""

import random
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeVar

from redis.exceptions import RedisError

from approvals.errors import ApprovalsError
from approvals.lifecycle import RUN_ENDED, State
from approvals.store import Store
from bot.reject_modal import OWN_WORDS
from bot.sandbox.errors import SandboxError
from reviewing import BRUNO, CHANNEL, OMAR, RITA, ROSA, Thread
from stack import NotInTime, Stack

T = TypeVar("T")
PATIENCE_S = 420.0  # a lease and a tool's longest time may have to pass after a kill, one after the other
AGAIN_S = 8.0
REJECTED_SHARE = 0.2
#: Payments of the sample that need one reviewer; each can be refunded once.
PAYMENTS = ("pay_0001", "pay_0004", "pay_0006", "pay_0008", "pay_0011", "pay_0013", "pay_0017", "pay_0020")


@dataclass
class Told:
    """One conversation: what was asked, what people pressed and saw recorded, what did not come in time."""

    thread: str = ""
    run: str = ""
    approved: list[str] = field(default_factory=list)
    rejected: list[str] = field(default_factory=list)
    missing: str = ""
    #: How often the person asked; who gets no answer within seconds asks again, and each time is a request.
    asked: int = 0


@dataclass
class Desk:
    """Hands out requests until it is closed. One person has one modal open at a time."""

    stack: Stack
    store: Store
    chance: random.Random
    until: float
    payments: list[str] = field(default_factory=lambda: list(PAYMENTS))
    told: list[Told] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)
    keyboard: threading.Lock = field(default_factory=threading.Lock)

    def work(self) -> None:
        """One conversation after the other."""
        while time.monotonic() < self.until:
            one = Told()
            with self.lock:
                self.told.append(one)
                number, request = len(self.told), self._request(len(self.told))
                reject = self.chance.random() < REJECTED_SHARE
            try:
                _Conversation(self, one, request, number).go(reject=reject)
            except (NotInTime, SandboxError) as failed:
                one.missing = str(failed)
            time.sleep(1)

    def _request(self, number: int) -> str:
        kind = self.chance.random()
        if kind < 0.15 and self.payments:  # noqa: PLR2004 - shares of the mix
            return f"refund {self.payments.pop()}"
        if kind < 0.3:  # noqa: PLR2004 - as above
            return "deploy dep_0042"
        return f'write to cus_{number % 38 + 1:04d} "Soak letter {number}"'


@dataclass
class _Conversation:
    desk: Desk
    told: Told
    request: str
    number: int

    def go(self, *, reject: bool) -> None:
        """From the request to the end of the run."""
        slack, store = self.desk.stack.slack, self.desk.store
        thread = self.told.thread = slack.say(ROSA, CHANNEL, f"about {self.number}")["ts"]

        def ask() -> None:
            self.told.asked += 1
            slack.mention(ROSA, CHANNEL, self.request, thread)

        self.told.run = self._insist(
            ask,
            lambda: run.id if (run := store.runs.newest_in_thread(CHANNEL, thread)) else None,
            "a run is recorded",
        )
        for key in self._await(self._posted, "the cards are posted"):
            self._decide(thread, key, reject=reject)
        self._await(lambda: (run := store.runs.load(self.told.run)) and run.state in RUN_ENDED, "the run ends")

    def _posted(self) -> list[str]:
        store = self.desk.store
        run = store.runs.load(self.told.run)
        calls = store.calls.of_pause(self.told.run, 1)
        batches = {call.batch: store.batches.load(call.batch) for call in calls if call.batch}
        there = all(batch is not None and batch.posted_at for batch in batches.values())
        if run is not None and run.state in RUN_ENDED:
            raise NotInTime(f"run {run.id} ended unasked: {run.reason}")
        return [call.key for call in calls if call.state is State.PENDING_REVIEW] if there else []

    def _decide(self, thread: str, key: str, *, reject: bool) -> None:
        people = (OMAR, RITA) if self.request.startswith("deploy") else (BRUNO,)
        for user in people[:1] if reject else people:
            verdict = "reject" if reject else "approve"

            def press(user: str = user, verdict: str = verdict) -> None:
                with self.desk.keyboard:
                    self._press(thread, key, user, verdict)

            def recorded(user: str = user, verdict: str = verdict) -> bool:
                call = self.desk.store.calls.load(key)
                return bool(call and any((one.reviewer, one.verdict) == (user, verdict) for one in call.decisions))

            self._insist(press, recorded, f"the {verdict} of {user} is recorded")
        (self.told.rejected if reject else self.told.approved).append(key)

    def _press(self, thread: str, key: str, user: str, verdict: str) -> None:
        slack, at = self.desk.stack.slack, Thread(self.desk.stack, thread)
        cards = [message for message in at.cards() if f"call:{key}" in str(message["blocks"])]
        if not cards:
            return
        if slack.view(user):
            slack.close_view(user, everything=True)
        clicked = slack.click(user, CHANNEL, cards[0]["ts"], f"call.{verdict}", f"call:{key}")
        if verdict == "reject" and clicked["acked"]:
            view = at.modal(user)
            block = next(one for one in view["blocks"] if one.get("block_id", "").startswith("reason"))
            said = {block["block_id"]: {block["element"]["action_id"]: "not like this"}}
            slack.submit(user, {"common": {"value": OWN_WORDS}, **said})

    def _insist(self, act: Callable[[], object], seen: Callable[[], T | None], what: str) -> T:
        """Do it, wait, and do it again when nothing came of it, as a person would."""
        deadline = time.monotonic() + PATIENCE_S
        while True:
            try:
                act()
            except (SandboxError, NotInTime, StopIteration) as failed:
                if time.monotonic() > deadline:
                    raise NotInTime(f"{what}: {failed}") from failed
            again = time.monotonic() + AGAIN_S
            while time.monotonic() < again:
                found = _seen(seen)
                if found:
                    return found
                time.sleep(0.2)
            if time.monotonic() > deadline:
                raise NotInTime(f"waited {PATIENCE_S:.0f} s, but not: {what}")

    def _await(self, seen: Callable[[], T | None], what: str) -> T:
        deadline = time.monotonic() + PATIENCE_S
        while time.monotonic() < deadline:
            found = _seen(seen)
            if found:
                return found
            time.sleep(0.3)
        raise NotInTime(f"run {self.told.run}: waited {PATIENCE_S:.0f} s, but not: {what}")


def _seen(look: Callable[[], T | None]) -> T | None:
    """The store is killed like everybody else; whoever looks meanwhile sees nothing yet."""
    try:
        return look()
    except (RedisError, ApprovalsError):
        return None
