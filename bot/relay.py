"""Drains the outbox: the only writer of Slack messages that others see. One relay leads, any number may run."""

import logging
import threading
import time
from collections.abc import Callable
from contextlib import nullcontext
from typing import NamedTuple

from approvals import tracing
from approvals.away import STORE_AWAY
from approvals.errors import ApprovalsError
from approvals.metrics import Timings
from approvals.models import OutboxEntry
from approvals.store import Store
from bot.rendering import Rendered, Renderer, ThreadUnknown
from bot.sending import GONE, MALFORMED, NEEDS_OPS, OF_THE_APP, Pace, Picture, Sender, SendingFailed, Target

#: How long a leader leads without a word. Longer than any one call to Slack may take, so that the renders of an old
#: leader never land after those of a new one. Finding a message is many calls: whoever then shows something leads anew.
LEAD_MS = 20_000
IDLE_S = 0.25
_FIRST_PAUSE_MS = 1_000
_LONGEST_PAUSE_MS = 300_000
_NO_THREAD_MS = 500
#: The kind of the alert about an entry of ours that fails in a way nobody foresaw.
UNSENT = "unsent"
_NOBODY_MS = 3_600_000
_NO_OPS = "no ops channel"
_PATIENCE = 3
#: Every try of the second route may take ten seconds, in which nothing is sent; so long it rests when it has failed.
_ROUTE_RESTS_S = 30.0
#: Slack shows a file in its thread only some time after it took it; who looks earlier would not find it.
_FILE_MS = 60_000


