import click

from approvals.opening import Opened, open_store
from approvals.settings import Settings, SettingsRefused
from policies.law import Law, load_law


def opened() -> tuple[Opened, Law, Settings]:
    """The home team's store and its law, from the environment; warnings go to standard error."""
    settings = Settings.read()
    law = load_law(settings.rules, read_reviewers(settings))
    found = open_store(settings, tenant=law.reviewers.team)
    for warning in found.warnings:
        click.echo(f"Warning: {warning}", err=True)
    return found, law, settings


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
