import getpass
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager

import click
import redis

from approvals.commands.accepting import accept_ledger
from approvals.commands.opening import opened
from approvals.redis_refusals import StoreUnusable, refusal
from approvals.switches import Freeze, must_be_reconciled
from policies.plain_text import visible

_HOLDS = (
    "What holds all the same: while the store takes no writes no call can be claimed, and none can begin, in any"
    " process; what is executing now ends by itself. To have it frozen from the moment the store is repaired: stop all"
    " workers, repair it, repeat this command, then start the workers."
)

_LOOK = "Compare `vobo ledger` with the providers and settle what differs, then repeat this with --reconciled"


@click.command()
@click.option("--reason", required=True, help="Why; ops and the ledger read it.")
def freeze(reason: str) -> None:
    """Stop all effects at once. Decisions go on; what is approved waits."""
    with told(f"NOT FROZEN. {{}} {_HOLDS}"):
        found, _, _ = opened()
        found.store.switches.freeze(getpass.getuser(), reason)
        reasons = found.store.switches.freezes()
    click.echo("Frozen: nothing is claimed until `vobo unfreeze`. What is executing now ends by itself.")
    if len(reasons) > 1:
        click.echo(f"It is frozen for {len(reasons)} reasons now:\n{_listed(reasons)}")


@click.command()
@click.option("--reconciled", is_flag=True, help="You compared what the ledger and the providers know with Redis.")
@click.option(
    "--new-ledger", "new", is_flag=True, help="The ledger is lost for good: begin a new one, and record that."
)
@click.option("--number", default=1, help="How many reasons you were shown, where there are several: all are lifted.")
@click.option("--reason", default="", help="Why effects may happen again; the ledger keeps it.")
def unfreeze(reconciled: bool, new: bool, number: int, reason: str) -> None:  # noqa: FBT001 - passed by name
    """Let approved calls run again. What Redis forgot would run twice, so say that you looked, or why not."""
    if new and not reconciled:
        raise click.UsageError("--new-ledger goes with --reconciled: compare Redis with the providers first.")
    found, _, settings = opened()
    _refuse_unseen(found.store.switches.freezes(), number, reconciled=reconciled)  # before the ledger is accepted
    with told("NOT UNFROZEN. {}"):
        accept_ledger(
            found.store, settings.ledger_url, by=getpass.getuser(), reason=reason, reconciled=reconciled, new=new
        )
    reasons = found.store.switches.freezes()
    if not reasons:
        click.echo("Nothing is frozen.")
        return
    _refuse_unseen(reasons, number, reconciled=reconciled)
    if not reconciled:
        _refuse_without_word(reasons, reason)
    why = "; ".join(part for part in ("reconciled" if reconciled else "", reason.strip()) if part)
    with told("NOT UNFROZEN. {}"):
        answer = found.store.switches.unfreeze(getpass.getuser(), why, seen=len(reasons))
    if not answer.ok:
        raise click.ClickException("Nothing was lifted: it was frozen for another reason just now. Repeat this to see.")
    click.echo("Unfrozen: approved calls run again, those whose time has passed lapse. Lifted:")
    click.echo(_listed(reasons))


def _refuse_unseen(reasons: Sequence[Freeze], number: int, *, reconciled: bool) -> None:
    """Nobody lifts what they were not shown; of one reason the word is about that one.

    Raises:
        click.UsageError: there are several and this is not their number, or somebody has to compare first.
    """
    if must_be_reconciled(reasons) and not reconciled:
        raise click.UsageError(
            f"{_frozen(reasons)}{_LOOK} and --number {len(reasons)}: one of the reasons is that Redis and the ledger"
            " differ."
        )
    if reasons and number != len(reasons):
        raise click.UsageError(
            f"{_frozen(reasons)}Nothing was lifted. To lift all of this, repeat it with --number {len(reasons)}."
        )


def _refuse_without_word(reasons: Sequence[Freeze], why: str) -> None:
    """Raises click.UsageError: nobody looked, and there is no word about why not."""
    if not why.strip():
        raise click.UsageError(f"{_frozen(reasons)}{_LOOK}; or say with --reason why that is not needed.")


def _frozen(reasons: Sequence[Freeze]) -> str:
    number = f" for {len(reasons)} reasons" if len(reasons) > 1 else ""
    return f"Effects are frozen{number}:\n{_listed(reasons)}\n"


def _listed(reasons: Iterable[Freeze]) -> str:
    return "\n".join(f"  {visible(str(one))}" for one in reasons)


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