class Relay:
    """Sends what is owed. `token` names this relay.

    `second_route` is told alerts that Slack does not take and says whether it took them; it rests when it did not.
    Without one they are logged.
    """

    def __init__(
        self,
        store: Store,
        renderer: Renderer,
        sender: Sender,
        token: str,
        *,
        pace: Pace | None = None,
        second_route: Callable[[str], bool] | None = None,
        route_rests_s: float = _ROUTE_RESTS_S,
        timings: Timings | None = None,
    ) -> None:
        self._store = store
        self._renderer = renderer
        self._sender = sender
        self._token = token
        self._pace = pace or Pace()
        self._second_route = second_route
        self._logged: dict[str, int] = {}
        self._route_rests_s = route_rests_s
        self._route_from = self._updates_from = 0.0
        self._timings = timings or Timings()
        self._log = logging.getLogger("vobo.relay")

    def run(self, stop: threading.Event, wake: threading.Event) -> None:
        """Until `stop`; `wake` cuts the waiting short."""
        while not stop.is_set():
            try:
                sent = self.drain()
            except Exception:  # noqa: BLE001 - the loop outlives an outage of the store; what is owed stays owed
                self._log.exception("the outbox could not be drained; trying again")
                sent = 0
            if not sent:
                wake.wait(IDLE_S)
                wake.clear()

    def drain(self) -> int:
        """Send what is due, if this relay leads; returns how many messages Slack took."""
        if not self._store.outbox.lead(self._token, ttl_ms=LEAD_MS):
            return 0
        return sum(self._alone(entry) for entry in self._store.outbox.due())

    def _alone(self, entry: OutboxEntry) -> int:
        """What goes wrong with one entry, foreseen or not, keeps no other from being sent."""
        try:
            return self._lead_and_send(entry)
        except _PutOff:
            return 0
        except STORE_AWAY:
            raise
        except Exception:  # noqa: BLE001 - a boundary: nobody else's message waits for the repair of this one
            self._log.exception("%s could not be sent", entry.id)
            self._postpone(entry, "could not be sent", unsure=True)
            self._tell_of(entry)
            return 0

    def _lead_and_send(self, entry: OutboxEntry) -> int:
        if not self._store.outbox.lead(self._token, ttl_ms=LEAD_MS):
            return 0
        rendered = self._rendered(entry)
        if rendered is None:
            self._nobody_to_tell(entry)
            return 0
        if entry.ts is None:
            wait_ms = self._pace.wait_ms(rendered.target.channel)
        else:
            wait_ms = max(0, int((self._updates_from - time.monotonic()) * 1000))
        if wait_ms:  # a long list for one channel must not keep the others waiting
            self._store.outbox.hold(entry.id, delay_ms=wait_ms)
            return 0
        return self._send(entry)

    def _rendered(self, entry: OutboxEntry) -> Rendered | None:
        """The entry as it has to look now; None when its subject is gone or nobody is to be told.

        Raises:
            _PutOff: it cannot be rendered now, and is tried again later.
        """
        try:
            return self._renderer.render(entry)
        except ThreadUnknown:
            self._store.outbox.postpone(entry.id, delay_ms=_NO_THREAD_MS, error="no thread yet", unsure=entry.sending)
            raise _PutOff from None
        except STORE_AWAY:
            raise
        # A boundary: it shows what models, teams and Slack wrote, and the others must not wait for its repair.
        except Exception as error:
            self._log.exception("%s cannot be rendered", entry.id)
            self._postpone(entry, "cannot be rendered", unsure=entry.sending)
            if not isinstance(error, ApprovalsError):  # of those the store tells by itself
                self._tell_of(entry)
            raise _PutOff from error

    def _send(self, due: OutboxEntry) -> int:
        entry = self._store.outbox.begin(due.id, token=self._token)
        if entry is None:
            return 0
        # Rendered again after `begin`, so that the state shown is at least the version that will be recorded.
        rendered = self._rendered(entry)
        if rendered is None:
            self._nobody_to_tell(entry)
            return 0
        try:
            sent = self._timed(entry, rendered)
        except SendingFailed as failed:
            self._failed(entry, rendered, failed)
            return 0
        if rendered.batch:
            self._store.batches.record_posted(rendered.batch, channel=sent.channel, ts=sent.ts)
        self._store.outbox.delivered(entry.id, version=entry.desired, channel=sent.channel, ts=sent.ts)
        return 1

    def _timed(self, entry: OutboxEntry, rendered: Rendered) -> "_Sent":
        """Deliver, and tell how long that took."""
        began, result = time.monotonic(), "failed"
        about = tracing.span("card.post", run=rendered.run, batch=rendered.batch) if rendered.run else nullcontext()
        try:
            with about:
                sent = self._deliver(entry, rendered)
            result = "sent"
        finally:
            self._timings.send.labels(entry.kind, result).observe(time.monotonic() - began)
        return sent

    def _deliver(self, entry: OutboxEntry, rendered: Rendered) -> "_Sent":
        if rendered.picture:
            return self._deliver_picture(entry, rendered.target, rendered.picture)
        target, message = self._sender.opened(rendered.target), rendered.message
        if entry.ts and entry.channel:
            self._lead_on(entry)
            try:
                self._sender.update(entry.channel, entry.ts, message, entry.id)
            except SendingFailed as failed:
                if failed.error not in GONE:
                    raise
                self._log.warning("%s was deleted in Slack (%s); posting it again", entry.id, failed.error)
            else:
                return _Sent(entry.channel, entry.ts)
        elif entry.sending:
            found = self._sender.find(target, entry.id, after=entry.before)
            if found:
                self._lead_on(entry)
                self._sender.update(target.channel, found, message, entry.id)
                return _Sent(target.channel, found)
        self._lead_on(entry)
        return _Sent(target.channel, self._sender.post(target, message, entry.id))

    def _lead_on(self, entry: OutboxEntry) -> None:
        """Right before anything becomes visible: what came before it may have taken longer than a leader leads.

        Raises:
            _PutOff: another relay leads, or has led meanwhile and tried to send this.
        """
        if self._store.outbox.lead(self._token, ttl_ms=LEAD_MS):
            now = self._store.outbox.begin(entry.id, token=self._token)
            if now is not None and now.attempts == entry.attempts:
                return
        self._log.warning("%s is left to the relay that led meanwhile", entry.id)
        raise _PutOff

    def _deliver_picture(self, entry: OutboxEntry, target: Target, picture: Picture) -> "_Sent":
        """Slack says nothing of a file's message, so the file's id stands for it. A picture never changes."""
        found = entry.ts or (self._sender.find_file(target, picture.name) if entry.sending else None)
        if found:
            return _Sent(target.channel, found)
        self._lead_on(entry)
        return _Sent(target.channel, self._sender.upload(target, picture))

    def _failed(self, entry: OutboxEntry, rendered: Rendered, failed: SendingFailed) -> None:
        self._log.warning("%s was not delivered: %s", entry.id, failed.error)
        if failed.error in MALFORMED and entry.kind != "alert":
            self._store.outbox.give_up(entry.id, error=failed.error, version=entry.desired)
            return
        if entry.kind != "alert" and failed.error in NEEDS_OPS and failed.error != entry.error:
            # Before the error is kept, by which what was met before, and waits on, is known for no new matter.
            self._tell_ops(rendered.target, failed.error)
        if failed.retry_after_ms is not None:
            if entry.ts:  # Slack counts updates together, whatever they change
                self._updates_from = time.monotonic() + failed.retry_after_ms / 1000
            self._store.outbox.postpone(entry.id, delay_ms=failed.retry_after_ms, error=failed.error, unsure=False)
        else:
            self._postpone(entry, failed.error, unsure=failed.unsure)
        # At once when only a person can repair it, else when it does not pass by itself, which being asked to wait
        # again and again is as well.
        if entry.kind == "alert" and (failed.error in NEEDS_OPS or entry.attempts >= _PATIENCE):
            self._tell_elsewhere(entry, rendered.message.text)

    def _postpone(self, entry: OutboxEntry, error: str, *, unsure: bool) -> None:
        delay = min(_FIRST_PAUSE_MS * 2 ** min(entry.attempts, 12), _LONGEST_PAUSE_MS)
        if entry.kind == "picture" and unsure:
            delay = max(delay, _FILE_MS)
        self._store.outbox.postpone(entry.id, delay_ms=delay, error=error, unsure=unsure)

    def _tell_ops(self, target: Target, error: str) -> None:
        """One alert for each channel and error, however many messages wait for it; one for what concerns them all.

        Once somebody has seen to it, or Slack has taken messages there since, the next message that meets it tells
        anew.
        """
        shared = target.channel.startswith(("C", "G")) and error not in OF_THE_APP
        subject = f"slack:{target.channel if shared else ''}:{error}"
        self._store.outbox.owe_once(subject, place=target.channel if shared else "any")

    def _tell_elsewhere(self, entry: OutboxEntry, text: str) -> bool:
        """On the second route, at each try until that has taken this version. Whether nothing is left to do there.

        Without a second route it is logged, and not noted in the store: one that is set later is told.
        """
        if entry.told_elsewhere:
            return True
        if self._second_route is None:
            if self._logged.get(entry.id) != entry.desired:
                self._log.error("ops cannot be told in Slack, and VOBO_ALERT_WEBHOOK is not set: %s", text)
                self._logged[entry.id] = entry.desired
            return True
        if time.monotonic() < self._route_from:
            return False
        took = self._second_route(text)
        if took:
            self._store.outbox.told_elsewhere(entry.id, version=entry.desired)
        else:
            self._route_from = time.monotonic() + self._route_rests_s
        return took

    def _tell_of(self, entry: OutboxEntry) -> None:
        """Once for each entry. Where that cannot be told in Slack either, on the second route."""
        kind, _, about = entry.subject.partition(":")
        if entry.kind == "alert" and kind == UNSENT:
            self._tell_elsewhere(entry, f"A message of ops ({about}) cannot be made. See the bot's log.")
            return
        reason = "something unforeseen failed while it was made or sent"
        self._store.outbox.alarm(f"{UNSENT}:{entry.id}", event="entry_unsent", reason=reason)

    def _nobody_to_tell(self, entry: OutboxEntry) -> None:
        """Nobody reads alerts here, or the subject is gone; a reminder of what was decided is dropped in silence."""
        if entry.kind != "alert":
            self._store.outbox.give_up(entry.id, error="its subject is no longer kept", version=entry.desired)
            return
        message = self._renderer.alert(entry.subject)
        if message is None or self._tell_elsewhere(entry, message.text):
            self._store.outbox.postpone(entry.id, delay_ms=_NOBODY_MS, error=_NO_OPS, unsure=False)
        else:
            self._postpone(entry, _NO_OPS, unsure=False)


class _PutOff(Exception):
    """This entry is tried again later; its reason is recorded."""


class _Sent(NamedTuple):
    channel: str
    ts: str
