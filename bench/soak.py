"""`make soak [MINUTES=30]`: mixed traffic while every process is killed at random; then what is left is audited.

Exit code 1 when an effect and the approvals do not match exactly, a run or a message got lost, the ledger does not
verify, a process grows while it lives, or the store by too much for each run (bench/soak_memory.py has the bounds).
"""

import argparse
import random
import sys
import tempfile
import threading
import time
from collections import Counter
from pathlib import Path
from statistics import median

from rich.console import Console

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tests"), str(ROOT / "bench")]

from click_to_effect import PatientStack  # noqa: E402 - beside this file
from figures import Grid, Section  # noqa: E402 - beside this file
from soak_memory import growing, kb_a_run, slope_with_age  # noqa: E402 - as above
from soak_traffic import Desk, Told  # noqa: E402 - beside this file
from soak_trouble import SUPERVISED, Trouble, slope  # noqa: E402 - as above

from approvals.lifecycle import RUN_ENDED, State  # noqa: E402 - this checkout, wherever it is started from
from approvals.redis_check import connect  # noqa: E402 - as above
from approvals.store import Store  # noqa: E402 - as above
from approvals.vault import Vault  # noqa: E402 - as above
from effects import effects_of  # noqa: E402 - the harness of the tests, found through the path above
from reviewing import CHANNEL  # noqa: E402 - as above
from stack import NotInTime, Stack, running, until  # noqa: E402 - as above

TENANT, AT_ONCE = "T0000HOME", 4
#: Opening message, card, outcome, answer; a message more may say that somebody's click came late.
MESSAGES_AT_MOST = 8
DRAINED_S = 60


def main() -> int:
    """Exit code 0 when nothing is wrong."""
    asked = argparse.ArgumentParser(prog="bench/soak.py", description=__doc__)
    asked.add_argument("minutes", nargs="?", type=float, default=30.0)
    asked.add_argument("--seed", type=int, default=None, help="repeat the choices (not the timing) of an earlier soak")
    asked.add_argument("--calm", action="store_true", help="kill nothing: what is seen is whether long lives grow")
    options = asked.parse_args()
    seed = options.seed if options.seed is not None else random.SystemRandom().randrange(1_000_000)
    with tempfile.TemporaryDirectory(prefix="vobo-") as home, running(Path(home), PatientStack) as stack:
        section, wrong = soak(stack, options.minutes, seed, calm=options.calm)
    console = Console(width=110)
    section.show(console)
    for sentence in wrong:
        console.print(f"[red]WRONG[/red] {sentence}", highlight=False)
    console.print("Nothing is wrong." if not wrong else f"{len(wrong)} things are wrong (seed {seed}).")
    return 1 if wrong else 0


def soak(stack: Stack, minutes: float, seed: int, *, calm: bool = False) -> tuple[Section, list[str]]:
    """Trouble (unless `calm`) and traffic for so long, then peace until everything has ended, then the audit."""
    store = Store.open(connect(stack.env["REDIS_URL"]), Vault.from_text(stack.env["VOBO_STATE_KEYS"]), tenant=TENANT)
    desk = Desk(stack, store, random.Random(seed), time.monotonic() + minutes * 60)  # noqa: S311 - to be repeated
    with Trouble(stack, random.Random(seed + 1)) as trouble:  # noqa: S311 - as above
        if calm:
            trouble.calm()
        people = [threading.Thread(target=desk.work) for _ in range(AT_ONCE)]
        for person in people:
            person.start()
        while time.monotonic() < desk.until and trouble.failure is None:
            time.sleep(0.5)
        trouble.calm()
        for person in people:
            person.join()
        until(lambda: not store.ledger.read(1), "the ledger is drained", DRAINED_S, stack.home)
        until(lambda: not store.outbox.due(), "everything owed is posted", DRAINED_S, stack.home)
    if trouble.failure is not None:
        raise NotInTime(trouble.told()) from trouble.failure
    wrong = audit(stack, store, desk.told) + growing(trouble.samples, _runs(desk.told))
    return _section(minutes, seed, trouble, desk.told, stack), wrong


