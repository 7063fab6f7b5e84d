"""What of a whole deployment needs which key of `VOBO_STATE_KEYS`, and making all of it need the newest alone."""

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import NamedTuple

import redis
from sqlalchemy import Engine
from sqlalchemy.exc import SQLAlchemyError

from approvals.drain import drain_once
from approvals.errors import ApprovalsError
from approvals.findings import Finding, failure, fine, warning
from approvals.installed_tokens import TokenSettings, token_columns, token_engine, tokens_at
from approvals.known_secrets import KnownSecrets
from approvals.ledger import Ledger
from approvals.ledger_opening import ledger_of
from approvals.ledger_stream import EventsWait
from approvals.recordings import Recordings
from approvals.sealed_places import rewrap, uses
from approvals.sealed_rows import Fate, SealedColumn
from approvals.settings import Settings
from approvals.store import Store
from approvals.vault import Vault
from approvals.workspaces import SettingsRefused, team_of, texts_by_workspace

#: Events of the ledger hold encrypted parts until they are drained.
EVENTS = "events on their way to the ledger"


class KeysUnread(ApprovalsError):
    """Something that may need an older key could not be looked at, so nobody can say that the key is free."""


class Tokens(NamedTuple):
    """Where tokens of installed workspaces were looked for; `lacking`: there must be some, and none were found."""

    said: str
    lacking: bool

    @property
    def refusal(self) -> str:
        """What to do where they are lacking."""
        return (
            f"{self.said} But workspaces install the app, and their tokens need keys too: set VOBO_INSTALLATIONS_URL to"
            " the bot's, or start where the bot does. Remove no key before."
        )


class Deployment(NamedTuple):
    """Everything that is encrypted: the stores of all workspaces, the ledger, and columns in SQL."""

    vault: Vault
    stores: tuple[Store, ...]
    ledger: Ledger
    columns: tuple[tuple[Engine, SealedColumn], ...]
    tokens: Tokens

    def uses(self) -> Counter[tuple[str, str]]:
        """How many values of which kind need which key, by its public id; empty for what is not ours.

        Raises:
            KeysUnread: a database does not answer.
        """
        found = self.rows()
        for store in self.stores:
            found += uses(store.runs)
            found.update((EVENTS, key) for key in store.ledger.needed())
        return found

    def rows(self) -> Counter[tuple[str, str]]:
        """The same for what is in SQL, which is cheap to count.

        Raises:
            KeysUnread: a database does not answer.
        """
        found: Counter[tuple[str, str]] = Counter()
        for engine, column in self.columns:
            with _answering():
                for key, number in column.uses(engine).items():
                    found[column.what, key] += number
        return found

    def rewrap(self) -> Counter[tuple[str, Fate]]:
        """Make everything need the newest key. Repeating it does nothing more; no write of another process is lost.

        Raises:
            KeysUnread, LedgerUnreachable: a database does not answer; what was done until then is done.
        """
        found: Counter[tuple[str, Fate]] = Counter()
        for store in self.stores:
            found += self._drain(store)
            found += rewrap(store.runs)
        for engine, column in self.columns:
            with _answering():
                for fate, number in column.rewrap(engine, self.vault).items():
                    found[column.what, fate] += number
        return found

    def _drain(self, store: Store) -> Counter[tuple[str, Fate]]:
        found: Counter[tuple[str, Fate]] = Counter()
        try:
            while drained := drain_once(store, self.ledger):
                found[EVENTS, Fate.RENEWED] += drained
        except EventsWait:
            found[EVENTS, Fate.UNREADABLE] += store.tallies.read().undrained
        return found


def deployment(settings: Settings, client: redis.Redis, vault: Vault) -> Deployment:
    """All workspaces of VOBO_REVIEWERS, also where VOBO_WORKSPACE names one: they share the keys.

    Raises:
        SettingsRefused, LedgerUnreachable, KeysUnread: something is not set, or does not answer.
        LedgerDiffers: it is not the ledger that events were handed over to.
    """
    secrets = KnownSecrets.of(settings, os.environ)  # draining takes them out of events
    stores = tuple(Store.open(client, vault, tenant=team, secrets=secrets) for team in teams(settings))
    ledger = ledger_of(settings.ledger_url, *stores)
    with _answering():
        columns = [(ledger.engine, Recordings(ledger.engine, vault).sealed())]
        url = TokenSettings.read().installations_url
        engine = token_engine(url)
        held = [(engine, column) for column in token_columns(engine)] if engine is not None else []
        said = f"Tokens of installed workspaces: {'read from' if held else 'none found at'} {tokens_at(url)}."
        installed = settings.reviewers.is_dir() or any(store.switches.installed() for store in stores)
    return Deployment(vault, stores, ledger, (*columns, *held), Tokens(said, lacking=installed and not held))


def teams(settings: Settings) -> tuple[str, ...]:
    """Every workspace there is a file for.

    Raises:
        SettingsRefused: a file cannot be read, or does not say whose it is.
    """
    if settings.reviewers.is_dir():
        return tuple(texts_by_workspace(settings.reviewers, "VOBO_REVIEWERS"))
    team = team_of(settings.reviewers_text())
    if team is None:
        raise SettingsRefused('VOBO_REVIEWERS names a file without team = "T...". Write it there.')
    return (team,)


def keys_needed(settings: Settings, client: redis.Redis, vault: Vault) -> Iterator[Finding]:
    """For `vobo doctor`: what still needs an older key, or one that is gone.

    Redis is counted only while there are several keys: it has to be read for that, all of it.
    """
    newest, *older = vault.key_ids
    try:
        whole = deployment(settings, client, vault)
        found = whole.uses() if older else whole.rows()
    except ApprovalsError as refused:
        yield warning("keys", f"Nobody can say what needs which key. {refused}")
        return
    if older and whole.tokens.lacking:
        yield failure("keys", whole.tokens.refusal)
        return
    if older:
        yield fine("keys", whole.tokens.said)
    for key in older:
        yield (
            warning("keys", f"{in_words(found, key)} still need the key {key}.", "`vobo keys rewrap` changes that.")
            if any(name == key for _, name in found)
            else fine("keys", f"Nothing needs the key {key} any more; once all processes run with {newest}, remove it.")
        )
    for key in sorted({name for _, name in found} - {newest, *older, ""}):
        yield failure(
            "keys",
            f"{in_words(found, key)} need the key {key}, which VOBO_STATE_KEYS does not hold.",
            "Put it behind the newest one, then `vobo keys rewrap`.",
        )


def in_words(found: Mapping[tuple[str, str], int], key: str) -> str:
    """What needs this key: `3 calls, 12 recordings`; `nothing` when nothing does."""
    return ", ".join(_numbers((what, number) for (what, name), number in found.items() if name == key)) or "nothing"


def _numbers(counted: Iterable[tuple[str, int]]) -> Iterator[str]:
    yield from (f"{number} {what}" for what, number in sorted(counted) if number)


@contextmanager
def _answering() -> Iterator[None]:
    try:
        yield
    except (SQLAlchemyError, OSError) as failed:
        raise KeysUnread(
            f"A database does not answer ({type(failed).__name__}), so what needs which key is not known. Check"
            " VOBO_LEDGER_URL and VOBO_INSTALLATIONS_URL."
        ) from failed
