"""The ledger's events on their way into SQL: written by the verb's own script, kept here until drained."""

from collections.abc import Sequence
from typing import Any

from approvals.room import Room


class LedgerStream(Room):
    """A stream that is never trimmed; an event leaves it only once it is kept in SQL."""

    __slots__ = ()

    def read(self, count: int = 500) -> list[tuple[str, dict[str, str]]]:
        """(id, fields) of the oldest events."""
        return self._range(count)

    def drop(self, ids: Sequence[str]) -> None:
        """These events are kept elsewhere now. Dropping twice does nothing."""
        if ids:
            self.client.xdel(self.keys.ledger, *ids)

    def of_run(self, run_id: str) -> list[dict[str, str]]:
        """The events of a run that are not drained yet, oldest first, each with its `id`."""
        return [{"id": event_id, **fields} for event_id, fields in self._range(None) if fields.get("run") == run_id]

    def _range(self, count: int | None) -> list[tuple[str, dict[str, str]]]:
        events: Any = self.client.xrange(self.keys.ledger, count=count)
        return [(event_id.decode(), _text(fields)) for event_id, fields in events]


def _text(fields: dict[bytes, bytes]) -> dict[str, str]:
    return {name.decode(): value.decode() for name, value in fields.items()}
