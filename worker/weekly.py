"""The report that ops reads on Monday morning: made by one clock, in a thread of its own, since it takes seconds."""

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import chain
from zoneinfo import ZoneInfo

import structlog

from approvals.charts import ChartsMissing
from approvals.ledger import Ledger
from approvals.report import Report, report
from approvals.report_picture import alt_text, picture
from approvals.store import Store
from approvals.weekly import WeekNumbers

#: Monday is 0.
WEEKDAY, HOUR = 0, 9
#: A clock that was away on Monday makes up for it until then; later it is no news.
LATE = timedelta(days=2)
#: The thresholds are judged by so many days, the counts by the week alone.
RECORD_DAYS = 90
LOOK_EVERY_MS = 60_000
_WEEK = timedelta(days=7)

_log = structlog.get_logger(__name__)


@dataclass(slots=True)
class Weekly:
    """One clock's part in it; any number may look. `zone` is where Monday begins, `now` the store's clock."""

    store: Store
    ledger: Callable[[], Ledger]
    zone: str
    token: str
    now: Callable[[], int]
    _looked: int = field(default=-LOOK_EVERY_MS, init=False)
    _at_work: threading.Thread | None = field(default=None, init=False)

    def __call__(self) -> int:
        """Once a minute: begin the report that is due, if nobody did. Always 0, as there is nothing to repeat."""
        now = self.now()
        if now - self._looked < LOOK_EVERY_MS or (self._at_work and self._at_work.is_alive()):
            return 0
        self._looked = now
        due = week_due(now, self.zone)
        if due and self.store.weekly.lease(_name(due), self.token):
            self._at_work = threading.Thread(target=self._guarded, args=(due,), name="weekly report", daemon=True)
            self._at_work.start()
        return 0

    def wait(self, seconds: float) -> None:
        """Until the report that is being made is made."""
        if self._at_work:
            self._at_work.join(seconds)

    def make(self, monday: datetime) -> bool:
        """Owe the report of the week that began on this Monday; False when nothing is on record until its end.

        Or not all of it yet: while the database was away, events of that week waited.

        Raises:
            LedgerUnreachable: another try follows when the lease is over.
        """
        begin, end = _ms(monday), _ms(monday + _WEEK)
        waiting = self.store.ledger.read(count=1)
        if waiting and int(waiting[0][1]["at"]) < end:
            return False
        ledger, tenant = self.ledger(), self.store.tenant
        rows = chain.from_iterable(ledger.pages(tenant, since=begin - RECORD_DAYS * 24 * 3600 * 1000, until=end))
        first = next(rows, None)
        if first is None:
            return False
        laws = ledger.rows(tenant, types=("law_changed",), until=end)
        longer = report(chain([first], rows), since=first.at, until=end, zone=self.zone, laws=laws)
        rows = chain.from_iterable(ledger.pages(tenant, since=begin, until=end))
        week = report(rows, since=begin, until=end, zone=self.zone)
        drawn = _drawn(week)
        self.store.weekly.owe(_numbers(_name(monday), week, longer), drawn)
        return True

    def _guarded(self, monday: datetime) -> None:
        try:
            self.make(monday)
        except Exception as error:  # noqa: BLE001 - the boundary of a thread: a report must not end the clock
            _log.warning("the weekly report was not made", error=type(error).__name__)


def week_due(now: int, zone: str) -> datetime | None:
    """The Monday on which the week began whose report is due at this instant (ms), at midnight in the zone."""
    local = datetime.fromtimestamp(now / 1000, UTC).astimezone(ZoneInfo(zone))
    midnight = local.replace(hour=0, minute=0, second=0, microsecond=0, fold=0)
    monday = midnight - timedelta(days=(local.weekday() - WEEKDAY) % 7)  # wall time: a day may have 23 hours
    due = monday.replace(hour=HOUR)
    return monday - _WEEK if due <= local < due + LATE else None


def _name(monday: datetime) -> str:
    year, week, _ = monday.isocalendar()
    return f"{year}-W{week:02d}"


def _ms(local: datetime) -> int:
    return int(local.timestamp() * 1000)


def _drawn(week: Report) -> bytes | None:
    try:
        return picture(week)
    except ChartsMissing as missing:
        _log.info("the weekly report has no picture", why=str(missing))
        return None


def _numbers(name: str, week: Report, longer: Report) -> WeekNumbers:
    return WeekNumbers(
        week=name,
        since=week.since,
        until=week.until,
        zone=week.zone,
        runs=week.runs,
        asked=week.asked,
        unasked=week.unasked,
        approved=week.approved,
        edited=week.edited,
        rejected=week.rejected,
        expired=week.expired,
        waiting=week.waiting,
        budget=week.budget,
        unknown=week.unknown,
        median_s=week.median_s,
        suggestions=longer.suggestions,
        signals=longer.signals,
        alt=alt_text(week),
        canaries=week.canaries,
    )
