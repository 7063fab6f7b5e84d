"""What each entry of the outbox looks like now, and where it belongs."""

from collections.abc import Callable
from typing import NamedTuple

from approvals.models import OutboxEntry, Run
from approvals.store import Store
from bot.alerts import expired_alert, failed_alert, slack_alert, unknown_alert
from bot.blocks import Message
from bot.cards import render_card
from bot.outcome import render_outcome
from bot.sending import Target
from bot.standing import CardLaw
from bot.told import render_answer, render_notice, render_opening


class Rendered(NamedTuple):
    """A message and its place. `batch` is the batch whose card it is."""

    target: Target
    message: Message
    batch: str | None = None


class ThreadUnknown(Exception):
    """The run's thread is not open yet: its opening message must be delivered first."""


class Renderer:
    """Renders from the newest state, whatever the entry was written for."""

    def __init__(self, store: Store, law: CardLaw, ops_channel: str | None) -> None:
        self._store = store
        self._law = law
        self._ops_channel = ops_channel

    def render(self, entry: OutboxEntry) -> Rendered | None:
        """The message as it has to look now; None when its subject is gone or nobody is to be told.

        Raises:
            ThreadUnknown: see there.
        """
        kinds: dict[str, Callable[[str], Rendered | None]] = {
            "opening": self._opening,
            "card": self._card,
            "outcome": self._outcome,
            "answer": self._answer,
            "notice": self._notice,
            "alert": self._alert,
        }
        return kinds[entry.kind](entry.subject)

    def _opening(self, run_id: str) -> Rendered | None:
        run = self._store.runs.load(run_id)
        return Rendered(Target(run.channel, run.thread_ts or None), render_opening(run)) if run else None

    def _card(self, batch_id: str) -> Rendered | None:
        view = self._store.batches.view(batch_id)
        return Rendered(self._thread(view.run), render_card(view, self._law), batch_id) if view else None

    def _outcome(self, subject: str) -> Rendered | None:
        run_id, _, pause = subject.rpartition(":")
        view = self._store.runs.pause_view(run_id, int(pause))
        return Rendered(self._thread(view.run), render_outcome(view)) if view else None

    def _answer(self, run_id: str) -> Rendered | None:
        run = self._store.runs.load(run_id)
        return Rendered(self._thread(run), render_answer(run)) if run else None

    def _notice(self, subject: str) -> Rendered | None:
        call = self._store.calls.load(subject.rpartition(":")[2])
        run = self._store.runs.load(call.run) if call else None
        return Rendered(self._thread(run), render_notice(call)) if call and run else None

    def _alert(self, subject: str) -> Rendered | None:
        message = self.alert(subject)
        return Rendered(Target(self._ops_channel, None), message) if message and self._ops_channel else None

    def alert(self, subject: str) -> Message | None:
        """What ops is told about `call:<key>`, `run:<id>`, `outbox:<entry>`, `slack:<channel>:<error>`, or a batch."""
        kind, _, rest = subject.partition(":")
        if kind == "call":
            call = self._store.calls.load(rest)
            run = self._store.runs.load(call.run) if call else None
            return unknown_alert(call, run) if call and run else None
        if kind == "run":
            failed = self._store.runs.load(rest)
            return failed_alert(failed) if failed else None
        if kind == "slack":
            channel, _, error = rest.partition(":")
            return slack_alert("a message", channel, error)
        if kind == "outbox":
            return slack_alert(f"a message of ours ({rest})", "", "malformed")
        view = self._store.batches.view(subject)
        return expired_alert(view) if view else None

    def _thread(self, run: Run) -> Target:
        if not run.thread_ts:
            raise ThreadUnknown(run.id)
        return Target(run.channel, run.thread_ts)
