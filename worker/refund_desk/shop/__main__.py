"""`python -m worker.refund_desk.shop`: load the sample's data, and read back what was done to it."""

import sys
from pathlib import Path

import click

from policies.money import Money
from policies.plain_text import visible, visible_json
from worker.refund_desk.shop.amounts import Style
from worker.refund_desk.shop.database import NOT_LOADED, Shop, ShopSettings
from worker.refund_desk.shop.effects import Effects, read_effects
from worker.refund_desk.shop.errors import DataRefused
from worker.refund_desk.shop.files import read_payments
from worker.refund_desk.shop.load import is_empty, load_all, sample_payments
from worker.refund_desk.shop.meanwhile import EVENTS


@click.group()
def main() -> None:
    """The sample shop, in the database named by VOBO_SHOP_URL."""


@main.command()
@click.option("--fresh", is_flag=True, help="Empty the shop first, with everything that was done to it.")
@click.option("--payments", type=click.Path(exists=True, dir_okay=False, path_type=Path), help="Another CSV file.")
@click.option(
    "--style", type=click.Choice([style.value for style in Style]), default=Style.PLAIN.value, show_default=True
)
@click.option("--with", "happened", type=click.Choice(sorted(EVENTS)), multiple=True, help="Then let this happen.")
def load(*, fresh: bool, payments: Path | None, style: str, happened: tuple[str, ...]) -> None:
    """Fill the shop. A shop that has data keeps it, unless --fresh."""
    try:
        given = (
            read_payments(payments.name, payments.read_text(encoding="utf-8"), Style(style))
            if payments
            else sample_payments()
        )
    except DataRefused as refused:
        raise click.ClickException(str(refused)) from None
    shop = Shop.open(ShopSettings().url)
    shop.create(fresh=fresh)
    with shop.writing() as session:
        if is_empty(session):
            load_all(session, given)
            click.echo(f"Loaded {len(given)} payments, the customers, invoices, lists and the manifest.")
        elif not happened:
            click.echo("The shop has data already and keeps it. Start over with --fresh.")
        for name in happened:
            click.echo(f"{name}: {EVENTS[name](session)}.")


@main.command()
@click.option("--json", "as_json", is_flag=True, help="Everything, as one JSON object.")
def effects(*, as_json: bool) -> None:
    """Print what was done: refunds, mails, deletions, deployments, reports."""
    shop = Shop.open(ShopSettings().url)
    if not shop.is_loaded:
        raise click.ClickException(NOT_LOADED)
    with shop.reading() as session:
        done = read_effects(session)
    click.echo(visible_json(done.model_dump_json(indent=2)) if as_json else "\n".join(map(visible, _lines(done))))


def _lines(done: Effects) -> list[str]:
    refunded = ", ".join(str(amount) for amount in done.refunded.values())
    lines = [f"{len(done.refunds)} refunds{f', {refunded}' if refunded else ''}"]
    lines += [
        f"  {refund.payment_id}  {refund.customer_id}  {Money(minor=refund.minor, currency=refund.currency)}"
        for refund in done.refunds
    ]
    lines.append(f"{len(done.mails)} mails")
    lines += [f"  {mail.recipient}  {mail.subject}" for mail in done.mails]
    lines.append(f"{len(done.deletions)} customers deleted")
    lines += [f"  {deletion.customer_id}" for deletion in done.deletions]
    lines.append(f"{len(done.deployments)} deployments")
    lines += [f"  {deployment.manifest_id} to {deployment.environment}" for deployment in done.deployments]
    lines.append(f"{len(done.reports)} reports drafted")
    lines += [f"  {report.title}{' (withdrawn)' if report.withdrawn_at else ''}" for report in done.reports]
    return lines


if __name__ == "__main__":
    sys.exit(main())
