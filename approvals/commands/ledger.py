import getpass
from typing import Any

import click

from approvals.anchoring import anchors, verify
from approvals.anchors import Anchor, Signer
from approvals.commands.erasing import erase_noted
from approvals.commands.instants import Instant
from approvals.commands.opening import opened
from approvals.commands.people_meant import LOOKED_AT, nothing_of, people_of
from approvals.commands.tables import print_found
from approvals.ledger import Ledger
from approvals.ledger_head import LedgerDiffers
from approvals.ledger_opening import drained, ledger_of
from approvals.opening import Opened
from approvals.questions import Question, answer
from approvals.settings import Settings
from policies.money import Money, MoneyRefused
from policies.plain_text import visible, visible_lines

LEAST_PERSON = 4
#: Nobody reads more than this on a screen.
IN_A_TABLE = 200


class Amount(click.ParamType[Money]):
    """An amount as people write it, `250.00 EUR`."""

    name = "amount"

    def convert(self, value: object, param: click.Parameter | None, context: click.Context | None) -> Money:
        """Read what was typed."""
        number, _, currency = str(value).rpartition(" ")
        try:
            return Money.typed(number, currency.upper())
        except (MoneyRefused, ValueError, KeyError):
            self.fail(f'{value!r} is no amount. Write it like "250.00 EUR".', param, context)


@click.group(invoke_without_command=True)
@click.option("--by", default=None, help="Who: a Slack user id, or a name as it was at the time.")
@click.option("--run", default=None, help="Only this run.")
@click.option("--tool", default=None, help="Only calls of this tool.")
@click.option("--resource", default=None, help="Only calls that touch this, for example pay_0001.")
@click.option("--over", type=Amount(), default=None, help='Only calls about more than this: --over "250.00 EUR".')
@click.option("--since", type=Instant(), default=None, help="From when: 30d, 12h, 2026-11-29, 2026-11-29T23:10 (UTC).")
@click.option("--until", type=Instant(), default=None, help="Until when, not included.")
@click.option("--type", "types", multiple=True, help="Only these events, for example approved.")
@click.option("--newest", type=click.IntRange(min=1), default=None, help="Only so many; a table shows 200.")
@click.option("--as", "shape", type=click.Choice(["table", "json", "csv"]), default="table")
@click.pass_context
def ledger(context: click.Context, /, shape: str, newest: int | None, **asked: Any) -> None:
    """Who approved what, and when."""
    if context.invoked_subcommand:
        return
    found, kept, _ = open_ledger()
    question, tenant = Question(**asked), found.store.tenant
    most = newest or (IN_A_TABLE if shape == "table" else None)
    fitting = answer(kept, tenant, question, newest=most + 1 if most else None)
    if fitting or shape != "table":
        print_found(fitting[-most:] if most else fitting, shape)
        if most and len(fitting) > most:
            click.echo(f"These are the newest {most}. Narrow it (--since, --by, --type), or set --newest.", err=True)
        return
    people = people_of(kept.rows(tenant, newest=LOOKED_AT)) if question.by else {}
    click.echo(visible(nothing_of(question.by, people)) if question.by else "No event fits.", err=True)


@ledger.command("verify")
@click.option("--anchor", "texts", multiple=True, help="An anchor as the ops channel shows it.")
@click.option("--key", "public_keys", multiple=True, help="A public key that you noted from `vobo ledger key`.")
@click.pass_context
def verify_(context: click.Context, texts: tuple[str, ...], public_keys: tuple[str, ...]) -> None:
    """Check that no row was changed, removed, inserted, re-ordered or cut off, and that all anchors hold."""
    noted = tuple(Anchor.read(text) for text in texts)
    found, _, settings = opened()
    try:
        kept = drained_ledger(found, settings)
    except LedgerDiffers:  # it is looked at all the same, as it is, and this is among what is wrong with it
        kept = Ledger.open(settings.ledger_url, made=False)
    signer, tenant = signer_of(found, settings), found.store.tenant
    problems = verify(found.store, kept, signer, noted=noted, keys=public_keys)
    for problem in problems:
        click.echo(visible_lines(problem))
    if problems:
        context.exit(1)
    made = anchors(kept, tenant)
    signed = f" Signed up to row {made[-1].seq}, anchors made: {len(made)}." if made else " No anchor was made yet."
    click.echo(f"The ledger is whole: every row follows from the row before it.{signed}")


