"""The ledger's tables. Only `ledger_personal` may ever lose a row; nothing else refers to what is in it."""

from typing import Any

from sqlalchemy import BigInteger, Column, Integer, MetaData, String, Table, Text, UniqueConstraint

from approvals.layouts import Layout, recording_begins
from approvals.ledger_check import SEARCHED

METADATA = MetaData()
LAYOUT = Layout("ledger", (METADATA,), (recording_begins,))


def _number() -> Any:
    return BigInteger().with_variant(Integer, "sqlite")


EVENTS = Table(
    "ledger_events",
    METADATA,
    Column("tenant", String(64), primary_key=True),
    Column("seq", _number(), primary_key=True),
    Column("event_id", String(64), nullable=False),
    Column("at", BigInteger, nullable=False),
    Column("type", String(SEARCHED["type"]), nullable=False),
    Column("run", String(SEARCHED["run"]), nullable=False, index=True),
    Column("call", String(SEARCHED["call"]), nullable=False, index=True),
    Column("actor", String(SEARCHED["actor"]), nullable=False, index=True),
    Column("tool", String(SEARCHED["tool"]), nullable=False),
    Column("body", Text, nullable=False),
    Column("hash", String(64), nullable=False),
    UniqueConstraint("tenant", "event_id"),
)
HEADS = Table(
    "ledger_heads",
    METADATA,
    Column("tenant", String(64), primary_key=True),
    Column("seq", BigInteger, nullable=False),
    Column("hash", String(64), nullable=False),
)
#: Personal values of events, which hold only `hash`: SHA-256 of salt and value. A lost salt makes the hash mute.
PERSONAL = Table(
    "ledger_personal",
    METADATA,
    Column("tenant", String(64), primary_key=True),
    Column("hash", String(64), primary_key=True),
    Column("seq", BigInteger, nullable=False, index=True),
    Column("at", BigInteger, nullable=False),
    Column("kind", String(16), nullable=False),
    Column("subject", String(64), nullable=False, index=True),
    Column("salt", String(64), nullable=False),
    Column("value", Text, nullable=False),
)
#: Signed heads of the chain. `told` is 1 once the ops channel is owed the anchor.
ANCHORS = Table(
    "ledger_anchors",
    METADATA,
    Column("tenant", String(64), primary_key=True),
    Column("number", _number(), primary_key=True),
    Column("seq", BigInteger, nullable=False),
    Column("hash", String(64), nullable=False),
    Column("at", BigInteger, nullable=False),
    Column("key", String(64), nullable=False),
    Column("signature", String(128), nullable=False),
    Column("told", Integer, nullable=False, default=0),
)
