import csv
import json
import sys

import click
from rich.console import Console

from approvals.commands.opening import opened
from approvals.commands.show import timeline
from approvals.drain import drain_once
from approvals.ledger import Ledger, LedgerRow


@click.group(invoke_without_command=True)
@click.option("--by", "actor", default=None, help="Slack user id of who decided.")
@click.option("--run", default=None, help="Only this run.")
@click.option("--type", "types", multiple=True, help="Only these events, for example approved.")
@click.option("--as", "shape", type=click.Choice(["table", "json", "csv"]), default="table")
@click.pass_context
def ledger(context: click.Context, actor: str | None, run: str | None, types: tuple[str, ...], shape: str) -> None:
    """Who approved what, and when."""
    if context.invoked_subcommand:
        return
    found, _, settings = opened()
    kept = Ledger.open(settings.ledger_url)
    drain_once(found.store, kept)
    rows = kept.rows(found.store.tenant, run=run, actor=actor, types=types)
    _print(rows, shape)


@ledger.command()
def verify() -> None:
    """Check that no row was changed, removed, inserted or re-ordered."""
    found, _, settings = opened()
    problems = Ledger.open(settings.ledger_url).verify(found.store.tenant)
    for problem in problems:
        click.echo(problem)
    if problems:
        sys.exit(1)
    click.echo("The ledger is whole: every row follows from the row before it.")


def _print(rows: list[LedgerRow], shape: str) -> None:
    if shape == "json":
        for row in rows:
            click.echo(json.dumps({"seq": row.seq, "hash": row.hash, **row.body}, ensure_ascii=False))
    elif shape == "csv":
        names = ["at", "type", "run", "call", "tool", "actor", "name", "reason", "cause", "seal"]
        writer = csv.DictWriter(sys.stdout, names, extrasaction="ignore")
        writer.writeheader()
        writer.writerows(row.body for row in rows)
    else:
        Console().print(timeline(rows, title="Ledger"))