@ledger.command()
def key() -> None:
    """The public key of the ledger's anchors. Note it where whoever runs the database cannot write."""
    found, _, settings = opened()
    click.echo(signer_of(found, settings).trusted[0])


@ledger.command()
@click.option("--without-key", "key", default=None, help="The id of a key that is lost for good.")
@click.option("--reason", default="", help="Why it is; the ledger keeps it.")
def drain(key: str | None, reason: str) -> None:
    """Move what waits in Redis, as a clock does every second. With --without-key also what needs a key that is lost.

    Personal values under such a key are then gone for good; everything else of their events is kept.
    """
    found, _, settings = opened()
    store, kept = found.store, ledger_of(settings.ledger_url, found.store)
    if key is not None:
        if not reason.strip():
            raise click.UsageError("Say with --reason why the key is lost; the ledger keeps it.")
        if key not in set(store.ledger.needed()) - set(found.vault.key_ids):
            raise click.UsageError(f"Nothing waits for the key {key}, or VOBO_STATE_KEYS holds it. Nothing was done.")
        given_up = f"the key {key}: {reason.strip()}"
        store.operators.note("drained_without_key", by=getpass.getuser(), detail=given_up)
    waiting = drained(store, kept, without=[key] if key else [])
    if waiting is not None:
        raise click.ClickException(str(waiting))
    click.echo("Everything that happened so far is in the ledger.")


@ledger.command()
@click.option("--person", default=None, help="A Slack user id, or a value such as an address.")
@click.option("--before", type=Instant(), default=None, help="Personal values older than this: 365d, 2026-01-01.")
@click.option("--reason", default="", help="Why; the ledger keeps it, so name a ticket and not the person.")
@click.confirmation_option(prompt="Personal values are deleted for good. Go on?")
def erase(person: str | None, before: int | None, reason: str) -> None:
    """Forget personal values. Events and their chain stay: they hold hashes, which say nothing without their salts."""
    if person is None and before is None:
        raise click.UsageError("Say whose values (--person) or how old they are (--before).")
    if person is not None and len(person.strip()) < LEAST_PERSON:
        raise click.UsageError(f"--person needs at least {LEAST_PERSON} characters; less would fit half of the ledger.")
    found, _, settings = opened()
    kept, value = ledger_of(settings.ledger_url, found.store), person.strip() if person else None
    waits = drained(found.store, kept)
    done = erase_noted(found, kept, person=value, before=before, why=reason.strip(), waits=waits)
    click.echo(f"{done} were erased. Backups and exports made before still hold them.")


def open_ledger() -> tuple[Opened, Ledger, Settings]:
    """The store and its ledger, with everything in it that has happened so far."""
    found, _, settings = opened()
    return found, drained_ledger(found, settings), settings


def drained_ledger(found: Opened, settings: Settings) -> Ledger:
    """The ledger with everything in it that has happened so far; what has to wait for a key is told.

    Raises:
        LedgerUnreachable: it cannot be opened.
        LedgerDiffers: it is not the one that events were handed over to; nothing was changed anywhere.
    """
    kept = ledger_of(settings.ledger_url, found.store)
    waiting = drained(found.store, kept)
    if waiting is not None:
        click.echo(f"Warning: {waiting}", err=True)
    return kept


def signer_of(found: Opened, settings: Settings) -> Signer:
    """Who signs anchors here."""
    secret = settings.anchor_key
    return Signer.of(found.vault, secret.get_secret_value() if secret else None)
