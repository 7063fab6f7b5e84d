"""Signs that cards are approved without being read. They say something about the cards before they do about people."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from zoneinfo import ZoneInfo

from approvals.calibration import ENOUGH, Share, share
from approvals.stories import CallStory, Word

#: More than three times what people read attentively; who knows the kind of card skims.
CHARACTERS_PER_SECOND = 60
#: Nobody finds a button faster.
LEAST_MS = 2_000
NIGHT = frozenset({22, 23, 0, 1, 2, 3, 4, 5})


@dataclass(frozen=True, slots=True)
class ReviewerRecord:
    """One reviewer over the period. `quick` are words faster than the card can be read."""

    reviewer: str
    name: str
    approved: int
    edited: int
    rejected: int
    quick: Share
    day: Share
    night: Share

    @property
    def words(self) -> int:
        """How often this reviewer decided."""
        return self.approved + self.edited + self.rejected


def reading_ms(characters: int) -> int:
    """The least time in which so much text can be skimmed."""
    return max(LEAST_MS, characters * 1000 // CHARACTERS_PER_SECOND)


def reviewer_records(calls: Sequence[CallStory], *, zone: str) -> list[ReviewerRecord]:
    """A record for each reviewer, the busiest first; `zone` is where night is night."""
    by: dict[str, list[Word]] = {}
    for call in calls:
        edited = {word.version for word in call.words if word.said == "edited"}
        for word in call.words:
            if word.said == "approved" and word.version in edited:
                continue  # an edit counts as its own approval; the second word is the worker's, not a click
            by.setdefault(word.reviewer, []).append(word)
    records = [_record(reviewer, words, ZoneInfo(zone)) for reviewer, words in by.items()]
    return sorted(records, key=lambda record: (-record.words, record.reviewer))


def _record(reviewer: str, words: Sequence[Word], zone: ZoneInfo) -> ReviewerRecord:
    said = [word.said for word in words]
    timed = [word for word in words if word.dwell_ms is not None and word.characters]
    quick = sum(word.dwell_ms < reading_ms(word.characters) for word in timed if word.dwell_ms is not None)
    night = [word for word in words if datetime.fromtimestamp(word.at / 1000, zone).hour in NIGHT]
    day = [word for word in words if word not in night]
    return ReviewerRecord(
        reviewer=reviewer,
        name=max(words, key=lambda word: word.at).name,
        approved=said.count("approved"),
        edited=said.count("edited"),
        rejected=said.count("rejected"),
        quick=share(quick, len(timed)),
        day=_approvals(day),
        night=_approvals(night),
    )


def _approvals(words: Sequence[Word]) -> Share:
    return share(sum(word.said == "approved" for word in words), len(words))


def signals(records: Sequence[ReviewerRecord]) -> list[str]:
    """Kind sentences, only where the numbers are clear."""
    said = []
    for record in records:
        if record.quick.total >= ENOUGH and record.quick.low > 1 / 4:
            said.append(
                f"{record.name} decided {record.quick.count} of {record.quick.total} times faster than the card can be"
                " read. Cards that repeat themselves do this to anybody: a threshold or a larger batch may spare some."
            )
        if min(record.night.total, record.day.total) >= ENOUGH and record.night.low > record.day.high:
            said.append(
                f"{record.name} approves more at night ({record.night.count} of {record.night.total}) than by day"
                f" ({record.day.count} of {record.day.total}). Could what comes at night wait, or go to somebody awake?"
            )
    return said
