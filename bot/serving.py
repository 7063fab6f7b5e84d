"""One workspace that is served: its app, what its handlers need, its relay."""

import threading
from dataclasses import dataclass, field

from slack_bolt import App, BoltRequest, BoltResponse

from approvals.usable import why_unusable
from bot.deps import Deps
from bot.relay import Relay
from bot.replays import note_replay

#: Between two looks at whether people's snapshots are still fresh.
WATCH_S = 20.0
#: A thread that was asked to end has so long; a call to Slack takes no longer.
ENDS_S = 10.0


@dataclass(frozen=True, slots=True)
class Served:
    """`stop` ends what `start` began, in the order in which work flows. What is still owed then stays owed."""

    deps: Deps
    app: App
    relay: Relay
    stopping: threading.Event = field(default_factory=threading.Event)
    threads: list[threading.Thread] = field(default_factory=list)

    def start(self) -> None:
        """Send what is owed, and keep people's snapshots fresh."""
        for name, loop in (("relay", self._relay), ("watch", self._watch)):
            thread = threading.Thread(target=loop, name=f"{name} {self.deps.home_team}", daemon=True)
            self.threads.append(thread)
            thread.start()

    def stop(self) -> None:
        """Finish what was begun, then stop sending. Nothing may be received any more."""
        self.deps.pool.shutdown(wait=True)
        self.stopping.set()
        self.deps.wake.set()
        for thread in self.threads:
            thread.join(ENDS_S)
        self.deps.store.disconnect()

    def dispatch(self, request: BoltRequest) -> BoltResponse:
        """Handle one payload; the answer is its acknowledgement."""
        return self.app.dispatch(request)

    def noted(self, request: BoltRequest) -> None:
        """Put a dropped copy of an interaction into the ledger."""
        note_replay(self.deps.store, request.raw_body)

    def missing(self) -> str | None:
        """What keeps it from working, None when all is well."""
        return why_unusable(self.deps.store)

    def _relay(self) -> None:
        self.relay.run(self.stopping, self.deps.wake)

    def _watch(self) -> None:
        while not self.stopping.wait(WATCH_S):
            try:
                self.deps.watch.round()
            except Exception:
                self.deps.log.exception("people could not be looked up")
