"""The charts of a report, for the page and for the picture alike."""

from collections.abc import Iterator
from typing import NamedTuple

from approvals.charts import APPROVED, EDITED, EXPIRED, REJECTED, Drawing, columns, stacked
from approvals.report import TIMES, Report


class Chart(NamedTuple):
    """One chart: `name` is its place's, `title` is read."""

    name: str
    title: str
    drawing: Drawing


def charts(report: Report) -> Iterator[Chart]:
    """Those for which there is something to draw."""
    rules, reviewers = report.rules, report.reviewers
    if rules:
        parts = {
            "approved": (APPROVED, [one.approved for one in rules]),
            "edited": (EDITED, [one.edited for one in rules]),
            "rejected": (REJECTED, [one.rejected for one in rules]),
            "expired": (EXPIRED, [one.expired for one in rules]),
        }
        yield Chart("rules", "What became of the calls, by rule", stacked([one.tool for one in rules], parts))
    if reviewers:
        said = {
            "approved": (APPROVED, [one.approved for one in reviewers]),
            "edited": (EDITED, [one.edited for one in reviewers]),
            "rejected": (REJECTED, [one.rejected for one in reviewers]),
        }
        yield Chart("people", "Who decided", stacked([one.name for one in reviewers], said))
    if any(report.times):
        names = [name for _, name in TIMES]
        yield Chart("times", "Time to decide", columns(names, report.times, below="decided within"))
    if report.cards_per_run:
        numbers, runs = zip(*report.cards_per_run, strict=True)
        drawing = columns(list(map(str, numbers)), runs, below="cards in one run")
        yield Chart("cards", "Cards per run", drawing)
