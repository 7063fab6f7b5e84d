from datetime import UTC, datetime

import click
from rich.console import Console
from rich.table import Table

from approvals.commands.opening import opened
from approvals.drain import drain_once
from approvals.ledger import Ledger, LedgerRow


@click.command()
@click.argument("run")
def show(run: str) -> None:
    """The whole story of a run: who asked, who decided what, what ran."""
    found, _, settings = opened()
    ledger = Ledger.open(settings.ledger_url)
    drain_once(found.store, ledger)
    rows = ledger.rows(found.store.tenant, run=run)
    if not rows:
        raise click.ClickException(f"The ledger knows no run {run}. `vobo ledger` lists them.")
    Console().print(timeline(rows, title=f"Run {run}"))


def timeline(rows: list[LedgerRow], *, title: str) -> Table:
    """Ledger rows as a table a person reads."""
    table = Table(title=title, title_justify="left")
    for column in ("when (UTC)", "what", "who", "call", "tool", "why"):
        table.add_column(column)
    for row in rows:
        body = row.body
        when = datetime.fromtimestamp(row.at / 1000, UTC).strftime("%Y-%m-%d %H:%M:%S")
        why = body.get("reason") or body.get("cause") or ""
        who = body.get("name") or body.get("actor", "")
        table.add_row(when, row.type.replace("_", " "), who, body.get("call", ""), body.get("tool", ""), why)
    return table
