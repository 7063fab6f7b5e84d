import getpass
from datetime import UTC, datetime

import click
import redis

from approvals.commands.freezing import told
from approvals.databases import swept
from approvals.ledger import Ledger
from approvals.ledger_errors import LedgerUnreachable, reaching
from approvals.ledger_stream import EventsWait
from approvals.opening import Opened
from approvals.recordings import Recordings
from approvals.redis_refusals import StoreUnusable, refusal
from approvals.sought import Sought


def erase_noted(
    found: Opened, kept: Ledger, *, person: str | None, before: int | None, why: str, waits: EventsWait | None
) -> str:
    """Forget values in the ledger and in what is kept for simulations; returns what was forgotten, in words.

    That it begins is in the ledger before the first is gone, and how many went afterwards: whatever ends it in between,
    somebody can see that it was begun, and repeating it finishes it. What `waits` outside of the ledger is not reached.

    Raises:
        StoreUnusable, LedgerUnreachable: the text says what was done and what was not.
        click.ClickException: it is done, but not in SQLite's log, or not in what waits.
    """
    if person is not None and Sought(person).within(why):
        raise click.UsageError("--reason is kept, so it may not hold what is to be forgotten. Name a ticket instead.")
    tenant, operators, by = found.store.tenant, found.store.operators, getpass.getuser()
    with told("NOTHING WAS ERASED. {}"):
        operators.note("erasing", by=by, detail=f"{_asked(person, before)}{f': {why}' if why else ''}")
    erased = kept.erase(tenant, person=person, before=before)
    try:
        calls = Recordings(kept.engine, found.vault).erase(tenant, person=person, before=before)
    except LedgerUnreachable as failed:
        gone = f"{erased} personal values were erased, the calls kept for simulations were not: repeat this."
        raise LedgerUnreachable(f"{gone} {failed}") from failed
    done = f"{erased} personal values and {calls} calls kept for simulations"
    with reaching(f"{done} were erased, but the database's log could not be emptied: repeat this"):
        clean = swept(kept.engine)
    try:
        missed = f", and not what waits for the key {waits.key}" if waits else ""
        operators.note("erased", by=by, detail=f"{done}, {'of one person' if person else 'by age'}{missed}")
    except redis.RedisError as failed:
        begun = f"{done} were erased. The ledger knows only that it was begun: repeat this."
        raise StoreUnusable(f"{begun} {refusal(failed)}") from None
    if waits:
        raise click.ClickException(
            f"{done} were erased. But {waits} Those events hold values too, which come into the ledger with them. Once"
            " nothing waits any more, repeat this."
        )
    if not clean:
        raise click.ClickException(
            f"{done} were erased. But somebody reads the ledger all the time, so SQLite's log (the file that ends in"
            " -wal) still holds them. Repeat this, or stop whoever reads."
        )
    return done


def _asked(person: str | None, before: int | None) -> str:
    of = "values of one person" if person else "values of everybody"
    older = datetime.fromtimestamp(before / 1000, UTC).strftime("%Y-%m-%d %H:%M:%S UTC") if before is not None else ""
    return f"{of}, older than {older}" if older else of
