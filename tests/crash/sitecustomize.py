"""Stops a process of vobo at a named step and waits there, so that the kill matrix can kill something exactly then.

Python runs this file by itself in the processes that the matrix starts with this folder on PYTHONPATH. Nothing of it
is part of vobo: it wraps methods from outside. A step `<method>:before` or `<method>:after` is armed for one thread by
a file `armed/<step>/<thread ts>`; whoever reaches it moves the file to `hit/`, once, and waits for `go/`, which it may
never see. Times that a person would have to wait for are shortened here, and nowhere else.
"""

import functools
import os
import re
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

LEASE_MS, BEAT_S, MARGIN_S, TOOL_S, LEAD_MS = 8_000, 2.0, 1.0, 12.0, 2_500
PATIENCE_S = 30.0
ROLES = {"bot": "bot", "worker": "worker", "worker.clock": "clock"}
_RUN = re.compile(r"run_[A-Za-z0-9]+")


class Steps:
    """What is armed under `home`, for the threads of one tenant's runs."""

    def __init__(self, home: Path, role: str, lookup: Callable[[str, str], bytes | None]) -> None:
        self._home = home
        self._role = role
        self._lookup = lookup
        self._threads: dict[str, str] = {}

    def reached(self, step: str, about: str) -> None:
        """Wait here if this step is armed for the thread whose run, batch, call or message this is about."""
        armed = self._home / "armed" / step
        if not armed.is_dir() or not any(armed.iterdir()):
            return
        thread = self._thread(about)
        if thread is None:
            return
        name = f"{thread}~{step}"
        try:
            (armed / thread).rename(self._home / "taken" / name)
        except FileNotFoundError:  # armed for others, or somebody was here before
            return
        said = self._home / "taken" / f"{name}.said"
        said.write_text(f"{self._role} {os.getpid()} {os.getppid()}")
        said.rename(self._home / "hit" / name)
        until = time.monotonic() + PATIENCE_S
        while not (self._home / "go" / name).exists() and time.monotonic() < until:
            time.sleep(0.005)

    def tried(self, key: str) -> None:
        """Note that an effect is being attempted; a write like this one survives the process."""
        with (self._home / "effects.log").open("a") as log:
            log.write(f"{key}\n")

    def _thread(self, about: str) -> str | None:
        found = _RUN.search(about)
        run = found[0] if found else None
        kind = next((part for part in about.split(":") if part.startswith(("call_", "batch_"))), None)
        if run is None and kind is not None:
            owner = self._lookup(kind, "run")
            run = owner.decode() if owner else None
        if run is None:
            return None
        if run not in self._threads:
            thread = self._lookup(run, "thread_ts")
            if thread is None:
                return None
            self._threads[run] = thread.decode()
        return self._threads[run]


def _named(thing: Any) -> str:
    """What a verb is about: a lease names its run, a claim its call; ids name themselves."""
    return str(getattr(thing, "run", None) or getattr(thing, "call", None) or thing)


def _happened(answer: Any) -> bool:
    """Whether a verb changed something: not None, not refused, not a repetition."""
    answer = answer[0] if isinstance(answer, tuple) and answer and hasattr(answer[0], "outcome") else answer
    outcome = getattr(answer, "outcome", None)
    return outcome == "ok" if outcome is not None else answer is not None and answer is not False


def _wrap(steps: Steps, owner: type, method: str, step: str, *, kinds: bool = False, nth: int = 0) -> None:
    """Make `step:before` and `step:after` of a method; with `kinds` the kind of message stands in the step's name."""
    original = getattr(owner, method)

    @functools.wraps(original)
    def wrapped(self: Any, *args: Any, **named: Any) -> Any:
        about = _named(args[nth])
        name = f"{step}.{about.partition(':')[0]}" if kinds else step
        steps.reached(f"{name}:before", about)
        answer = original(self, *args, **named)
        if _happened(answer) or method == "delivered":
            steps.reached(f"{name}:after", about)
        return answer

    setattr(owner, method, wrapped)


#: What is one thing though it can be gone through; anything else may be gone through only once.
_WHOLE = (str, tuple)


def _wrap_many(steps: Steps, owner: type, method: str, step: str, about: Callable[[Any, Any], Iterable[str]]) -> None:
    """Make `step:before` and `step:after` of a method that is about several things at once; `about` tells them from
    its arguments and its answer, which is None before.
    """
    original = getattr(owner, method)

    @functools.wraps(original)
    def wrapped(self: Any, *args: Any, **named: Any) -> Any:
        args = tuple(list(one) if isinstance(one, Iterable) and not isinstance(one, _WHOLE) else one for one in args)
        for one in dict.fromkeys(about(args, None)):
            steps.reached(f"{step}:before", one)
        answer = original(self, *args, **named)
        for one in dict.fromkeys(about(args, answer)):
            steps.reached(f"{step}:after", one)
        return answer

    setattr(owner, method, wrapped)


