"""A pytest plugin for `tests/mutants.py`: runs the tests once, then again for every guard that is taken away.

For each guard the process forks, so that nothing is imported, collected or started anew; the child loses the guard,
runs the tests that may notice, the likeliest first, and stops at the first that fails.
"""

import functools
import json
import os
import select
import signal
import sys
import types
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from _pytest.runner import runtestprotocol

from approvals import scripts
from guards import ROOT, SCRIPTS, Guard, all_guards

#: A file with what to do, set by whoever starts pytest with this plugin; results are added to the file named in it.
ORDERS = "GUARD_ORDERS"
LONGEST_S = 400
#: For all tests at once, with every guard in place.
LONGEST_OF_ALL_S = 900
#: Tests that wait for something would be waited for again and again.
TOO_SLOW_S = 3
#: Guards of the first are looked at by tests that import from one of these.
WORKER = ("worker", "workshop")


class Watch:
    """What each test runs and how long it takes, and which ones have noticed something before."""

    def __init__(self, orders: dict[str, Any]) -> None:
        self.before: dict[str, str] = orders["before"]
        self.wanted: set[str] = set(orders["guards"])
        self.results = Path(orders["results"])
        self.ran: dict[str, set[str]] = {}
        self.seconds = Counter[str]()
        self.noticed = Counter(self.before.values())
        self.failed: list[str] = []
        self.now = ""

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.seconds[report.nodeid] += report.duration  # type: ignore[assignment]
        if report.failed:
            self.failed.append(report.nodeid)

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        for item in session.items:
            self.now = item.nodeid
            run(item)
        broken = set(self.failed)
        broken.update(without(None, session.items, self.failed))
        for test in sorted(broken):  # what fails anyway can notice nothing, be it only in a child
            self.tell("", test)
        sound = [item for item in session.items if item.nodeid not in broken]
        for guard in all_guards():
            if guard.name in self.wanted:
                noticed = without(guard, self.able(guard, sound), self.failed)
                self.noticed.update(noticed)
                self.tell(guard.name, next(iter(noticed), None))
        session._setupstate.teardown_exact(None)
        return True

    def able(self, guard: Guard, items: Sequence[pytest.Item]) -> list[pytest.Item]:
        """The tests that run what the guard is in, the one that noticed last time first."""
        name = Path(guard.file).stem
        items = [item for item in items if self.seconds[item.nodeid] < TOO_SLOW_S]
        if guard.file.startswith(SCRIPTS) and not name.startswith("_"):
            items = [item for item in items if name in self.ran.get(item.nodeid, ())]
        if guard.file.startswith(WORKER[0]):
            items = [item for item in items if uses(item, WORKER)]
        last_time = self.before.get(guard.name)
        order = {
            item: (item.nodeid != last_time, -self.noticed[item.nodeid], self.seconds[item.nodeid]) for item in items
        }
        return sorted(items, key=lambda item: order[item])

    def tell(self, guard: str, test: str | None) -> None:
        with self.results.open("a", encoding="utf-8") as results:
            results.write(json.dumps({"guard": guard, "test": test}) + "\n")


def run(item: pytest.Item) -> None:
    """Run one test, and keep what belongs to the session (the server), as if the next one came from the same folder."""
    folder: Any = item.getparent(pytest.Dir)
    item.session._setupstate.teardown_exact(item)  # the one before may be of another folder
    runtestprotocol(item, nextitem=folder)


def without(guard: Guard | None, tests: Sequence[pytest.Item], failed: list[str]) -> list[str]:
    """The first of the tests that fails in a child process without the guard; with no guard, all that fail in one."""
    limit = LONGEST_S if guard else LONGEST_OF_ALL_S
    reads, writes = os.pipe()
    child = os.fork()
    if child == 0:
        failed.clear()
        if guard is not None:
            take_away(guard)
        for test in tests:
            run(test)
            if failed and guard is not None:
                break
        with os.fdopen(writes, "w") as answer:
            answer.write("\n".join(dict.fromkeys(failed)))
        os._exit(0)
    os.close(writes)
    with os.fdopen(reads, "rb") as answer:
        told = f"(no end within {limit} s)".encode()
        if select.select([answer], [], [], limit)[0]:
            told = answer.read()
        else:
            os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    if os.WIFEXITED(status) and os.WEXITSTATUS(status):
        raise RuntimeError(f"The child for {guard} ended with {status}.")
    return told.decode().splitlines()


def uses(item: pytest.Item, packages: Sequence[str]) -> bool:
    """Whether a test's module has anything of these packages by name."""
    module: Any = item.getparent(pytest.Module)
    origins = (
        str(getattr(thing, "__module__", None) or getattr(thing, "__name__", "")) for thing in vars(module.obj).values()
    )
    return any(origin.split(".")[0] in packages for origin in origins)


def take_away(guard: Guard) -> None:
    """Let this process run without the guard, from now on."""
    path = ROOT / guard.file
    text = path.read_text(encoding="utf-8")
    changed = guard.without(text)
    if path.suffix == ".lua":
        known = scripts.source

        @functools.cache
        def source(name: str) -> str:
            return known(name).replace(text, changed)

        scripts.source = source  # type: ignore[assignment]
        return
    name = guard.file.removesuffix(".py").replace("/", ".")
    module = sys.modules[name]
    fresh = types.ModuleType(name)
    fresh.__file__ = module.__file__
    sys.modules[name] = fresh  # dataclasses look their module up
    exec(compile(changed, str(path), "exec"), fresh.__dict__)  # noqa: S102 - our own source, one guard less
    sys.modules[name] = module
    _take_code(vars(module), vars(fresh))


def _take_code(old: Any, new: Any) -> None:
    """Give functions that others hold on to the code they have in the changed module."""
    for name, thing in list(new.items()):
        known = old.get(name)
        if isinstance(known, types.FunctionType) and isinstance(thing, types.FunctionType):
            known.__code__ = thing.__code__
        elif isinstance(known, property) and isinstance(thing, property) and known.fget and thing.fget:
            known.fget.__code__ = thing.fget.__code__
        elif isinstance(known, classmethod | staticmethod):
            known.__func__.__code__ = thing.__func__.__code__
        elif isinstance(known, type) and known.__module__ == old.get("__name__"):
            _take_code({**vars(known), "__name__": "inside"}, vars(thing))


def pytest_configure(config: pytest.Config) -> None:
    watch = Watch(json.loads(Path(os.environ[ORDERS]).read_text(encoding="utf-8")))
    original = scripts.Scripts.run

    def watched(self: scripts.Scripts, name: str, *arguments: Any) -> list[Any]:
        watch.ran.setdefault(watch.now, set()).add(name)
        return original(self, name, *arguments)

    scripts.Scripts.run = watched  # type: ignore[method-assign]
    config.pluginmanager.register(watch, "guard-watch")
