"""The report as one PNG, upright, so that it can be read on a phone. It looks the same for everybody, on white."""

import io
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

from approvals.charts import APPROVED, EDITED, EXPIRED, GRID, INK, PLAIN, REJECTED, SOFT, draw_into, figure_of
from approvals.report import Report
from approvals.report_charts import Chart, charts
from approvals.report_page import duration

#: As in report_style.css, where it is light.
_COLOURS = {
    INK: "#23211d",
    SOFT: "#69645a",
    GRID: "#e2dfd7",
    APPROVED: "#2f7d6b",
    EDITED: "#d99a2b",
    REJECTED: "#b8443b",
    EXPIRED: "#a5a096",
    PLAIN: "#4c6fa5",
}
_WIDTH_IN, _HEAD_IN, _DPI = 7.0, 1.5, 160
_TITLE_IN = 0.35
#: Rows of a chart, and charts; a picture is no table.
MOST_BARS = 12


def picture(report: Report) -> bytes:
    """The PNG.

    Raises:
        ChartsMissing: the plotting library is not installed.
    """
    found = list(charts(_shortened(report)))
    heights = [_HEAD_IN, *(chart.drawing.height + _TITLE_IN for chart in found)]
    out = io.BytesIO()
    with figure_of(_WIDTH_IN, sum(heights), _paint) as figure:
        figure.set_facecolor("white")
        head, *rest = figure.subfigures(len(heights), 1, height_ratios=heights, squeeze=False)[:, 0]
        _head(head, report)
        for part, chart in zip(rest, found, strict=True):
            _chart(part, chart)
        figure.savefig(out, format="png", dpi=_DPI, metadata={"Software": None})
    return out.getvalue()


def alt_text(report: Report) -> str:
    """The picture in words, for whoever does not see it."""
    rules = "; ".join(
        f"{one.tool}: {one.asked} asked, {one.approved} approved, {one.edited} edited, {one.rejected} rejected,"
        f" {one.expired} expired"
        for one in report.rules[:MOST_BARS]
    )
    return f"{_period(report)}. {rules or 'Nobody was asked anything'}."


def _shortened(report: Report) -> Report:
    busiest = sorted(report.rules, key=lambda one: -one.asked)[:MOST_BARS]
    return replace(report, rules=tuple(busiest), reviewers=report.reviewers[:MOST_BARS])


def _paint(ink: str) -> str:
    return _COLOURS[ink]


def _head(place: Any, report: Report) -> None:
    place.text(0.02, 0.84, "Approvals", fontsize=17, fontweight="bold", va="center")
    place.text(0.02, 0.62, _period(report), fontsize=10, color=_paint(SOFT), va="center")
    tiles = [
        (str(report.asked), "asked"),
        (str(report.approved), "approved"),
        (str(report.edited), "edited"),
        (str(report.rejected), "rejected"),
        (str(report.expired), "expired"),
        (duration(report.median_s), "median time"),
    ]
    _tiles(place, tiles)


def _tiles(place: Any, tiles: Sequence[tuple[str, str]]) -> None:
    for at, (number, what) in enumerate(tiles):
        left = 0.02 + at * 0.98 / len(tiles)
        place.text(left, 0.33, number, fontsize=16, fontweight="bold", va="center")
        place.text(left, 0.1, what, fontsize=9, color=_paint(SOFT), va="center")


def _chart(place: Any, chart: Chart) -> None:
    place.suptitle(chart.title, x=0.02, ha="left", fontsize=11, fontweight="bold")
    draw_into(place.subplots(), chart.drawing, _paint)


def _period(report: Report) -> str:
    zone = ZoneInfo(report.zone)
    first, last = (datetime.fromtimestamp(at / 1000, zone) for at in (report.since, report.until - 1))
    return f"{first:%-d %B} to {last:%-d %B %Y}, {report.zone}"