def _in_the_bot(steps: Steps) -> None:
    from approvals.batches import Batches  # noqa: PLC0415 - only in the process it is about, here and below
    from approvals.calls import Calls  # noqa: PLC0415
    from approvals.outbox import Outbox  # noqa: PLC0415
    from approvals.runs import Runs  # noqa: PLC0415
    from approvals.undos import Undos  # noqa: PLC0415
    from bot import relay, sending  # noqa: PLC0415

    relay.LEAD_MS = LEAD_MS
    sending.BURST, sending.PER_SECOND = 50, 50.0
    _wrap(steps, Runs, "start", "runs.start")
    _wrap(steps, Outbox, "begin", "outbox.begin", kinds=True)
    _wrap(steps, sending.Sender, "post", "slack.post", kinds=True, nth=2)
    _wrap(steps, Batches, "record_posted", "batches.record_posted")
    _wrap(steps, Outbox, "delivered", "outbox.delivered", kinds=True)
    for verb in ("approve", "reject", "edit"):
        _wrap(steps, Calls, verb, f"calls.{verb}")
    _wrap(steps, Undos, "ask_for", "undos.ask_for")


def _in_the_worker(steps: Steps) -> None:
    from worker import actions, heartbeat  # noqa: PLC0415 - first of all: others copy these numbers when imported

    heartbeat.LEASE_MS = LEASE_MS
    heartbeat.Heartbeat.__init__.__kwdefaults__["every_s"] = BEAT_S
    actions.action.__kwdefaults__["timeout_s"] = TOOL_S
    from approvals import at_work  # noqa: PLC0415
    from approvals.batches import Batches  # noqa: PLC0415
    from approvals.calls import Calls  # noqa: PLC0415
    from approvals.effects import Effects  # noqa: PLC0415
    from approvals.runs import Runs  # noqa: PLC0415
    from approvals.undos import Undos  # noqa: PLC0415
    from worker.refund_desk.tools import deploys  # noqa: PLC0415

    at_work.MARGIN_MS = at_work.PRESENT_MS = int(MARGIN_S * 1000)
    deploys.deploy.reconcile = None  # one tool that cannot tell afterwards
    for verb in ("lease", "save_turn", "pause", "complete"):
        _wrap(steps, Runs, verb, f"runs.{verb}")
    for verb in ("lease", "finish"):
        _wrap(steps, Batches, verb, f"batches.{verb}")
    for verb in ("claim", "intend", "succeed", "settle"):
        _wrap(steps, Effects, verb, f"effects.{verb}")
    _wrap(steps, Calls, "refresh", "calls.refresh")
    for verb in ("claim", "intend", "succeed"):
        _wrap(steps, Undos, verb, f"undos.{verb}")
    _around_the_effect(steps)


def _around_the_effect(steps: Steps) -> None:
    from worker.refund_desk.shop.database import Shop  # noqa: PLC0415

    original = Shop.once

    def once(self: Any, key: str, tool: str, arguments: Any, effect: Any, kind: Any) -> Any:  # noqa: PLR0917 - as it is
        def inside(session: Any, at: str) -> Any:
            made = effect(session, at)
            steps.reached("effect:inside", key)
            return made

        steps.tried(key)
        steps.reached("effect:before", key)
        receipt = original(self, key, tool, arguments, inside, kind)
        steps.reached("effect:after", key)
        return receipt

    Shop.once = once


def _in_the_clock(steps: Steps) -> None:
    from approvals.deadlines import Deadlines  # noqa: PLC0415
    from approvals.ledger import Ledger  # noqa: PLC0415
    from approvals.queue import WakeupQueue  # noqa: PLC0415
    from approvals.wakeups import Wakeups  # noqa: PLC0415

    _wrap_many(steps, Wakeups, "due", "wakeups.due", lambda _args, due: [one[1] for one in due or ()])
    _wrap(steps, WakeupQueue, "enqueue", "queue.enqueue", nth=1)
    _wrap(steps, Deadlines, "apply", "deadlines.apply")
    _wrap_many(steps, Ledger, "append", "ledger.append", lambda args, _: [one.get("run", "") for _, one in args[1]])


def _lookup(tenant: str) -> Callable[[str, str], bytes | None]:
    """Reads a field of a run, batch or call, with patience: the store may have been killed just now."""
    from redis.exceptions import RedisError  # noqa: PLC0415

    from approvals.keys import Keys  # noqa: PLC0415
    from approvals.redis_check import connect  # noqa: PLC0415

    keys = Keys(tenant)
    places = {"run": keys.run, "batch": keys.batch, "call": keys.call}

    def lookup(name: str, field: str) -> bytes | None:
        until = time.monotonic() + PATIENCE_S
        while True:
            try:
                with connect(os.environ["REDIS_URL"]) as client:
                    return client.hget(places[name.partition("_")[0]](name), field)
            except RedisError:
                if time.monotonic() > until:
                    raise
                time.sleep(0.1)

    return lookup


def _install(home: str, role: str) -> None:
    steps = Steps(Path(home), role, _lookup(os.environ["KILL_POINTS_TENANT"]))
    {"bot": _in_the_bot, "worker": _in_the_worker, "clock": _in_the_clock}[role](steps)


_ROLE = ROLES.get(sys.orig_argv[2]) if sys.orig_argv[1:2] == ["-m"] else None
if _ROLE and "KILL_POINTS" in os.environ:  # the one side effect, for which this file exists
    _install(os.environ["KILL_POINTS"], _ROLE)
