"""The report as one HTML page that needs nothing else: no script, no font, no address."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from html import escape
from pathlib import Path
from zoneinfo import ZoneInfo

from approvals.calibration import RECORD_DAYS, Share
from approvals.canary_record import told
from approvals.charts import svg
from approvals.report import Report
from approvals.report_charts import charts

STYLE_FILE = Path(__file__).with_name("report_style.css")
_MINUTE, _HOUR = 60, 3_600


def page(report: Report) -> str:
    """The whole page.

    Raises:
        ChartsMissing: the plotting library is not installed.
    """
    begin, end = (_day(at, report.zone) for at in (report.since, report.until))
    sections = "".join([_tiles(report), *_charts(report), _rules(report), _reviewers(report), _learned(report)])
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n'
        f"<title>Approvals, {begin} to {end}</title>\n<style>\n{STYLE_FILE.read_text(encoding='utf-8')}</style>\n"
        f"</head>\n<body>\n<main>\n<h1>Approvals</h1>\n<p class=period>{begin} to {end}, {escape(report.zone)}</p>\n"
        f"{sections}</main>\n</body>\n</html>\n"
    )


def _tiles(report: Report) -> str:
    tiles = [
        (report.asked, "calls asked", f"{report.unasked} more ran unasked"),
        (report.approved, "approved as asked", _of(report.approved, report)),
        (report.edited, "approved with edits", _of(report.edited, report)),
        (report.rejected, "rejected", _of(report.rejected, report)),
        (report.expired, "expired", "nobody decided in time"),
        (duration(report.median_s), "median time to decide", "from the card to the last word"),
        (report.budget, "refused by a budget or cap", "nobody was asked, or no more could be spent"),
        (report.unknown, "unknown outcomes", "somebody had to look"),
        (report.runs, "runs", f"{report.failed_runs} were interrupted"),
        (report.waiting, "still waiting", f"{report.turned_away} clicks came late or from others"),
    ]
    cells = "".join(f"<li><b>{number}</b><span>{what}</span><small>{more}</small></li>" for number, what, more in tiles)
    return f"<ul class=tiles>{cells}</ul>\n"


def _of(number: int, report: Report) -> str:
    settled = report.asked - report.waiting
    return f"{number / settled:.0%} of what was settled" if settled else "nothing was settled"


def _charts(report: Report) -> Iterable[str]:
    return (_figure(chart.title, svg(chart.name, chart.drawing)) for chart in charts(report))


def _figure(title: str, drawing: str) -> str:
    return f"<figure><figcaption>{escape(title)}</figcaption>{drawing}</figure>\n"


def _rules(report: Report) -> str:
    head = ("rule", "asked", "approved", "edited", "rejected", "expired", "approved in a row", "unchanged for")
    rows = [
        (one.tool, one.asked, one.approved, one.edited, one.rejected, one.expired, one.streak, _days(one.unmoved))
        for one in report.rules
    ]
    return _table("By rule", head, rows)


def _reviewers(report: Report) -> str:
    head = ("reviewer", "approved", "edited", "rejected", "faster than one can read", "approved at night", "by day")
    rows = [
        (one.name, one.approved, one.edited, one.rejected, _share(one.quick), _share(one.night), _share(one.day))
        for one in report.reviewers
    ]
    return _table("By reviewer", head, rows)


def _days(days: int | None) -> str:
    return "\u2013" if days is None else f"{days} days or more"


def _share(share: Share) -> str:
    return f"{share.count} of {share.total}" if share.total else "\u2013"


def _table(title: str, head: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    if not rows:
        return ""
    top = "".join(f"<th scope=col>{name}</th>" for name in head)
    body = "".join(
        f"<tr><th scope=row>{escape(str(first))}</th>{''.join(f'<td>{escape(str(cell))}</td>' for cell in rest)}</tr>"
        for first, *rest in rows
    )
    return (
        f"<section class=wide><h2>{title}</h2><div class=scroll tabindex=0 role=region aria-label='{title}'>"
        f"<table><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table></div></section>\n"
    )


def _learned(report: Report) -> str:
    thresholds = list(report.suggestions)
    if not thresholds and report.too_young:
        thresholds = [f"Nothing yet: suggestions need {RECORD_DAYS} days of record."]
    elif not thresholds:
        thresholds = ["Nothing stands out."]
    said = _list("Are the thresholds right?", thresholds, "These are suggestions. Nothing changes by itself.")
    read = [*report.signals, *([told(report.canaries)] if report.canaries.any else [])]
    return said + (_list("Are the cards read?", read, "") if read else "")


def _list(title: str, sentences: Sequence[str], note: str) -> str:
    items = "".join(f"<li>{escape(sentence)}</li>" for sentence in sentences)
    return f"<section class=wide><h2>{title}</h2><ul>{items}</ul><p class=note>{note}</p></section>\n"


def duration(seconds: float | None) -> str:
    """Seconds as people say them; a dash when there is nothing to say."""
    if seconds is None:
        return "\u2013"
    if seconds < _MINUTE:
        return f"{seconds:.0f} s"
    return f"{seconds / _MINUTE:.0f} min" if seconds < _HOUR else f"{seconds / _HOUR:.1f} h"


def _day(at: int, zone: str) -> str:
    return datetime.fromtimestamp(at / 1000, ZoneInfo(zone)).strftime("%-d %B %Y")
