"""Which workspaces have installed the app, and their tokens: in SQL, the tokens encrypted with `VOBO_STATE_KEYS`."""

import base64
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any

from slack_sdk.oauth.installation_store import Bot
from slack_sdk.oauth.installation_store.sqlalchemy import SQLAlchemyInstallationStore
from slack_sdk.oauth.state_store.sqlalchemy import SQLAlchemyOAuthStateStore
from sqlalchemy import Dialect, Engine, Table, Text, delete, select
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.types import TypeDecorator

from approvals.databases import engine_of, place_of
from approvals.errors import ApprovalsError
from approvals.installed_tokens import SEALED, token_place
from approvals.layouts import Layout, LayoutTooNew, lay_out, recording_begins
from approvals.vault import Vault
from bot.errors import BotCannotStart

#: Somebody who was sent to Slack comes back within this time, or begins anew.
STATE_S = 600


class InstallationsUnreachable(ApprovalsError):
    """The database of installations does not answer, so no token is known. Check VOBO_INSTALLATIONS_URL."""


class SealedText(TypeDecorator[str]):
    """A text that only holders of `VOBO_STATE_KEYS` can read, bound to the column it stands in."""

    impl = Text
    cache_ok = False

    def __init__(self, vault: Vault, column: str) -> None:
        super().__init__()
        self._vault, self._binding = vault, token_place(column)

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:  # noqa: ARG002 - the same for all
        """What is stored."""
        if value is None:
            return None
        return base64.b64encode(self._vault.seal_blob(value.encode(), self._binding)).decode()

    def process_result_value(self, value: str | None, dialect: Dialect) -> str | None:  # noqa: ARG002
        """What was stored.

        Raises:
            BlobTampered, BlobKeyMissing: it is not what this deployment wrote there.
        """
        return None if value is None else self._vault.open_blob(base64.b64decode(value), self._binding).decode()


class Installations(SQLAlchemyInstallationStore):
    """Slack SDK's store with encrypted tokens, asked by workspace alone.

    A workspace of an enterprise is a workspace like any other; installing for a whole organisation is refused.
    """

    def __init__(self, client_id: str, engine: Engine, vault: Vault) -> None:
        self._vault = vault
        super().__init__(client_id, engine, logger=logging.getLogger("vobo.installations"))
        for made in (self.bots, self.installations):
            for column in made.c:
                if column.name in SEALED:
                    column.type = SealedText(vault, column.name)

    @classmethod
    def open(cls, url: str, client_id: str, vault: Vault) -> "Installations":
        """Open or create the database.

        Raises:
            BotCannotStart: it cannot be opened, or is of a newer version; the text names it without its password.
        """
        place = place_of(url)
        try:
            found = cls(client_id, engine_of(url), vault)
            lay_out(found.engine, found.layout)
        except LayoutTooNew as newer:
            raise BotCannotStart(str(newer)) from None
        except (SQLAlchemyError, ImportError, OSError, ValueError) as failed:
            raise BotCannotStart(
                f"The installations {place or 'of VOBO_INSTALLATIONS_URL'} cannot be opened ({type(failed).__name__})."
                " Check VOBO_INSTALLATIONS_URL."
            ) from None
        return found

    @property
    def layout(self) -> Layout:
        """Its tables are Slack SDK's; a new version of those is a step of ours."""
        return Layout("installations", (self.metadata, self.states().metadata), (recording_begins,))

    def states(self) -> SQLAlchemyOAuthStateStore:
        """What was handed out to people who are at Slack to install; shared, since they may return to another bot."""
        return SQLAlchemyOAuthStateStore(expiration_seconds=STATE_S, engine=self.engine, logger=self.logger)

    def of_team(self, team: str) -> Bot | None:
        """The newest installation in a workspace.

        Raises:
            InstallationsUnreachable: the database does not answer.
            BlobTampered, BlobKeyMissing: its token is not what this deployment wrote.
        """
        column = self.bots.c
        newest = (
            select(self.bots)
            .where(column.client_id == self.client_id, column.team_id == team, column.bot_token.is_not(None))
            .order_by(column.installed_at.desc(), column.id.desc())
            .limit(1)
        )
        with self._asked(), self.engine.connect() as connection:
            row = connection.execute(newest).mappings().first()
        return None if row is None else self.build_bot_entity(row)

    def forget(self, team: str, at: int) -> bool:
        """Drop every token of a workspace that was installed until this instant (s). False when there was none.

        Slack tells late, and again, that the app was removed: whoever has installed it since keeps their token.

        Raises:
            InstallationsUnreachable: the database does not answer.
        """
        with self._asked(), self.engine.begin() as connection:
            gone = [connection.execute(self._of(table, team, at)).rowcount for table in (self.bots, self.installations)]
        return any(gone)

    def keep(self, bot: Bot) -> None:
        """Store a token that was rotated.

        Raises:
            InstallationsUnreachable: the database does not answer.
        """
        with self._asked():
            self.save_bot(bot)

    def _of(self, table: Table, team: str, at: int) -> Any:
        known = table.c.installed_at < datetime.fromtimestamp(at + 1, UTC).replace(tzinfo=None)  # as the SDK writes it
        return delete(table).where(table.c.client_id == self.client_id, table.c.team_id == team, known)

    @contextmanager
    def _asked(self) -> Iterator[None]:
        try:
            yield
        except SQLAlchemyError as failed:
            raise InstallationsUnreachable(
                f"The database of installations does not answer ({type(failed).__name__})."
                " Check VOBO_INSTALLATIONS_URL."
            ) from failed
