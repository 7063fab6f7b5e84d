"""The report of a week on its way to ops: made by one clock, kept for a few days, sent by the bot."""

from approvals.canary_record import CanaryRecord
from approvals.outcomes import Answer
from approvals.room import Room
from policies.values import Frozen

#: What could not be sent by then is no news any more.
KEPT_MS = 3 * 24 * 3600 * 1000
#: A larger picture is left out: Redis is no file store.
MOST_BYTES = 1_000_000
#: As long as making one may take; then another clock tries.
LEASE_MS = 600_000
#: Kinds of the encrypted blobs.
NUMBERS, PICTURE = "report", "picture"


class WeekNumbers(Frozen):
    """What the message of a week says. `since` and `until` are ms; `picture` whether a picture follows.

    `alt` is the picture in words; `waiting` are calls that are still being decided.
    """

    week: str
    since: int
    until: int
    zone: str
    runs: int
    asked: int
    unasked: int
    approved: int
    edited: int
    rejected: int
    expired: int
    waiting: int
    budget: int
    unknown: int
    median_s: float | None
    suggestions: tuple[str, ...] = ()
    signals: tuple[str, ...] = ()
    picture: bool = False
    alt: str = ""
    canaries: CanaryRecord = CanaryRecord()


class WeeklyReports(Room):
    """A week is named as ISO 8601 does, `2026-W48`; it has one message and one picture, ever."""

    __slots__ = ()

    def lease(self, week: str, token: str) -> bool:
        """Be the one clock that makes this report; False when another is at it or the report is owed already."""
        if self.client.exists(self.keys.entry(f"report:{week}")):
            return False
        return bool(self.client.set(self.keys.report_lease(week), token, nx=True, px=LEASE_MS))

    def owe(self, numbers: WeekNumbers, picture: bytes | None) -> Answer:
        """Owe ops this report; REPEATED when it is, or was, owed already. Too large a picture is left out."""
        drawn = picture if picture is not None and len(picture) <= MOST_BYTES else None
        told = numbers.model_copy(update={"picture": drawn is not None})
        text = self.seal(NUMBERS, numbers.week, 0, told.model_dump_json())
        blob = self.vault.seal_blob(drawn, self._binding(PICTURE, numbers.week, 0, "")) if drawn else b""
        return self.ask("owe_report", numbers.week, text, blob, KEPT_MS)

    def numbers(self, week: str) -> WeekNumbers | None:
        """What the message says; None once it is too old."""
        blob = self.row(self.keys.report(week)).blob("numbers")
        return WeekNumbers.model_validate_json(self.open(NUMBERS, week, 0, blob)) if blob else None

    def picture(self, week: str) -> bytes | None:
        """The PNG; None when there is none, or it is too old."""
        blob = self.row(self.keys.report(week)).blob("picture")
        return self.open(PICTURE, week, 0, blob) if blob else None
