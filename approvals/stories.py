"""The ledger's rows told call by call: what was asked and shown, who said what to which version, what came of it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from approvals.ledger_rows import NOBODY, LedgerRow

#: Events that carry a new version of a call.
VERSIONS = ("proposed", "edited", "refreshed", "released", "revoked")
DECIDED = frozenset({"approval_counted", "approved", "rejected", "edited"})
ENDED = frozenset(
    {
        *("rejected", "expired", "lapsed", "refused", "withdrawn", "succeeded", "failed", "unknown", "settled"),
        *("canary_caught", "canary_missed", "canary_unseen"),
    }
)
#: What became of taking a call back, in the words of the table.
UNDO = {
    "undo_wanted": "undo wanted by",
    "undo_asked": "undo asked for by",
    "undone": "undone, as asked by",
    "undo_failed": "not undone:",
    "undo_unknown": "nobody knows whether undone:",
}
SETTLED = {"undone": "settled as undone by", "failed": "settled as not undone by"}

Verdict = Literal["approved", "edited", "rejected", "expired"]


@dataclass(frozen=True, slots=True)
class Word:
    """One person's word: `said` is approved, edited or rejected; `dwell_ms` since the card showed it."""

    said: Literal["approved", "edited", "rejected"]
    reviewer: str
    name: str
    at: int
    version: int
    dwell_ms: int | None
    characters: int


@dataclass(slots=True)
class CallStory:
    """One call. `versions` are what was shown, by number; `verdict` is None while nobody's word is final. `undo` says
    what became of taking it back.
    """

    key: str
    run: str
    tool: str
    radius: str = ""
    batch: str = ""
    law: str = ""
    asked: bool = False
    proposed_at: int = 0
    posted_at: int | None = None
    renewed_at: int | None = None
    versions: dict[int, dict[str, Any]] = field(default_factory=dict)
    words: list[Word] = field(default_factory=list)
    verdict: Verdict | None = None
    cause: str = ""
    ended: str = ""
    approved_version: int | None = None
    executed_version: int | None = None
    undo: str = ""

    def add_version(self, row: LedgerRow, keep: frozenset[str] | None) -> None:
        """What this row showed of its version, if anything."""
        if shown := row.shown:
            number = int(row.body.get("version") or 0)
            kept = {name: value for name, value in shown.items() if keep is None or name in keep}
            self.versions[number] = {**self.versions.get(number, {}), **kept}

    @property
    def amount(self) -> tuple[int, str] | None:
        """Minor units and currency of the newest version that was shown; None when it is not about money."""
        for shown in reversed(self.versions.values()):
            if amount := shown.get("amount"):
                return int(amount["minor"]), str(amount["currency"])
        return None

    @property
    def resources(self) -> frozenset[str]:
        """Everything that any version touched."""
        return frozenset(each for shown in self.versions.values() for each in shown.get("resources", ()))

    def touched(self, version: int | None) -> int:
        """How many things one version touches, at least itself; nothing when there is no such version."""
        shown = self.versions.get(version) if version is not None else None
        return 0 if shown is None else max(1, len(shown.get("resources", ())))

    @property
    def approvers(self) -> tuple[str, ...]:
        """Who approved what was approved, by name and id; whoever edited it to be so is one of them."""
        if self.approved_version is None:
            return ()
        said = [word for word in self.words if word.version == self.approved_version and word.said != "rejected"]
        return tuple(dict.fromkeys(f"{word.name} ({word.reviewer})" for word in said))

    @property
    def decided_at(self) -> int | None:
        """When the last word was said."""
        return self.words[-1].at if self.words else None


@dataclass(slots=True)
class Stories:
    """All calls of some rows, in the order they were proposed, and the cards that were posted, by run.

    Of what was shown only the members in `keep` stay, all when it is None: a report of three months needs few.
    """

    keep: frozenset[str] | None = None
    calls: dict[str, CallStory] = field(default_factory=dict)
    cards: dict[str, list[str]] = field(default_factory=dict)
    _posted: dict[str, int] = field(default_factory=dict)

    def tell(self, row: LedgerRow) -> None:
        """The next row; they must come in order, and may begin anywhere: calls proposed before are left out."""
        if row.type == "posted":
            self._posted[row.body.get("batch", "")] = row.at
            self.cards.setdefault(row.body.get("run", ""), []).append(row.body.get("batch", ""))
            return
        key = row.body.get("call", "")
        if row.type == "proposed":
            self.calls[key] = _begun(row)
        if call := self.calls.get(key):
            if row.type in VERSIONS:
                call.add_version(row, self.keep)
            _told(call, row, self._posted)


def stories(rows: Iterable[LedgerRow]) -> Stories:
    """Tell all of the rows."""
    told = Stories()
    for row in rows:
        told.tell(row)
    return told


def _begun(row: LedgerRow) -> CallStory:
    body = row.body
    return CallStory(
        key=body["call"],
        run=body.get("run", ""),
        tool=body.get("tool", ""),
        radius=body.get("radius", ""),
        batch=body.get("batch", ""),
        asked=body.get("state") == "pending_review",
        proposed_at=row.at,
    )


def _told(call: CallStory, row: LedgerRow, posted: dict[str, int]) -> None:
    body, version = row.body, int(row.body.get("version") or 0)
    call.law = body.get("law") or call.law
    call.undo = _undo(row) or call.undo
    call.posted_at = posted.get(call.batch, call.posted_at)
    if row.type in {"refreshed", "released", "revoked"}:
        call.renewed_at = row.at
    if row.type in {"released", "revoked"}:
        call.verdict, call.approved_version, call.ended = None, None, ""
    if row.type in DECIDED and body.get("actor", "") not in NOBODY:
        call.words.append(_word(call, row))
    if row.type == "approved":
        call.approved_version = version
        call.verdict = "edited" if any(word.said == "edited" for word in call.words) else "approved"
    elif row.type == "rejected":
        call.verdict = "rejected" if body.get("actor", "") not in NOBODY else call.verdict
    elif row.type == "expired":
        call.verdict = "expired"
    if row.type in ENDED:
        call.ended, call.cause = row.type, body.get("cause", "")
    if row.type == "succeeded" or (row.type == "settled" and body.get("cause") == "succeeded"):
        call.executed_version = version


def _undo(row: LedgerRow) -> str:
    body = row.body
    said = SETTLED.get(body.get("cause", "")) if row.type == "undo_settled" else UNDO.get(row.type)
    return f"{said} {body.get('name') or body.get('actor') or body.get('reason', '')}".strip() if said else ""


def _word(call: CallStory, row: LedgerRow) -> Word:
    said: Any = "approved" if row.type == "approval_counted" else row.type
    version = int(row.body.get("version") or 0)
    read = version - 1 if said == "edited" else version
    shown = call.versions.get(read, {})
    return Word(
        said=said,
        reviewer=row.body["actor"],
        name=row.body.get("name") or row.body["actor"],
        at=row.at,
        version=version,
        dwell_ms=row.at - (call.renewed_at or call.posted_at) if call.posted_at is not None else None,
        characters=int(shown.get("characters", 0)),
    )


def judged(calls: Iterable[CallStory]) -> Sequence[CallStory]:
    """The calls that people were asked about and that are settled."""
    return [call for call in calls if call.asked and call.verdict is not None]
