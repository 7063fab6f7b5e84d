"""Takes every guard away, one at a time, in a copy of the project, and records which test notices: `make mutants`.

    python tests/mutants.py [--only TEXT] [--open] [--fresh]

Writes `docs/guards.md`. A test recorded there is tried first, so that a second run is quick; `--fresh` forgets them,
`--only` looks at guards whose name holds the text, `--open` at those that nobody is known to notice; both keep the rest
as recorded.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from guard_watch import ORDERS
from guards import ROOT, all_guards
from guards_equivalent import EQUIVALENT
from guards_page import PAGE, page, recorded

COPIED = ("approvals", "bot", "policies", "worker", "tests", "docs", ".var/slack-types", "pyproject.toml")
#: What looks at the store or the worker and needs neither a browser nor processes of its own.
TESTS = (
    *("test_store_*.py", "test_lifecycle_matrix.py", "test_worker_*.py", "test_guards_*.py", "test_attention.py"),
    *(
        "test_cancelling.py",
        "test_cap_races.py",
        "test_dead_letters.py",
        "test_equal_names.py",
        "test_exact_numbers.py",
    ),
    *("test_gate_endings.py", "test_inbox.py", "test_laws_in_force.py", "test_metrics.py", "test_parallel_resumes.py"),
    *("test_paused_run.py",),
    *("test_provider_failures.py", "test_reminders.py", "test_rollback.py", "test_run_fencing.py"),
    *("test_second_thoughts.py", "test_strict_arguments.py", "test_tampering.py", "test_time_travel.py"),
    *("test_undo_matrix.py", "test_unknown_alert.py", "test_quiet_reviewers.py"),
    *("test_changes.py", "test_weekly_report.py", "test_deliveries.py", "test_settled_past.py"),
    *("test_undo_attempts.py", "test_undo_law.py", "test_bot_undo.py"),
    *("test_canaries.py", "test_canary_clock.py", "test_bot_canaries.py"),
    *("test_versions.py", "test_held_calls.py", "test_still_at_work.py", "test_rollback.py"),
    *("test_key_rotation.py", "test_sealed_rows.py"),
    *("test_ledger_differs.py", "test_ledger_missing_key.py", "test_read_back.py", "test_check_still_fails.py"),
    *("test_told_elsewhere.py", "test_comes_up_again.py", "test_on_it.py", "test_after_an_edit.py"),
    *("test_moving_data.py", "test_edits_over_grown_data.py", "test_many_resources.py"),
    *("test_blind_approvals.py", "test_failing_rounds.py", "test_patience_of_a_pause.py", "test_ledger_door.py"),
    *("test_watched_people.py", "test_bot_freezing_ledger.py", "test_ledger_differs_commands.py"),
)
#: Of what needs no server, what alone notices something.
UNIT_TESTS = ("test_canaries.py", "test_kept_difference.py", "test_undo_requirement.py", "test_schema_arguments.py")
MEMORY = Path("/dev/shm")  # noqa: S108 - the tests' server needs no disk here


def copy(root: Path) -> None:
    """The project as it is now, so that nobody's edits come between."""
    for name in COPIED:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, root / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy2(source, root / name)


def survey(root: Path, orders: dict[str, Any], hear: Callable[[str, str | None], None]) -> None:
    """Run `guard_watch` in the copy and hand on each result as it comes."""
    results, sheet = root / "results.jsonl", root / "orders.json"
    results.touch()
    sheet.write_text(json.dumps({**orders, "results": str(results)}), encoding="utf-8")
    environment = {**os.environ, "PYTHONPATH": f"{root}{os.pathsep}{root / 'tests'}", ORDERS: str(sheet)}
    if MEMORY.is_dir():
        environment["TMPDIR"] = str(MEMORY)
    tests = [str(path) for pattern in TESTS for path in sorted((root / "tests" / "integration").glob(pattern))]
    tests += [str(root / "tests" / "unit" / name) for name in UNIT_TESTS]
    command = [sys.executable, "-m", "pytest", "-q", "-p", "guard_watch", "-p", "no:cacheprovider", "-p", "no:randomly"]
    with (root / "pytest.log").open("wb") as log, results.open(encoding="utf-8") as lines:
        running = subprocess.Popen([*command, *tests], cwd=root, env=environment, stdout=log, stderr=log)
        ended = False
        while not ended:
            ended = running.poll() is not None  # asked first: what was written before the end is still read
            for line in lines:
                told = json.loads(line)
                hear(told["guard"], told["test"])
            time.sleep(0.5)
    if running.returncode:
        raise SystemExit((root / "pytest.log").read_text(encoding="utf-8", errors="replace")[-3000:])


def main(argv: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="")
    parser.add_argument("--open", action="store_true")
    parser.add_argument("--fresh", action="store_true")
    given = parser.parse_args(argv)
    before = {} if given.fresh else recorded(PAGE)
    guards = all_guards()
    found = {guard.name: before[guard.name] for guard in guards if guard.name in before}
    wanted = [guard.name for guard in guards if given.only in guard.name and guard.name not in EQUIVALENT]
    if given.open:
        wanted = [name for name in wanted if name not in found]
    heard: list[str] = []
    broken: list[str] = []

    def hear(guard: str, test: str | None) -> None:
        if not guard:
            broken.append(str(test))
            print(f"This fails with all guards in place: {test}", file=sys.stderr)  # noqa: T201
            return
        heard.append(guard)
        found.pop(guard, None)
        if test is not None:
            found[guard] = test
        PAGE.write_text(page(guards, found), encoding="utf-8")  # what was found survives an interruption
        print(f"{len(heard)}/{len(wanted)} {guard}\n    {test or 'NOBODY NOTICES'}", flush=True)  # noqa: T201

    with tempfile.TemporaryDirectory(prefix="guards-") as scratch:
        root = Path(scratch)
        copy(root)
        survey(root, {"guards": wanted, "before": before}, hear)
    PAGE.write_text(page(guards, found), encoding="utf-8")
    survivors = [guard for guard in guards if guard.name not in found and guard.name not in EQUIVALENT]
    for guard in survivors:
        print(f"Nobody notices the loss of {guard.name}", file=sys.stderr)  # noqa: T201
    return 1 if survivors or broken else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
