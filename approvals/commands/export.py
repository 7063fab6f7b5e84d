from pathlib import Path

import click

from approvals.commands.instants import Instant
from approvals.commands.ledger import open_ledger
from approvals.export import SCHEMA_FILE
from approvals.export import export as exported


@click.command()
@click.option("--since", type=Instant(), default=None, help="From when: 30d, 12h, 2026-11-29 (UTC).")
@click.option("--until", type=Instant(), default=None, help="Until when, not included.")
@click.option(
    "--out", type=click.Path(dir_okay=False, path_type=Path), default=None, help="A file; else to the screen."
)
@click.option("--personal", is_flag=True, help="With personal values, which are masked otherwise.")
@click.option("--schema", is_flag=True, help="Print the JSON Schema of a line instead.")
def export(*, since: int | None, until: int | None, out: Path | None, personal: bool, schema: bool) -> None:
    """The ledger as JSON Lines (vobo.ledger/1), one event a line; see docs/ledger.md."""
    if schema:
        click.echo(SCHEMA_FILE.read_text(encoding="utf-8"), nl=False)
        return
    found, ledger, _ = open_ledger()
    lines = exported(ledger, found.store.tenant, since=since, until=until, personal=personal)
    if out is None:
        for line in lines:
            click.echo(line)
        return
    with out.open("w", encoding="utf-8") as file:
        number = sum(bool(file.write(f"{line}\n")) for line in lines)
    click.echo(f"{number} events are in {out}.")
