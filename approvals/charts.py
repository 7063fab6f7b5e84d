"""Charts as SVG that a page takes in: every colour is a variable of the page's style, every letter stays text."""

import io
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

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
    """The plotting library is not installed. Run, in the checkout: pip install '.[report]'."""


#: What a colour is drawn with: itself where the page decides, a real one where nobody else does.
Paint = Callable[[str], str]


class Drawing(NamedTuple):
    """Draws into the axes it is given; `height` is what it needs, in inches."""

    draw: Callable[[Any, Paint], None]
    height: float


def stacked(names: Sequence[str], parts: Mapping[str, tuple[str, Sequence[int]]]) -> Drawing:
    """Horizontal bars, one for each name, made of parts: label -> (colour, a number for each name)."""

    def draw(axes: Any, paint: Paint) -> None:
        left = [0] * len(names)
        for label, (colour, numbers) in parts.items():
            axes.barh(range(len(names)), numbers, left=left, color=paint(colour), label=label, height=0.62)
            for place, number in enumerate(numbers):
                left[place] += number
        for place, total in enumerate(left):
            axes.annotate(str(total), (total, place), xytext=(4, 0), textcoords="offset points", va="center")
        axes.set_yticks(range(len(names)), [_short(name) for name in names])
        axes.invert_yaxis()
        axes.margins(x=0.1)
        axes.grid(axis="x", linewidth=0.6)
        axes.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=4, frameon=False, handlelength=0.9, columnspacing=1)

    return Drawing(draw, 0.75 + BAR_IN * max(1, len(names)))


def columns(names: Sequence[str], numbers: Sequence[int], *, below: str) -> Drawing:
    """Columns with their number on top; `below` says what the names are."""

    def draw(axes: Any, paint: Paint) -> None:
        bars = axes.bar(range(len(names)), numbers, color=paint(PLAIN), width=0.7)
        axes.bar_label(bars, padding=2)
        axes.set_xticks(range(len(names)), names)
        axes.set_yticks([])
        axes.set_xlabel(below)
        axes.margins(y=0.15)

    return Drawing(draw, 2.1)


@contextmanager
def figure_of(width: float, height: float, paint: Paint) -> Iterator[Any]:
    """A figure in our style.

    Raises:
        ChartsMissing: the plotting library is not installed.
    """
    try:
        import matplotlib as mpl  # noqa: PLC0415 - half a second and an extra, for one command
        from matplotlib.figure import Figure  # noqa: PLC0415 - as above
    except ImportError:
        raise ChartsMissing("The report draws with matplotlib. In vobo's checkout: pip install '.[report]'.") from None
    style = {name: paint(value) if value in _INKS else value for name, value in _STYLE.items()}
    with mpl.rc_context(style):
        yield Figure(figsize=(width, height), layout="constrained")


def draw_into(axes: Any, drawing: Drawing, paint: Paint) -> None:
    """One chart."""
    axes.tick_params(length=0)
    axes.set_axisbelow(True)
    drawing.draw(axes, paint)


def _short(name: str) -> str:
    return name if len(name) <= LONGEST_NAME else f"{name[: LONGEST_NAME - 1]}\u2026"


def svg(prefix: str, drawing: Drawing) -> str:
    """One chart for a page; `prefix` keeps its ids apart from those of others.

    Raises:
        ChartsMissing: the plotting library is not installed.
    """
    text = io.StringIO()
    with figure_of(WIDTH_IN, drawing.height, str) as figure:
        draw_into(figure.subplots(), drawing, str)
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
