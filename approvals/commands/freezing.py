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
@click.option("--reconciled", is_flag=True, help="You compared what the ledger and the providers know with Redis.")
@click.option("--reason", default="", help="Why effects may happen again; the ledger keeps it.")
def unfreeze(reconciled: bool, reason: str) -> None:  # noqa: FBT001 - click passes a flag by name
    """Let approved calls run again. What Redis forgot would run twice, so say that you looked, or why not."""
    found, _, _ = opened()
    frozen = found.store.switches.frozen()
    if frozen is None:
        click.echo("Nothing is frozen.")
        return
    if not reconciled and not reason.strip():
        raise click.UsageError(
            f"Effects are {frozen}. Compare `vobo ledger` with the providers and settle what differs, then repeat"
            " this with --reconciled; or say with --reason why that is not needed."
        )
    why = "; ".join(part for part in ("reconciled" if reconciled else "", reason.strip()) if part)
    found.store.switches.unfreeze(getpass.getuser(), why)
    click.echo("Unfrozen: approved calls run again, those whose time has passed lapse.")
