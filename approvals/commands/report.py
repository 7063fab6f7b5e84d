from itertools import chain
from pathlib import Path

import click

from approvals.commands.instants import Instant
from approvals.commands.ledger import drained_ledger
from approvals.commands.opening import opened
from approvals.report import report as counted
from approvals.report_page import page
from approvals.report_picture import alt_text, picture
from policies.roster import read_toml


@click.command()
@click.option("--since", type=Instant(), default="30d", show_default=True, help="From when: 30d, 2026-11-01 (UTC).")
@click.option("--until", type=Instant(), default=None, help="Until when, not included; now when not given.")
@click.option("--out", type=click.Path(dir_okay=False, path_type=Path), default=Path("report.html"), show_default=True)
@click.option("--png", type=click.Path(dir_okay=False, path_type=Path), default=None, help="Also as one picture.")
def report(since: int, until: int | None, out: Path, png: Path | None) -> None:
    """What was asked and what became of it, as one HTML page; whether thresholds are right and cards are read."""
    found, _, settings = opened()
    ledger = drained_ledger(found, settings)
    end = found.store.now() if until is None else until
    rows = chain.from_iterable(ledger.pages(found.store.tenant, since=since, until=end))
    laws = ledger.rows(found.store.tenant, types=("law_changed",), until=end)
    zone = str(read_toml(settings.reviewers_text()).get("deadlines", {}).get("zone", "UTC"))
    numbers = counted(rows, since=since, until=end, zone=zone, laws=laws)
    out.write_text(page(numbers), encoding="utf-8")
    click.echo(f"{numbers.asked} calls were asked about in this time. The report is {out}.")
    if png is not None:
        png.write_bytes(picture(numbers))
        click.echo(f"Its picture is {png}: {alt_text(numbers)}")
