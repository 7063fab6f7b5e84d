import click

from approvals.vault import new_key


@click.group()
def keys() -> None:
    """Keys for VOBO_STATE_KEYS."""


@keys.command()
def new() -> None:
    """Print a new key. Put it first in VOBO_STATE_KEYS, keep the old ones behind it, restart bot and worker."""
    click.echo(new_key())
