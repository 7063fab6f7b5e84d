import click

from approvals.opening import Opened, open_store
from approvals.settings import Settings, SettingsRefused
from policies.reviewers import Reviewers


def opened() -> tuple[Opened, Reviewers, Settings]:
    """The home team's store and its people, from the environment; warnings go to standard error.

    No rule is loaded: what has happened can be told from anywhere, also when the law is broken.
    """
    settings = Settings.read()
    reviewers = Reviewers.from_toml(read_reviewers(settings))
    found = open_store(settings, tenant=reviewers.team)
    for warning in found.warnings:
        click.echo(f"Warning: {warning}", err=True)
    return found, reviewers, settings


def read_reviewers(settings: Settings) -> str:
    """The text of reviewers.toml.

    Raises:
        SettingsRefused: there is no such file.
    """
    try:
        return settings.reviewers.read_text()
    except OSError as failed:
        raise SettingsRefused(
            f"VOBO_REVIEWERS names {settings.reviewers}, which cannot be read ({failed.strerror})."
            " Set it to the path of your reviewers.toml."
        ) from failed
