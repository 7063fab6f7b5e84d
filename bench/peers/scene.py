"""What every system of B1 is asked to do: one turn, so many gated calls, all approved. Standard library only."""

import json
import statistics
import sys
import time
from collections.abc import Callable, Iterable
from typing import Any

#: Gated calls of the turn -> rounds; the first ones are not counted.
ROUNDS = {1: 30, 3: 30, 10: 20, 50: 8}
WARM = 3
REQUEST = "Ship what was ordered."
PROMPT = " ".join(
    f"Rule {number}: look at the stock before anything leaves the house, and never ship more than was ordered."
    for number in range(1, 20)
)
DONE = "Everything was shipped."


def arguments(number: int) -> dict[str, Any]:
    """Of the call with this number."""
    return {"lines": [{"item": f"item-{number:03d}", "count": 2 + number % 7}]}


class Timed:
    """The instants of one system at one number of calls."""

    def __init__(self, name: str, calls: int) -> None:
        self.name, self.calls = name, calls
        self.pause: list[float] = []
        self.first: list[float] = []
        self.every: list[float] = []
        self.size = 0.0
        self._effects: list[float] = []

    def effect(self) -> None:
        """A tool's body has begun."""
        self._effects.append(time.perf_counter())

    def round(self, pause: Callable[[], object], decide: Callable[[], object]) -> None:
        """Run until everything is durable; then, later, hand in the decisions."""
        self._effects.clear()
        began = time.perf_counter()
        pause()
        self.pause.append(time.perf_counter() - began)
        if self._effects:
            raise RuntimeError(f"{self.name} ran a call that nobody had approved")
        began = time.perf_counter()
        decide()
        if len(self._effects) != self.calls:
            raise RuntimeError(f"{self.name} ran {len(self._effects)} of {self.calls} approved calls")
        self.first.append(self._effects[0] - began)
        self.every.append(self._effects[-1] - began)

    def told(self) -> dict[str, Any]:
        """Medians in seconds, without the first rounds."""
        figures = {"pause": self.pause, "first": self.first, "every": self.every}
        warm = min(WARM, len(self.pause) // 3)
        return {
            "name": self.name,
            "calls": self.calls,
            "bytes": self.size,
            **{name: statistics.median(values[warm:]) for name, values in figures.items()},
        }


def tell(versions: dict[str, str], found: Iterable[Timed]) -> None:
    """For whoever started this script: one line of JSON, the last one."""
    sys.stdout.write(json.dumps({"versions": versions, "found": [one.told() for one in found]}) + "\n")
