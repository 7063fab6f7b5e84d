"""What each entry of the outbox looks like now, and where it belongs."""

from collections.abc import Callable
from typing import NamedTuple

from approvals.models import BatchView, OutboxEntry, Run
from approvals.store import Store
from bot.alarms import ALARMS, alarm, frozen_alert
from bot.alerts import expired_alert, failed_alert, lapsed_alert, slack_alert, unknown_alert
from bot.attention_alerts import budget_alert, quiet_alert, tier_alert
from bot.blocks import Message
from bot.canary_text import render_canary_end
from bot.cards import render_card
from bot.dead_letters import with_controls
from bot.language import ENGLISH, say, speaking
from bot.outcome import render_outcome
from bot.readers import speaking_to
from bot.reminders import render_direct, render_reminder
from bot.sending import Picture, Target
from bot.standing import CardLaw
from bot.told import render_answer, render_notice, render_opening
from bot.undo_alert import undo_alert
from bot.undo_text import render_undo
from bot.weekly_text import file_name, render_picture, render_report


class Rendered(NamedTuple):
    """A message and its place. `batch` is the batch whose card it is, `run` that card's run.

    With a `picture` it is that file, and the message what stands in for it.
    """

    target: Target
    message: Message
    batch: str | None = None
    run: str | None = None
    picture: Picture | None = None


class ThreadUnknown(Exception):
    """The run's thread is not open yet: its opening message must be delivered first."""


class Renderer:
    """Renders from the newest state, whatever the entry was written for.

    What many read is in the workspace's language, a direct message in its receiver's.
    """

    def __init__(
        self, store: Store, law: CardLaw, ops_channel: str | None, home_url: str = "", language: str = ENGLISH
    ) -> None:
        self._store = store
        self._law = law
        self._ops_channel = ops_channel
        self._home_url = home_url
        self._language = language

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
            "undo": self._undo,
            "report": self._report,
            "picture": self._picture,
        }
        whole = {"alert": self._alert, "direct": self._direct}
        with speaking(self._language):
            return whole[entry.kind](entry) if entry.kind in whole else kinds[entry.kind](entry.subject)

    def _opening(self, run_id: str) -> Rendered | None:
        run = self._store.runs.load(run_id)
        return Rendered(Target(run.channel, run.thread_ts or None), render_opening(run)) if run else None

    def _card(self, batch_id: str) -> Rendered | None:
        view = self._store.batches.view(batch_id)
        if view is None:
            return None
        card = render_card(view, self._law, frozen=self._frozen())
        return Rendered(self._thread(view.run), card, batch_id, view.run.id)

    def _outcome(self, subject: str) -> Rendered | None:
        run_id, _, pause = subject.rpartition(":")
        view = self._store.runs.pause_view(run_id, int(pause))
        if view is None:
            return None
        outcome = render_outcome(view, self._store.switches.undoable(), frozen=self._frozen())
        return Rendered(self._thread(view.run), outcome)

    def _frozen(self) -> bool:
        return self._store.switches.frozen() is not None

    def _answer(self, run_id: str) -> Rendered | None:
        run = self._store.runs.load(run_id)
        if run is not None and run.canary:
            ended = self._store.calls.of_pause(run_id, run.pause)
            return Rendered(self._thread(run), render_canary_end(ended[0])) if ended else None
        if run is None:
            return None
        return Rendered(self._thread(run), render_answer(run, self._store.calls.states(run_id, run.pause)))

    def _notice(self, subject: str) -> Rendered | None:
        call = self._store.calls.load(subject.rpartition(":")[2])
        run = self._store.runs.load(call.run) if call else None
        return Rendered(self._thread(run), render_notice(call)) if call and run else None

    def _undo(self, key: str) -> Rendered | None:
        call = self._store.calls.load(key)
        run = self._store.runs.load(call.run) if call else None
        message = render_undo(call) if call else None
        return Rendered(self._thread(run), message) if run and message else None

    def _reminder(self, subject: str) -> Rendered | None:
        which, _, batch_id = subject.partition(":")
        view = self._store.batches.view(batch_id)
        message = render_reminder(view, which, self._link(view)) if view else None
        return Rendered(self._thread(view.run), message) if view and message else None

    def _direct(self, entry: OutboxEntry) -> Rendered | None:
        """One that was posted is updated in place, so it never goes on asking for what is decided."""
        batch_id, _, user = entry.subject.partition(":")
        view = self._store.batches.view(batch_id)
        posted = entry.ts is not None or entry.sending
        with speaking_to(self._store, user, self._language):
            message = render_direct(view, user, self._link(view), posted=posted) if view else None
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
        """What ops is told about a subject, in the workspace's language; see `_told`."""
        with speaking(self._language):
            return self._told(subject)

    def _told(self, subject: str) -> Message | None:
        """What ops is told about `call:`, `undo:` and `run:<id>`, `outbox:<entry>`, `slack:<channel>:<error>`, a batch.

        `quiet:` and `lapse:` are followed by a batch.
        `seal:`, `blob:`, `tool:` and `secret:` are about what must not be trusted, so nothing of it is read.
        """
        kind, _, rest = subject.partition(":")
        if kind == "switch":
            return frozen_alert(self._store.switches.freezes(), rest)
        if kind in ALARMS:
            return alarm(kind, rest)
        if kind in {"call", "run", "budget", "tier", "undo"}:
            return self._about(kind, rest)
        if kind == "slack":
            channel, _, error = rest.partition(":")
            return slack_alert(say("a message"), channel, error)
        if kind == "outbox":
            return slack_alert(say("a message of ours ({entry})", entry=rest), "", "malformed")
        of_batches = {"quiet": quiet_alert, "lapse": lapsed_alert}
        view = self._store.batches.view(rest if kind in of_batches else subject)
        say_it = of_batches.get(kind, expired_alert)
        return say_it(view, self._link(view)) if view else None

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
        if call is None or run is None:
            return None
        view = self._store.batches.view(call.batch) if call.batch else None
        link = self._link(view) if view else None
        if kind == "undo":
            return undo_alert(call, run, self._store.undos.marked(subject), link=link, now=self._store.now())
        marked, at = self._store.operators.marked(subject), self._store.deadlines.at(f"unknown:{subject}")
        return unknown_alert(call, run, marked, link=link, answered_at=at, now=self._store.now())

    def _report(self, week: str) -> Rendered | None:
        numbers = self._store.weekly.numbers(week)
        if numbers is None or self._ops_channel is None:
            return None
        return Rendered(Target(self._ops_channel, None), render_report(numbers))

    def _picture(self, week: str) -> Rendered | None:
        """Below the report's message, once that stands in Slack."""
        numbers, content = self._store.weekly.numbers(week), self._store.weekly.picture(week)
        if numbers is None or content is None:
            return None
        above = self._store.outbox.load(f"report:{week}")
        if above is None or above.ts is None or above.channel is None:
            raise ThreadUnknown(week)
        message = render_picture(numbers)
        title = say("Approvals of week {week}", week=week)
        picture = Picture(file_name(week), title, message.text, content)
        return Rendered(Target(above.channel, above.ts), message, picture=picture)

    def _thread(self, run: Run) -> Target:
        if not run.thread_ts:
            raise ThreadUnknown(run.id)
        return Target(run.channel, run.thread_ts)
