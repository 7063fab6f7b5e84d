"""The Slack messages that are owed: each rendered from the newest state and sent until it shows it."""

from typing import Any

from approvals import codec
from approvals.entries import Kind, OutboxEntry
from approvals.room import Room
from approvals.row import Row

#: Until an entry that cannot be read is looked at again.
UNREADABLE_MS = 300_000


class Outbox(Room):
    """Written by every verb, drained by one leading relay."""

    __slots__ = ()

    def load(self, entry_id: str) -> OutboxEntry | None:
        """One entry, owed or delivered."""
        return codec.entry(entry_id, self.row(self.keys.entry(entry_id)))

    def due(self, limit: int = 50) -> list[OutboxEntry]:
        """Entries to send now, the longest owed first. `sending` marks one whose last attempt may have arrived.

        What this version cannot read (a newer one wrote it) stays owed for later, and ops is told once.
        """
        found: list[Any] = self.client.zrange(self.keys.outbox, "-inf", self.now(), byscore=True, offset=0, num=limit)
        entries = (self._readable(entry_id.decode()) for entry_id in found)
        return [entry for entry in entries if entry is not None]

    def _readable(self, entry_id: str) -> OutboxEntry | None:
        try:
            return self.load(entry_id)
        except ValueError:
            self.postpone(entry_id, delay_ms=UNREADABLE_MS, error="cannot be read")
            self.alarm(f"unsent:{entry_id}", event="entry_unsent", reason="this version cannot read what is owed")
            return None

    def begin(self, entry_id: str, *, token: str) -> OutboxEntry | None:
        """Mark an entry as being sent. None when nothing is owed or another relay that still leads is at it.

        The returned `sending` is True when an earlier attempt ended without a word: look in Slack before posting.
        """
        reply = self.scripts.run("begin_entry", entry_id, token)
        return codec.entry(entry_id, Row.of_pairs(reply))

    def delivered(self, entry_id: str, *, version: int, channel: str, ts: str) -> None:
        """The message stands in Slack and shows `version`; it stays owed while a newer one is desired."""
        self.ask("delivered", entry_id, version, channel, ts)

    def postpone(self, entry_id: str, *, delay_ms: int, error: str, unsure: bool = True) -> None:
        """Try again later. `unsure=False` says that Slack certainly did not take the message."""
        self.ask("postpone_entry", entry_id, delay_ms, error, unsure)

    def hold(self, entry_id: str, *, delay_ms: int) -> None:
        """Its channel takes no more just now: let others go first. Not an attempt."""
        self.ask("hold_entry", entry_id, delay_ms)

    def give_up(self, entry_id: str, *, error: str, version: int) -> None:
        """This version will never arrive: owed no longer, and ops is told (unless it was an alert itself).

        Nothing, when a newer one is owed by now.
        """
        self.ask("give_up_entry", entry_id, error, version)

    def owe(self, kind: Kind, subject: str, *, channel: str | None = None) -> None:
        """Owe one more version of a message; its id is `kind:subject`."""
        self.ask("owe", kind, subject, channel)

    def alarm(self, subject: str, *, event: str, reason: str, run: str = "", call: str = "") -> None:
        """Tell ops once about something that must not be; `event` names it in the ledger."""
        self.ask("alarm", subject, event, run, call, reason)

    def owe_once(self, subject: str, *, place: str = "") -> bool:
        """Tell ops about a matter that has no event of its own: once, and anew after somebody has seen to it.

        `place` is the channel (or `any`) whose messages it keeps from arriving: told anew, too, a day later, if Slack
        has taken a message there since. False when ops has been told.
        """
        return self.ask("owe_once", subject, place).ok

    def told_elsewhere(self, entry_id: str, *, version: int) -> None:
        """This version, which Slack does not take, has reached ops on another way; forgotten once Slack takes one."""
        self.ask("told_elsewhere", entry_id, version)

    def lead(self, token: str, *, ttl_ms: int) -> bool:
        """Become, or stay, the one relay that sends. False while another one's time runs."""
        return self.ask("lead", token, ttl_ms).ok
