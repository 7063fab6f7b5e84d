import click

from approvals.commands.opening import opened
from approvals.planting import plant
from policies.law import load_law


@click.command()
def canary() -> None:
    """Show a call that can never run, now, to find out whether cards are read. Only where reviewers.toml opts in."""
    found, _, settings = opened()
    law = load_law(settings.rules, settings.reviewers_text())
    store = found.store
    tried = plant(store, law, store.canaries.draw(store.new_id("now")))
    if tried.run is None:
        raise click.ClickException(f"No canary was shown. {tried.why}")
    click.echo(f"{tried.run} is a canary: it asks like any other call, and nothing runs whatever is decided.")
