import getpass
from collections.abc import Iterator
from contextlib import contextmanager

import click
import redis

from approvals.commands.opening import opened
from approvals.redis_refusals import StoreUnusable, refusal

_HOLDS = (
    "What holds all the same: while the store takes no writes no call can be claimed, and none can begin, in any"
    " process; what is executing now ends by itself. To have it frozen from the moment the store is repaired: stop all"
    " workers, repair it, repeat this command, then start the workers."
)


@click.command()
@click.option("--reason", required=True, help="Why; ops and the ledger read it.")
def freeze(reason: str) -> None:
    """Stop all effects at once. Decisions go on; what is approved waits."""
    with told(f"NOT FROZEN. {{}} {_HOLDS}"):
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
    with told("NOT UNFROZEN. {}"):
        found.store.switches.unfreeze(getpass.getuser(), why)
    click.echo("Unfrozen: approved calls run again, those whose time has passed lapse.")


@contextmanager
def told(text: str) -> Iterator[None]:
    """A store that answers and takes no writes, in words; `{}` in `text` is what is wrong and what to do.

    Raises:
        StoreUnusable: nothing was written.
    """
    try:
        yield
    except StoreUnusable as refused:
        raise StoreUnusable(text.format(refused)) from None
    except redis.ResponseError as refused:
        raise StoreUnusable(text.format(refusal(refused))) from None
