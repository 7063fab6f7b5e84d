"""Where the tokens of installed workspaces are encrypted. The bot uses them; the `vobo` command sees to their keys."""

from collections.abc import Callable, Iterator
from pathlib import Path

from pydantic import Field
from sqlalchemy import Engine, column, inspect, table
from sqlalchemy.engine import make_url

from approvals.databases import engine_of, place_of
from approvals.sealed_rows import SealedColumn
from approvals.settings import Settings
from approvals.vault import Binding

DEFAULT_URL = "sqlite:///.var/installations.db"
SEALED = ("bot_token", "bot_refresh_token", "user_token", "user_refresh_token", "incoming_webhook_url")
_TABLES = ("slack_bots", "slack_installations")


class TokenSettings(Settings):
    """What the `vobo` command reads beside what all processes share."""

    installations_url: str = Field(DEFAULT_URL, alias="VOBO_INSTALLATIONS_URL")


def token_place(name: str) -> Binding:
    """What a token is bound to: the column it stands in."""
    return Binding("slack", "installation", name, 1)


def token_engine(url: str) -> Engine | None:
    """The database of installations; None where nobody has ever installed anything, so that none is made."""
    parsed = make_url(url)
    if parsed.get_backend_name() == "sqlite" and not Path(parsed.database or "").is_file():
        return None
    return engine_of(url)


def tokens_at(url: str) -> str:
    """Where that database is, for whoever must see whether it is the right one: a relative file depends on where they
    are.
    """
    parsed = make_url(url)
    is_file = parsed.get_backend_name() == "sqlite" and parsed.database
    return (
        str(Path(parsed.database).absolute()) if is_file and parsed.database else place_of(url) or "an unreadable URL"
    )


def token_columns(engine: Engine) -> Iterator[SealedColumn]:
    """Every column of every table there that holds an encrypted token."""
    there = inspect(engine)
    for name in _TABLES:
        if not there.has_table(name):
            continue
        held = {one["name"] for one in there.get_columns(name)} & set(SEALED)
        rows = table(name, column("id"), *map(column, sorted(held)))
        for sealed in sorted(held):
            yield SealedColumn("installation tokens", rows, ("id",), sealed, _always(token_place(sealed)), text=True)


def _always(place: Binding) -> Callable[[object], Binding]:
    return lambda _row: place
