"""What a bench found, as tables for the terminal and for docs/benchmarks.md."""

import math
import os
import platform
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from rich.console import Console
from rich.table import Table


@dataclass(frozen=True, slots=True)
class Grid:
    """One table. The first column names the row, figures stand to the right."""

    columns: tuple[str, ...]
    rows: list[tuple[str, ...]] = field(default_factory=list)

    def add(self, *cells: object) -> None:
        """One row more."""
        self.rows.append(tuple(str(cell) for cell in cells))


@dataclass(frozen=True, slots=True)
class Section:
    """One bench: what was measured and how, its tables, and what a reader must know to compare its rows."""

    title: str
    how: str
    grids: list[Grid]
    notes: list[str] = field(default_factory=list)

    def show(self, console: Console) -> None:
        """For the terminal."""
        console.print(f"\n[bold]{self.title}[/bold]\n{self.how}", highlight=False)
        for grid in self.grids:
            table = Table()
            for at, column in enumerate(grid.columns):
                table.add_column(column, justify="right" if at else "left")
            for row in grid.rows:
                table.add_row(*row)
            console.print(table)
        for note in self.notes:
            console.print(f"- {note}", highlight=False)

    def markdown(self) -> str:
        """For the page."""
        parts = [f"## {self.title}", "", self.how, ""]
        for grid in self.grids:
            parts += [_row(grid.columns), _row(("---", *("--:",) * (len(grid.columns) - 1)))]
            parts += [*map(_row, grid.rows), ""]
        if self.notes:
            parts += [*(f"* {note}" for note in self.notes), ""]
        return "\n".join(parts)


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cell.replace('|', '/') for cell in cells)} |"


def at_share(values: Sequence[float], share: float) -> float:
    """The smallest value that so large a share of all do not exceed."""
    return sorted(values)[max(0, math.ceil(share * len(values)) - 1)]


def ms(seconds: float) -> str:
    """Seconds as milliseconds, three figures at most."""
    value = seconds * 1000
    return f"{value:,.0f}" if value >= 100 else f"{value:.1f}"  # noqa: PLR2004 - decimals say nothing beyond


def half_and_most(seconds: Sequence[float]) -> tuple[str, str]:
    """p50 and p95 in milliseconds."""
    return ms(statistics.median(seconds)), ms(at_share(seconds, 0.95))


def took(work: Callable[[], object]) -> float:
    """Seconds that something takes."""
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def kb(size: float) -> str:
    """Bytes as kilobytes."""
    return f"{size / 1000:,.1f}"


def machine() -> str:
    """This machine and what else runs on it."""
    about = Path("/proc/cpuinfo")
    lines = about.read_text(encoding="utf-8").splitlines() if about.exists() else []
    named = next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "")
    load = ", ".join(f"{value:.1f}" for value in os.getloadavg())
    return (
        f"{os.cpu_count()} cores ({named or platform.machine()}), {platform.system()} {platform.release()},"
        f" Python {platform.python_version()}; load average {load}"
    )
