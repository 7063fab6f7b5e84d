"""The ledger's events on their way into SQL: written by the verb's own script, kept here until drained."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from approvals.errors import ApprovalsError
from approvals.kept import disclosed, key_of, replaced
from approvals.ledger_head import Head
from approvals.ledger_rows import LedgerRow
from approvals.outcomes import Answer
from approvals.room import Room
from approvals.vault import BlobKeyMissing, BlobTampered
from policies.strict_json import write_json

_AT_ONCE = 500
UNREADABLE = "What was kept of this version could not be read when it left Redis."


class EventsWait(ApprovalsError):
    """Events stay in Redis, in order, since the key that their personal values need is not configured here."""

    def __init__(self, key: str) -> None:
        super().__init__(
            f"Events wait in Redis and are not in the ledger yet: they need the key {key}, which VOBO_STATE_KEYS does"
            " not hold here. Put it there and restart what lacks it. Only when that key is lost for good:"
            f" `vobo ledger drain --without-key {key} --reason ...`."
        )
        self.key = key


class LedgerStream(Room):
    """A stream that is never trimmed; an event leaves it only once it is kept in SQL."""

    __slots__ = ()

    def read(self, count: int = 500) -> list[tuple[str, dict[str, str]]]:
        """(id, fields) of the oldest events."""
        return self._page("-", count)

    def opened(self, fields: Mapping[str, str]) -> dict[str, str]:
        """An event with the personal values of what it keeps in place; without those that cannot be opened.

        Whoever changed them changed nothing else of the event, and ops has been told. Whoever lacks their key asks
        `lacks` before anything is kept for good.
        """
        text = fields.get("kept", "")
        if not text:
            return dict(fields)
        try:
            document = disclosed(self, fields["call"], int(fields["version"]), text, run=fields["run"])
        except (BlobTampered, BlobKeyMissing):
            document = replaced(json.loads(text)["shown"], lambda _: None)
        except (ValueError, KeyError, TypeError, IndexError):  # nobody but us writes it: one bad event stops no other
            document = {"arguments": None, "problem": UNREADABLE}
        return {**fields, "kept": write_json(document)}

    def lacks(self, fields: Mapping[str, str]) -> str:
        """The id of the key that an event's personal values need and that is not configured here; empty for none."""
        key = key_of(fields.get("kept", ""))
        return "" if key in self.vault.key_ids else key

    def needed(self) -> Iterator[str]:
        """The id of the key of each event here that has personal values."""
        return (key for _, fields in self._all() if (key := key_of(fields.get("kept", ""))))

    def drop(self, ids: Sequence[str], *, was: Head | None = None, head: Head | None = None) -> Answer:
        """These events are kept in a ledger that had the head `was`, and has `head` now. Dropping twice does nothing.

        WRONG_STATE when another head has been noted since; nothing was dropped.
        """
        return self.ask("drop_events", _written(was), _written(head), *ids)

    def noted(self) -> Head | None:
        """The head that the ledger had when events were handed over last; None when nobody has noted one."""
        stored: Any = self.client.hget(self.keys.vouched, "head")
        return Head.read(stored.decode(errors="surrogateescape")) if stored else None

    def accept(self, was: Head | None, head: Head, *, by: str, reason: str) -> Answer:
        """An operator goes on with a ledger that has not the head `was`. WRONG_STATE when another one is noted."""
        return self.ask("accept_ledger", _written(was), _written(head), by, reason)

    def knows(self, event_id: str) -> bool:
        """Whether this event is still here, or was dropped because it is kept in SQL: it happened in this store."""

        def queue(pipe: Any) -> None:  # one step: another process may drop it meanwhile
            pipe.hget(self.keys.vouched, "drained")
            pipe.xrange(self.keys.ledger, event_id, event_id)

        drained, here = self.together(queue)
        return bool(here) or (drained is not None and _place(event_id) <= _place(drained.decode()))

    def reaches(self, event_id: str | None) -> bool:
        """Whether the ledger's newest event is at least as new as the newest that was handed over to it."""
        drained: Any = self.client.hget(self.keys.vouched, "drained")
        if drained is None:
            return True
        return event_id is not None and _place(event_id) >= _place(drained.decode())

    def anchor(self, number: int, subject: str) -> Answer:
        """Owe ops this anchor of the ledger, once, and remember that it exists."""
        return self.ask("anchor", number, subject)

    def anchored(self) -> int:
        """How many anchors were made, whatever SQL says."""
        stored: Any = self.client.hget(self.keys.vouched, "anchors")
        return int(stored or 0)

    def server(self) -> str:
        """The server process that answers and the history of writes it has; another one after a restart or failover.

        Also once it has followed another server, which may have known less.
        """
        server: Any = self.client.info("server")  # older servers take one section at a time
        history: Any = self.client.info("replication")
        return server_of(server, history)

    def vouched(self, server: str) -> bool:
        """Whether claims may happen on this server process."""
        stored: Any = self.client.hget(self.keys.vouched, "server")
        return bool(stored == server.encode())

    def compared(self, head: str) -> bool:
        """Whether somebody has said already what it means that this event of the ledger is not known here."""
        stored: Any = self.client.hget(self.keys.vouched, "compared")
        return bool(stored == head.encode())

    def vouch(self, server: str, head: str = "") -> Answer:
        """Let claims happen on this server process, compared with a ledger whose newest event is `head`.

        WRONG_STATE when another server answers by now.
        """
        return self.ask("vouch", server, head)

    def of_run(self, run_id: str) -> list[dict[str, str]]:
        """The events of a run that are not drained yet, oldest first, each with its `id`."""
        return [{"id": event_id, **fields} for event_id, fields in self._all() if fields.get("run") == run_id]

    def waiting(self, most: int) -> list[LedgerRow]:
        """The newest events that are not drained yet, in order, as rows without number and hash."""
        events: Any = self.client.xrevrange(self.keys.ledger, count=most)
        found = [(event_id.decode(), _text(fields)) for event_id, fields in events[::-1]]
        return [
            LedgerRow(0, event_id, int(fields.get("at", "0")), fields.get("type", ""), self.opened(fields), "", fields)
            for event_id, fields in found
        ]

    def _all(self) -> Iterator[tuple[str, dict[str, str]]]:
        """Every event, oldest first, some at a time: after an outage there may be more than anybody wants in memory."""
        start = "-"
        while page := self._page(start, _AT_ONCE):
            yield from page
            ms, number = _place(page[-1][0])
            start = f"{ms}-{number + 1}"

    def _page(self, start: str, count: int) -> list[tuple[str, dict[str, str]]]:
        events: Any = self.client.xrange(self.keys.ledger, min=start, count=count)
        return [(event_id.decode(), _text(fields)) for event_id, fields in events]


def server_of(server: Mapping[str, Any], replication: Mapping[str, Any]) -> str:
    """The name of a server by these sections of its INFO, as `this_server` in the scripts has it."""
    return f"{server['run_id']}:{replication['master_replid']}"


def _written(head: Head | None) -> bytes:
    """As `noted` read it, whatever it was: the scripts compare it with what is stored."""
    return str(head).encode(errors="surrogateescape") if head is not None else b""


def _text(fields: dict[bytes, bytes]) -> dict[str, str]:
    """What is no UTF-8 is nobody's text, and must not keep the others from being drained."""
    return {name.decode(errors="replace"): value.decode(errors="replace") for name, value in fields.items()}


def _place(event_id: str) -> tuple[int, int]:
    """Where an event stands in the order of the stream."""
    ms, _, number = event_id.partition("-")
    return int(ms), int(number)
