import getpass

import click

from approvals.commands.opening import opened


@click.command()
@click.option("--reason", required=True, help="Why; ops and the ledger read it.")
def freeze(reason: str) -> None:
    """Stop all effects at once. Decisions go on; what is approved waits."""
    found, _, _ = opened()
    found.store.switches.freeze(getpass.getuser(), reason)
    click.echo("Frozen: nothing is claimed until `vobo unfreeze`. What is executing now ends by itself.")


@click.command()
def unfreeze() -> None:
    """Let approved calls run again."""
    found, _, _ = opened()
    found.store.switches.unfreeze(getpass.getuser())
    click.echo("Unfrozen: approved calls run again, those whose time has passed lapse.")
