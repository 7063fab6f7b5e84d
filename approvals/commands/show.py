import click

from approvals.commands.ledger import open_ledger
from approvals.commands.tables import calls_table, console, timeline, totals
from approvals.stories import stories


@click.command()
@click.argument("run")
@click.option("--personal", is_flag=True, help="Show personal values that are masked otherwise.")
@click.option("--full", is_flag=True, help="Every argument of every call.")
def show(*, run: str, personal: bool, full: bool) -> None:
    """The whole story of a run: who asked, who decided what, what ran."""
    found, ledger, _ = open_ledger()
    rows = ledger.rows(found.store.tenant, run=run)
    if not rows:
        raise click.ClickException(f"The ledger knows no run {run}. `vobo ledger` lists them.")
    shown = console()
    shown.print(timeline(rows, title=f"Run {run}"))
    calls = stories(rows).calls.values()
    if calls:
        shown.print(calls_table(calls, personal=personal, full=full))
        shown.print(totals(calls), highlight=False)
