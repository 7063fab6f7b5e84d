"""Sealing rows anew, on both databases."""

import os
from collections.abc import Iterator

import pytest
from slack_sdk.oauth.installation_store import Installation
from sqlalchemy import insert, text

from approvals.databases import engine_of
from approvals.installed_tokens import token_columns
from approvals.recordings import CALLS, KIND, Recordings
from approvals.sealed_rows import Fate
from approvals.vault import Binding, Vault, new_key
from bot.installations import Installations

OLD, NEW = new_key(), new_key()
OLDEST_ROWS = 450


@pytest.fixture
def old(ledger_url: str) -> Iterator[Installations]:
    made = Installations.open(ledger_url, "1.2", Vault.from_text(OLD))
    made.save(installed("xoxb-1"))
    yield made
    made.engine.dispose()


def installed(token: str) -> Installation:
    return Installation(
        app_id="A1", team_id="T1", bot_token=token, bot_id="B1", bot_user_id="U0BOT", user_id="U1",
        bot_refresh_token=f"{token}-refresh", bot_token_expires_at=1_900_000_000, installed_at=1_800_000_000.0,
    )  # fmt: skip


def test_every_row_is_made_anew_page_by_page_and_only_once(ledger_url: str) -> None:
    engine, old, both = engine_of(ledger_url), Vault.from_text(OLD), Vault.from_text(f"{NEW},{OLD}")
    sealed = Recordings(engine, both).sealed()
    place = [Binding(f"T{number % 3}", KIND, f"call_{number:04}", 1) for number in range(OLDEST_ROWS)]
    rows = [
        {"tenant": one.tenant, "call": one.subject, "at": 1, "blob": old.seal_blob(one.subject.encode(), one)}
        for one in place
    ]
    with engine.begin() as connection:
        connection.execute(insert(CALLS), rows)
        connection.execute(insert(CALLS), {"tenant": "T0", "call": "zz", "at": 1, "blob": rows[0]["blob"]})
    assert sealed.uses(engine) == {old.key_ids[0]: OLDEST_ROWS + 1}
    assert sealed.rewrap(engine, both) == {Fate.RENEWED: OLDEST_ROWS, Fate.UNREADABLE: 1}, "one stood elsewhere"
    assert sealed.uses(engine) == {both.key_ids[0]: OLDEST_ROWS, old.key_ids[0]: 1}
    assert sealed.rewrap(engine, both) == {Fate.NEWEST: OLDEST_ROWS, Fate.UNREADABLE: 1}
    new = Vault.from_text(NEW)
    with engine.connect() as connection:
        found = connection.execute(CALLS.select().where(CALLS.c.call == "call_0449")).one()
    assert new.open_blob(found.blob, place[449]) == b"call_0449"
    engine.dispose()


def test_tokens_are_made_anew_in_both_tables(old: Installations, ledger_url: str) -> None:
    both = Vault.from_text(f"{NEW},{OLD}")
    columns = list(token_columns(old.engine))
    fates = [column.rewrap(old.engine, both) for column in columns]
    assert sum(found[Fate.RENEWED] for found in fates) == 4
    assert {key for column in columns for key in column.uses(old.engine)} == {both.key_ids[0]}
    later = Installations.open(ledger_url, "1.2", Vault.from_text(NEW))
    found = later.of_team("T1")
    later.engine.dispose()
    assert found
    assert (found.bot_token, found.bot_refresh_token) == ("xoxb-1", "xoxb-1-refresh")


def test_a_token_that_slack_renewed_meanwhile_stays(old: Installations) -> None:
    raced: list[bool] = []

    def nonce(size: int) -> bytes:
        """Drawn between reading the row and writing it: the bot stores a renewed token just then."""
        if not raced:
            raced.append(True)
            old.save(installed("xoxb-2"))
        return os.urandom(size)

    both = Vault.from_text(f"{NEW},{OLD}", nonce=nonce)
    first = next(column for column in token_columns(old.engine) if column.name == "bot_token")
    assert first.rewrap(old.engine, both) == {Fate.LEFT: 1}
    found = old.of_team("T1")
    assert found
    assert found.bot_token == "xoxb-2"
    assert first.rewrap(old.engine, both) == {Fate.RENEWED: 1}


def test_what_is_no_blob_needs_no_key_and_stays(old: Installations) -> None:
    with old.engine.begin() as connection:
        connection.execute(text("UPDATE slack_bots SET bot_token = 'xoxb-in-clear'"))
    first = next(column for column in token_columns(old.engine) if column.name == "bot_token")
    assert first.uses(old.engine) == {"": 1}
    assert first.rewrap(old.engine, Vault.from_text(NEW)) == {Fate.UNREADABLE: 1}
