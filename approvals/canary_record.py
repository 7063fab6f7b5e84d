"""What became of the canaries of a period, apart from everything real."""

from collections.abc import Iterable

from approvals.ledger_rows import LedgerRow
from policies.values import Frozen


class CanaryRecord(Frozen):
    """Numbers of canaries: `shown` as cards, `found` by whoever rejected them, approved, `unseen` (nobody decided).

    `caught` are the names of those who rejected one, each once, in the order of the alphabet.
    """

    shown: int = 0
    found: int = 0
    caught: tuple[str, ...] = ()
    approved: int = 0
    unseen: int = 0

    @property
    def any(self) -> bool:
        """Whether there is anything to tell."""
        return bool(self.shown or self.found or self.approved or self.unseen)


def is_canary(row: LedgerRow) -> bool:
    """Whether this event is about a canary."""
    return row.body.get("canary") == "1"


def canary_record(rows: Iterable[LedgerRow]) -> CanaryRecord:
    """Count them."""
    own = [row for row in rows if is_canary(row)]
    types = [row.type for row in own]
    caught = [row for row in own if row.type == "canary_caught"]
    return CanaryRecord(
        shown=types.count("posted"),
        found=len(caught),
        caught=tuple(sorted({row.body.get("name") or row.body.get("actor", "") for row in caught})),
        approved=types.count("canary_missed"),
        unseen=types.count("canary_unseen"),
    )


def told(record: CanaryRecord) -> str:
    """One kind sentence for the report's page; who caught one is named, nobody else is."""
    names = f" (by {', '.join(record.caught)})" if record.caught else ""
    return (
        f"Canaries: shown {record.shown}, caught {record.found}{names}, approved {record.approved},"
        f" unseen {record.unseen}. They ran nowhere. One that is approved says more about its card, or about the hour,"
        " than about whoever approved it."
    )
