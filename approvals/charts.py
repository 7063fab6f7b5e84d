"""Charts as SVG that a page takes in: every colour is a variable of the page's style, every letter stays text."""

import io
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from approvals.errors import ApprovalsError

#: What is drawn with -> the variable it becomes. Matplotlib wants colours; the page decides which they are.
_INKS = {
    "#010101": "var(--ink)",
    "#020202": "var(--soft)",
    "#030303": "var(--grid)",
    "#040404": "var(--approved)",
    "#050505": "var(--edited)",
    "#060606": "var(--rejected)",
    "#070707": "var(--expired)",
    "#080808": "var(--plain)",
}
INK, SOFT, GRID, APPROVED, EDITED, REJECTED, EXPIRED, PLAIN = _INKS
WIDTH_IN = 4.6
BAR_IN = 0.42
LONGEST_NAME = 22
_STYLE: dict[Any, Any] = {
    "svg.fonttype": "none",
    "svg.hashsalt": "vobo",
    "text.parse_math": False,  # a name may hold a dollar sign
    "font.family": "DejaVu Sans",
    "font.size": 9,
    "text.color": INK,
    "axes.labelcolor": SOFT,
    "axes.edgecolor": GRID,
    "xtick.color": SOFT,
    "ytick.color": INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.spines.left": False,
    "grid.color": GRID,
}


class ChartsMissing(ApprovalsError):
    """The plotting library is not installed. Run: pip install 'vobo[report]'."""


def stacked(prefix: str, names: Sequence[str], parts: Mapping[str, tuple[str, Sequence[int]]]) -> str:
    """Horizontal bars, one for each name, made of parts: label -> (colour, a number for each name)."""

    def draw(axes: Any) -> None:
        left = [0] * len(names)
        for label, (colour, numbers) in parts.items():
            axes.barh(range(len(names)), numbers, left=left, color=colour, label=label, height=0.62)
            for place, number in enumerate(numbers):
                left[place] += number
        for place, total in enumerate(left):
            axes.annotate(str(total), (total, place), xytext=(4, 0), textcoords="offset points", va="center")
        axes.set_yticks(range(len(names)), [_short(name) for name in names])
        axes.invert_yaxis()
        axes.margins(x=0.1)
        axes.grid(axis="x", linewidth=0.6)
        axes.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=4, frameon=False, handlelength=0.9, columnspacing=1)

    return _svg(prefix, draw, height=0.75 + BAR_IN * max(1, len(names)))


def columns(prefix: str, names: Sequence[str], numbers: Sequence[int], *, below: str) -> str:
    """Columns with their number on top; `below` says what the names are."""

    def draw(axes: Any) -> None:
        bars = axes.bar(range(len(names)), numbers, color=PLAIN, width=0.7)
        axes.bar_label(bars, padding=2)
        axes.set_xticks(range(len(names)), names)
        axes.set_yticks([])
        axes.set_xlabel(below)
        axes.margins(y=0.15)

    return _svg(prefix, draw, height=2.1)


def _short(name: str) -> str:
    return name if len(name) <= LONGEST_NAME else f"{name[: LONGEST_NAME - 1]}\u2026"


def _svg(prefix: str, draw: Callable[[Any], None], *, height: float) -> str:
    try:
        import matplotlib as mpl  # noqa: PLC0415 - half a second and an extra, for one command
        from matplotlib.figure import Figure  # noqa: PLC0415
    except ImportError:
        raise ChartsMissing("The report draws with matplotlib. Install it: pip install 'vobo[report]'.") from None
    text = io.StringIO()
    with mpl.rc_context(_STYLE):
        figure = Figure(figsize=(WIDTH_IN, height), layout="constrained")
        axes = figure.subplots()
        axes.tick_params(length=0)
        axes.set_axisbelow(True)
        draw(axes)
        figure.savefig(text, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
    return _taken_in(text.getvalue(), prefix)


def _taken_in(svg: str, prefix: str) -> str:
    """The drawing without its own size, with ids that are its alone on a page of several."""
    inner = svg[svg.index("<svg") :]
    inner = re.sub(r' (?:width|height)="[0-9.]+pt"', "", inner, count=2)
    inner = re.sub(r"<metadata>.*?</metadata>", "", inner, flags=re.DOTALL)
    inner = re.sub(r'(\bid="|url\(#|href="#)', rf"\g<1>{prefix}-", inner)
    for ink, variable in _INKS.items():
        inner = inner.replace(ink, variable)
    return inner
