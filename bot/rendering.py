"""What each entry of the outbox looks like now, and where it belongs."""

from collections.abc import Callable
from typing import NamedTuple

from approvals.models import BatchView, OutboxEntry, Run
from approvals.store import Store
from bot.alarms import ALARMS, alarm, frozen_alert
from bot.alerts import expired_alert, failed_alert, slack_alert, unknown_alert
from bot.attention_alerts import budget_alert, tier_alert
from bot.blocks import Message
from bot.cards import render_card
from bot.dead_letters import with_controls
from bot.outcome import render_outcome
from bot.reminders import render_direct, render_reminder
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

    def __init__(self, store: Store, law: CardLaw, ops_channel: str | None, home_url: str = "") -> None:
        self._store = store
        self._law = law
        self._ops_channel = ops_channel
        self._home_url = home_url

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
            "reminder": self._reminder,
            "direct": self._direct,
        }
        if entry.kind == "alert":
            return self._alert(entry)
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

    def _reminder(self, subject: str) -> Rendered | None:
        which, _, batch_id = subject.partition(":")
        view = self._store.batches.view(batch_id)
        message = render_reminder(view, self._law, which) if view else None
        return Rendered(self._thread(view.run), message) if view and message else None

    def _direct(self, subject: str) -> Rendered | None:
        batch_id, _, user = subject.partition(":")
        view = self._store.batches.view(batch_id)
        message = render_direct(view, user, self._link(view)) if view else None
        return Rendered(Target(user, None), message) if message else None

    def _alert(self, entry: OutboxEntry) -> Rendered | None:
        message = self.alert(entry.subject)
        if message is None or self._ops_channel is None:
            return None
        found = with_controls(self._store, message, entry.subject, entry.closed_by)
        return Rendered(Target(self._ops_channel, None), found)

    def _link(self, view: BatchView) -> str | None:
        batch = view.batch
        if not (self._home_url and batch.channel and batch.ts):
            return None
        place = f"{self._home_url}archives/{batch.channel}/p{batch.ts.replace('.', '')}"
        return f"{place}?thread_ts={view.run.thread_ts}&cid={batch.channel}"

    def alert(self, subject: str) -> Message | None:
        """What ops is told about `call:<key>`, `run:<id>`, `outbox:<entry>`, `slack:<channel>:<error>`, or a batch.

        `seal:`, `blob:`, `tool:` and `secret:` are about what must not be trusted, so nothing of it is read.
        """
        kind, _, rest = subject.partition(":")
        if kind == "switch":
            return frozen_alert(self._store.switches.frozen())
        if kind in ALARMS:
            return alarm(kind, rest)
        if kind in {"call", "run", "budget", "tier"}:
            return self._about(kind, rest)
        if kind == "slack":
            channel, _, error = rest.partition(":")
            return slack_alert("a message", channel, error)
        if kind == "outbox":
            return slack_alert(f"a message of ours ({rest})", "", "malformed")
        view = self._store.batches.view(subject)
        return expired_alert(view, self._link(view)) if view else None

    def _about(self, kind: str, subject: str) -> Message | None:
        if kind == "tier":
            return tier_alert(subject)
        if kind == "budget":
            spent = self._store.runs.load(subject)
            return budget_alert(spent, self._store.calls.of_pause(subject, spent.pause)) if spent else None
        if kind == "run":
            failed = self._store.runs.load(subject)
            return failed_alert(failed) if failed else None
        call = self._store.calls.load(subject)
        run = self._store.runs.load(call.run) if call else None
        return unknown_alert(call, run, self._store.operators.marked(subject)) if call and run else None

    def _thread(self, run: Run) -> Target:
        if not run.thread_ts:
            raise ThreadUnknown(run.id)
        return Target(run.channel, run.thread_ts)
