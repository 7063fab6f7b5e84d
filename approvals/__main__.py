"""The `vobo` command for operators."""

import sys

import click

from approvals.commands import freezing, keys, ledger, show, start
from approvals.errors import ApprovalsError
from policies.law import LawRefused


@click.group()
@click.version_option(package_name="vobo")
def cli() -> None:
    """Batched human approval in Slack for AI agents that must not act alone."""


for command in (
    start.start,
    show.show,
    ledger.ledger,
    freezing.freeze,
    freezing.unfreeze,
    keys.keys,
):
    cli.add_command(command)


def main() -> None:
    """Run the command; what it refuses is one sentence, not a traceback."""
    try:
        cli()
    except (ApprovalsError, LawRefused) as refused:
        click.echo(str(refused), err=True)
        sys.exit(1)


if __name__ == "__main__":
    main()
