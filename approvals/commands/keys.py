import sys
from collections import Counter
from collections.abc import Mapping

import click

from approvals.anchors import Signer
from approvals.commands.opening import until_it_ends
from approvals.key_use import Deployment, deployment, in_words
from approvals.redis_check import check_server, connect
from approvals.sealed_rows import Fate
from approvals.settings import Settings
from approvals.vault import Vault, new_key

_TOLD = {
    Fate.RENEWED: "sealed anew",
    Fate.NEWEST: "needed the newest key already",
    Fate.LEFT: "left: they changed just now, or a worker is at them",
    Fate.UNREADABLE: "left: no configured key opens them, or they were changed",
}


@click.group()
def keys() -> None:
    """Keys for VOBO_STATE_KEYS. No command ever prints one, except `new`."""


@keys.command()
def new() -> None:
    """Print a new key. Put it first in VOBO_STATE_KEYS, keep the old ones behind it; docs/security.md has the steps."""
    click.echo(new_key())


@keys.command("list")
def list_() -> None:
    """Which keys are configured, by their public ids, newest first, and what still needs each. Reads all of Redis.

    Exit code 1: workspaces install the app, and their tokens were not found.
    """
    settings, whole = _whole()
    found = whole.uses()
    secret = settings.anchor_key
    signer = Signer.of(whole.vault, secret.get_secret_value() if secret else None)
    anchors = signer.trusted[-len(whole.vault.key_ids) :]
    for key, public in zip(whole.vault.key_ids, anchors, strict=True):
        click.echo(f"{key}  {in_words(found, key)}  (signs anchors as {public})")
    for key in sorted({name for _, name in found} - set(whole.vault.key_ids) - {""}):
        click.echo(f"{key}  {in_words(found, key)}  (not in VOBO_STATE_KEYS)")
    _told_of_tokens(whole)


@keys.command()
def rewrap() -> None:
    """Seal everything anew that an older key still protects. Safe while everything runs, and to repeat.

    Exit code 1: something is left, or tokens of workspaces were not found, so no key may be removed yet.
    """
    _, whole = _whole()
    found = whole.rewrap()
    for what in sorted({what for what, _ in found}):
        told = [f"{found[what, fate]} {words}" for fate, words in _TOLD.items() if found[what, fate]]
        click.echo(f"{what}: {'; '.join(told)}")
    newest = whole.vault.key_ids[0]
    if _count(found, Fate.LEFT):
        click.echo("Repeat it in a minute for what was left.", err=True)
    if _count(found, Fate.UNREADABLE):
        click.echo("`vobo keys list` says which keys are missing; put them behind the newest and repeat it.", err=True)
    _told_of_tokens(whole)
    if _count(found, Fate.LEFT) or _count(found, Fate.UNREADABLE):
        sys.exit(1)
    click.echo(f"Everything needs the key {newest} alone. See `vobo keys list` before you remove another.")


def _told_of_tokens(whole: Deployment) -> None:
    """Which database of tokens was read. Ends with exit code 1 where there must be one and is none."""
    if whole.tokens.lacking:
        click.echo(whole.tokens.refusal, err=True)
        sys.exit(1)
    click.echo(whole.tokens.said)


def _count(found: Mapping[tuple[str, Fate], int], fate: Fate) -> int:
    return Counter({one: number for one, number in found.items() if one[1] is fate}).total()


def _whole() -> tuple[Settings, Deployment]:
    settings = Settings.read()
    vault = Vault.from_text(settings.state_keys.get_secret_value())
    client = connect(settings.redis_url)
    until_it_ends(client)
    for warning in check_server(client):
        click.echo(f"Warning: {warning}", err=True)
    return settings, deployment(settings, client, vault)
