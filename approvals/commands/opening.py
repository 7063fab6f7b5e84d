import click
import redis

from approvals.opening import Opened, open_store
from approvals.settings import Settings
from policies.reviewers import Reviewers


def opened() -> tuple[Opened, Reviewers, Settings]:
    """The home team's store and its people, from the environment; warnings go to standard error.

    No rule is loaded: what has happened can be told from anywhere, also when the law is broken.
    """
    settings = Settings.read()
    reviewers = Reviewers.from_toml(settings.reviewers_text())
    found = open_store(settings, tenant=reviewers.team)
    until_it_ends(found.store.runs.client)
    for warning in found.warnings:
        click.echo(f"Warning: {warning}", err=True)
    return found, reviewers, settings


def until_it_ends(client: redis.Redis) -> None:
    """Close what a command connected when it ends, however it ends."""
    click.get_current_context().call_on_close(client.close)
