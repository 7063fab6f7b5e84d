"""Everything the handlers need, handed in once."""

import logging
import threading
from collections.abc import Callable
from concurrent.futures import Executor
from dataclasses import dataclass, field
from datetime import UTC, datetime

from slack_sdk import WebClient

from approvals.ledger import Ledger
from approvals.metrics import Timings
from approvals.store import Store
from bot.home_visits import Visits
from bot.language import ENGLISH
from bot.people import PeopleDesk, Watch
from bot.standing import ReviewersLaw
from policies.law import Law
from policies.reviewers import Reviewers


@dataclass(frozen=True, slots=True, kw_only=True)
class Deps:
    """What `create_app` is given.

    `nudge(job, argument)` hints the queue at work, `wake` wakes the relay; both are only hints. `pool` runs what
    follows an acknowledgement; `home_url` is where Slack shows the workspace. `ledger()` opens the ledger
    or raises `LedgerUnreachable` or `LedgerDiffers`. `uninstalled` is told when (s) the workspace removed the app.
    `agents` are the names that a request may begin with; the first is asked when it names none (empty: the worker's).
    `language` is the workspace's: what many read is said in it.
    """

    store: Store
    law: Law
    client: WebClient
    desk: PeopleDesk
    watch: Watch
    pool: Executor
    home_team: str
    bot_user: str
    home_url: str = ""
    nudge: Callable[[str, str], None]
    ledger: Callable[[], Ledger]
    uninstalled: Callable[[int], None] = lambda _at: None
    signing_secret: str | None = None
    ops_channel: str | None = None
    agents: tuple[str, ...] = ("",)
    language: str = ENGLISH
    visits: Visits = field(default_factory=Visits)
    wake: threading.Event = field(default_factory=threading.Event)
    timings: Timings = field(default_factory=Timings)
    log: logging.Logger = field(default_factory=lambda: logging.getLogger("vobo.bot"))

    @property
    def words(self) -> ReviewersLaw:
        """The part of the law that rendering needs."""
        return ReviewersLaw(self.law.reviewers, self.people, self.law.version)

    def people(self) -> Reviewers:
        """Who decides now, stand-ins of the day included."""
        return self.law.people_at(datetime.fromtimestamp(self.store.now() / 1000, UTC))
