import os
from collections.abc import Iterable
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import IO

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
    number = _written(lines, out)
    click.echo(f"{number} events are in {out}.")


def _written(lines: Iterable[str], out: Path) -> int:
    """How many lines there were. A file takes an earlier one's place once it is whole, and only its owner reads it.

    Raises:
        click.ClickException: it cannot be written there; an earlier one is as it was.
    """
    place = out.resolve()
    try:
        if place.exists() and not place.is_file():  # a pipe or a terminal, which nothing may take the place of
            with place.open("w", encoding="utf-8") as file:
                return _write(lines, file)
        with NamedTemporaryFile("w", encoding="utf-8", dir=place.parent, prefix=f".{out.name}.", delete=False) as file:
            try:
                number = _write(lines, file)
                os.fsync(file.fileno())
                Path(file.name).replace(place)
            except BaseException:
                Path(file.name).unlink()
                raise
            return number
    except OSError as failed:
        raise click.ClickException(f"{out} was not written ({failed.strerror or failed}). Name another file.") from None


def _write(lines: Iterable[str], file: IO[str]) -> int:
    number = 0
    for number, line in enumerate(lines, 1):  # noqa: B007 - the last one is how many there were
        file.write(f"{line}\n")
    file.flush()
    return number
