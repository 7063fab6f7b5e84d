"""Takes every guard away, one at a time, in a copy of the project, and records which test notices: `make mutants`.

    python tests/mutants.py [--jobs N] [--only TEXT] [--fresh]

Writes `docs/guards.md`. A test recorded there is tried first, so that a second run is quick; `--fresh` forgets them,
`--only` looks at guards whose name holds the text and keeps the rest as recorded.
"""

import argparse
import itertools
import json
import os
import queue
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from guard_watch import REPORT
from guards import ROOT, SCRIPTS, Guard, all_guards
from guards_equivalent import EQUIVALENT
from guards_page import PAGE, page, recorded

COPIED = ("approvals", "bot", "policies", "worker", "tests", "docs", "pyproject.toml")
STORE_TESTS = ("tests/integration/test_store_*.py", "tests/integration/test_lifecycle_matrix.py")
WORKER_TESTS = ("tests/integration/test_worker_*.py",)
#: Written for guards that nothing else noticed; they look at both.
GUARD_TESTS = ("tests/integration/test_guards_*.py",)
LONGEST_S = 120


class Place:
    """One copy of the project, in which one guard is missing at a time."""

    def __init__(self, root: Path) -> None:
        self.root = root
        for name in COPIED:
            source = ROOT / name
            if source.is_dir():
                shutil.copytree(source, root / name, ignore=shutil.ignore_patterns("__pycache__"))
            else:
                shutil.copy2(source, root / name)

    def tests(self, *patterns: str) -> list[str]:
        """The test files that match, in order."""
        return [str(path.relative_to(self.root)) for pattern in patterns for path in sorted(self.root.glob(pattern))]

    def run(self, tests: Sequence[str], *options: str) -> dict[str, Any]:
        """What the watch saw while these tests ran; `failed` names a hang when they did not end."""
        report = self.root / "report.json"
        report.unlink(missing_ok=True)
        environment = {**os.environ, "PYTHONPATH": f"{self.root}{os.pathsep}{self.root / 'tests'}", REPORT: str(report)}
        environment["PYTHONDONTWRITEBYTECODE"] = "1"  # a guard that comes back within a second has the old time stamp
        memory = Path("/dev/shm")  # noqa: S108 - the tests' servers need no disk here
        if memory.is_dir():
            environment["TMPDIR"] = str(memory)
        command = [
            sys.executable,
            "-m",
            "pytest",
            "-q",
            "-p",
            "guard_watch",
            "-p",
            "no:cacheprovider",
            *options,
            *tests,
        ]
        try:
            done = subprocess.run(
                command, cwd=self.root, env=environment, capture_output=True, text=True, timeout=LONGEST_S, check=False
            )
        except subprocess.TimeoutExpired:
            return {"failed": [f"(no end within {LONGEST_S} s)"]}
        if not report.exists():
            raise RuntimeError(f"pytest did not run: {done.stdout[-2000:]}{done.stderr[-2000:]}")
        found: dict[str, Any] = json.loads(report.read_text(encoding="utf-8"))
        return found

    def noticed_by(self, guard: Guard, attempts: Sequence[Sequence[str]]) -> str | None:
        """The first test that fails without the guard; None when none does."""
        path = self.root / guard.file
        text = path.read_text(encoding="utf-8")
        path.write_text(guard.without(text), encoding="utf-8")
        try:
            failures = (self.run(tests, "-x")["failed"] for tests in attempts if tests)
            return next((failed[0] for failed in failures if failed), None)
        finally:
            path.write_text(text, encoding="utf-8")


class Survey:
    """What is known about the tests of an untouched copy: what they run, and how long they take."""

    def __init__(self, place: Place) -> None:
        found = place.run(place.tests(*STORE_TESTS, *WORKER_TESTS, *GUARD_TESTS))
        if found["failed"]:
            raise SystemExit(f"With all guards in place this fails: {found['failed']}")
        self._store = place.tests(*STORE_TESTS, *GUARD_TESTS)
        self._worker = place.tests(*WORKER_TESTS, *GUARD_TESTS)
        self._scripts: dict[str, list[str]] = found["scripts"]
        self._seconds: dict[str, float] = found["seconds"]

    def attempts(self, guard: Guard, before: str | None) -> list[list[str]]:
        """Tests for one guard: the one that noticed last time, then all that could, the quickest first."""
        again = [before] if before in self._seconds else []
        if not guard.file.startswith(SCRIPTS):
            return [again, self._store if guard.file.startswith("approvals") else self._worker]
        name = Path(guard.file).stem
        able = [test for test, ran in self._scripts.items() if test and (name.startswith("_") or name in ran)]
        return [again, sorted(able, key=lambda test: self._seconds.get(test, 0))]


def main(argv: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--only", default="")
    parser.add_argument("--fresh", action="store_true")
    given = parser.parse_args(argv)
    before = {} if given.fresh else recorded(PAGE)
    guards = all_guards()
    found = {guard.name: before[guard.name] for guard in guards if guard.name in before}
    looked_at = [guard for guard in guards if given.only in guard.name and guard.name not in EQUIVALENT]
    with tempfile.TemporaryDirectory(prefix="guards-") as scratch:
        places: queue.Queue[Place] = queue.Queue()
        for number in range(given.jobs):
            places.put(Place(Path(scratch) / str(number)))
        first = places.get()
        survey = Survey(first)
        places.put(first)
        counter, lock = itertools.count(1), threading.Lock()

        def look(guard: Guard) -> None:
            place = places.get()
            try:
                test = place.noticed_by(guard, survey.attempts(guard, before.get(guard.name)))
            finally:
                places.put(place)
            with lock:
                found.pop(guard.name, None)
                if test is not None:
                    found[guard.name] = test
                PAGE.write_text(page(guards, found), encoding="utf-8")  # what was found survives an interruption
                print(f"{next(counter)}/{len(looked_at)} {guard.name}\n    {test or 'SURVIVED'}", flush=True)  # noqa: T201

        with ThreadPoolExecutor(given.jobs) as pool:
            list(pool.map(look, looked_at))
    survivors = [guard for guard in guards if guard.name not in found and guard.name not in EQUIVALENT]
    for guard in survivors:
        print(f"Nothing notices the loss of {guard.name}", file=sys.stderr)  # noqa: T201
    return 1 if survivors else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
