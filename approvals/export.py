"""The ledger as JSON Lines, schema `vobo.ledger/1`: complete, and enough to check the chain without this project."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from approvals.ledger import Ledger
from approvals.ledger_rows import ERASED, GENESIS, NOBODY, PREFIX, LedgerRow
from approvals.masks import MASKED
from approvals.told import masked
from policies.plain_text import visible_json

SCHEMA = "vobo.ledger/1"
SCHEMA_FILE = Path(__file__).with_name("ledger_schema.json")
#: Fields of a body that have a place of their own, or that a text of their own holds.
_TEXTS = ("type", "run", "call", "batch", "tool", "seal", "law", "cause", "reason", "mode", "radius", "state")


def export(
    ledger: Ledger, tenant: str, *, since: int | None = None, until: int | None = None, personal: bool = False
) -> Iterator[str]:
    """One line for each event, in order. `personal` puts personal values in place of their masks.

    Raises:
        LedgerUnreachable: the database does not answer.
    """
    last, previous = 0, GENESIS
    for page in ledger.pages(tenant, since=since, until=until):
        for row in page:
            if row.seq != last + 1:  # the instants of rows may leave some out
                previous = ledger.hash_before(tenant, row.seq)
            yield visible_json(json.dumps(_document(row, tenant, previous, personal=personal), ensure_ascii=False))
            last, previous = row.seq, row.hash


def _document(row: LedgerRow, tenant: str, previous: str, *, personal: bool) -> dict[str, Any]:
    body = row.body if personal else _without_people(row)
    actor = body.get("actor", "")
    return {
        "schema": SCHEMA,
        "tenant": tenant,
        "seq": row.seq,
        "event_id": row.event_id,
        "at": datetime.fromtimestamp(row.at / 1000, UTC).isoformat(timespec="milliseconds"),
        **{name: body.get(name) or None for name in _TEXTS},
        "version": int(body["version"]) if body.get("version") else None,
        "decide_by": int(body["decide_by"]) if body.get("decide_by") else None,
        "actor": {"id": actor, "name": body.get("name") or None, "person": actor not in NOBODY} if actor else None,
        "shown": masked(row.shown, reveal=personal) or None,
        "body": row.raw,
        "previous": previous,
        "hash": row.hash,
    }


def _without_people(row: LedgerRow) -> dict[str, str]:
    """What the row holds, with a mask for each name and reason that is kept apart and not erased."""
    apart = {name for name, text in row.raw.items() if text.startswith(PREFIX) and row.body[name] != ERASED}
    return {name: MASKED if name in apart else text for name, text in row.body.items()}