def audit(stack: Stack, store: Store, told: list[Told]) -> list[str]:
    """What does not fit: one sentence each."""
    wrong = [f"{one.run or one.thread}: {one.missing.splitlines()[0]}" for one in told if one.missing]
    effects = Counter(_call_of(row["idempotency_key"]) for rows in effects_of(stack).values() for row in rows)
    approved, rejected = ({key for one in told for key in getattr(one, kind)} for kind in ("approved", "rejected"))
    for key in sorted(approved | rejected | set(effects)):
        call = store.calls.load(key)
        state = call.state if call else None
        if key in approved and (effects[key] != 1 or state is not State.SUCCEEDED):
            wrong.append(f"{key} was approved; it is {state} and had {effects[key]} effects")
        if key in rejected and (effects[key] or state is not State.REJECTED):
            wrong.append(f"{key} was rejected; it is {state} and had {effects[key]} effects")
        if key not in approved | rejected and not (call and len(call.decisions) >= call.needed):
            wrong.append(f"{key} had {effects[key]} effects and nobody approved it")
    wrong += [
        f"{one.run} is {run.state if run else 'gone'}"
        for one in told
        if one.run and ((run := store.runs.load(one.run)) is None or run.state not in RUN_ENDED)
    ]
    wrong += [f"{name} was posted {number} times" for name, number in _posted(stack, told).items() if number > 1]
    wrong += [
        f"the thread of {one.run} has {number} messages after {one.asked} requests: {_kinds(stack, one.thread)}"
        for one, number in _lengths(stack, told)
        if number > MESSAGES_AT_MOST * one.asked
    ]
    return wrong + _unverified(stack)


def _call_of(idempotency_key: str) -> str:
    return "call_" + idempotency_key.rpartition("call_")[2]


def _posted(stack: Stack, told: list[Told]) -> Counter[str]:
    """How often each message with an id of the outbox stands in the channel."""
    threads = {one.thread for one in told}
    found = Counter[str]()
    for message in stack.slack.messages(CHANNEL):
        name = ((message.get("metadata") or {}).get("event_payload") or {}).get("id")
        if name and message.get("thread_ts") in threads:
            found[name] += 1
    return found


def _lengths(stack: Stack, told: list[Told]) -> list[tuple[Told, int]]:
    """The bot's messages in each conversation's thread."""
    said = Counter(message.get("thread_ts") for message in stack.slack.messages(CHANNEL) if message.get("bot_id"))
    return [(one, said[one.thread]) for one in told if one.run]


def _kinds(stack: Stack, thread: str) -> str:
    """What they begin with."""
    bots = [one for one in stack.slack.messages(CHANNEL) if one.get("thread_ts") == thread and one.get("bot_id")]
    return ", ".join(repr(str(one.get("text"))[:40]) for one in bots)


def _unverified(stack: Stack) -> list[str]:
    try:
        stack.run("-m", "approvals", "ledger", "verify")
    except NotInTime as failed:
        return [f"the ledger does not verify: {failed}"]
    return []


def _section(minutes: float, seed: int, trouble: Trouble, told: list[Told], stack: Stack) -> Section:
    grid = Grid(("process", "kills", "RSS MB, first third", "last third", "grows by MB an hour, once warm"))
    samples = trouble.samples
    third = max(1, len(samples) // 3)
    for name in (*SUPERVISED, "sandbox"):
        growth, error = slope_with_age(samples, name)
        first, last = (median([one.rss[name] for one in part]) / 1e6 for part in (samples[:third], samples[-third:]))
        grid.add(name, trouble.kills[name], f"{first:.0f}", f"{last:.0f}", f"{growth:+.0f} ± {error:.0f}")
    used = [(one.at, float(one.used)) for one in samples]
    runs = _runs(told)
    grid.add(
        "valkey",
        trouble.kills["valkey"],
        f"{used[0][1] / 1e6:.1f}",
        f"{used[-1][1] / 1e6:.1f}",
        f"{slope(used) * 3600 / 1e6:+.1f}",
    )
    approved, rejected = (sum(len(getattr(one, kind)) for one in told) for kind in ("approved", "rejected"))
    lengths = [number for _, number in _lengths(stack, told)]
    how = f"{minutes:g} minutes, {AT_ONCE} conversations at a time, seed {seed}. {trouble.told()}"
    notes = [
        f"{runs} runs, {approved} calls approved and {rejected} rejected, as people saw it recorded.",
        (
            f"messages of the bot in a thread: {median(lengths):.0f} (median), {max(lengths)} (most);"
            f" requests in one, since nobody answered within seconds: {max(one.asked for one in told)} (most)."
        ),
        f"Valkey grows by {kb_a_run(samples, runs):.1f} KB for each run, which stays for seven days once it has ended.",
    ]
    return Section("Soak", how, [grid], notes)


def _runs(told: list[Told]) -> int:
    return sum(bool(one.run) for one in told)


if __name__ == "__main__":
    sys.exit(main())
