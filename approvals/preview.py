"""What code, never the model, says about a call before a person is asked."""

from collections.abc import Mapping, Sequence
from typing import Any, Self

from pydantic import BaseModel, ConfigDict

from approvals.masks import Masks
from approvals.seal import digest

Row = dict[str, str | int | bool | None]


class Precondition(BaseModel):
    """What must still be true when the call runs: the material columns of the rows it rests on, by row id.

    Order and immaterial columns do not count; a vanished, new or changed row does.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    sentence: str
    rows: dict[str, Row] = {}

    @classmethod
    def over(cls, sentence: str, rows: Sequence[Mapping[str, Any]], *, key: str, material: Sequence[str]) -> Self:
        """Keep the material columns of each row under its id.

        Raises:
            ValueError: two rows have one id, and only one of them would be watched.
        """
        kept: dict[str, Row] = {}
        for row in rows:
            name = str(row[key])
            if name in kept:
                raise ValueError(f"Two rows have the {key} {name}; name rows by a column that tells them apart.")
            kept[name] = {
                column: value if isinstance(value := row[column], str | int | bool | None) else str(value)
                for column in material
            }
        return cls(sentence=sentence, rows=kept)

    @property
    def fingerprint(self) -> str:
        """SHA-256 over the rows in canonical form; equal for equal content, whatever its order."""
        return digest({key: dict(row) for key, row in self.rows.items()})

    def only(self, keys: "set[str] | frozenset[str]") -> Self:
        """The same precondition restricted to some rows, for an edit that keeps a subset."""
        return self.model_copy(update={"rows": {key: row for key, row in self.rows.items() if key in keys}})

    def difference(self, now: "Precondition", masks: Masks) -> list[str]:
        """One sentence for each row that vanished, appeared or changed since; empty when nothing did.

        It goes to cards, notifications and the ledger: of a personal column it says that it changed, and a row whose
        id is a personal value is named by its place.
        """
        lines = [f"{_named(key, self, masks)} is gone" for key in self.rows if key not in now.rows]
        lines += [f"{_named(key, now, masks)} is new" for key in now.rows if key not in self.rows]
        for key, old in self.rows.items():
            new = now.rows.get(key)
            if new is not None and new != old:
                changes = ", ".join(
                    _change(column, old.get(column), new.get(column), masks)
                    for column in sorted({*old, *new})
                    if old.get(column) != new.get(column)
                )
                lines.append(f"{_named(key, self, masks)}: {changes}")
        return lines


def _named(key: str, of: Precondition, masks: Masks) -> str:
    return f"row {list(of.rows).index(key) + 1}" if masks.hides(key) else key


def _change(column: str, old: object, new: object, masks: Masks) -> str:
    return f"{column} changed" if column in masks.columns else f"{column} {old} -> {new}"


class Preview(BaseModel):
    """What a reviewer reads: made by the action's code from the team's own data, counts rather than adverbs.

    `headline` names action and amount; `impact` the blast radius in numbers; `sample` rows of which a card shows some;
    `columns` their order, `brief` those worth a place on the card (all when empty); `personal` the columns masked
    outside the details; `rows` all of them; `body` the artefact itself when the call is a text (a mail);
    `details` further lines for the details modal.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    headline: str
    impact: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()
    brief: tuple[str, ...] = ()
    sample: tuple[Row, ...] = ()
    rows: tuple[Row, ...] = ()
    personal: tuple[str, ...] = ()
    body: str | None = None
    details: tuple[str, ...] = ()
    precondition: Precondition | None = None
    #: True when no preview was written and fields and values are shown as they are.
    generic: bool = False

    def masks(self) -> Masks:
        """What is personal of it: the columns, and every value that stands in one of them."""
        resting = self.precondition.rows.values() if self.precondition else ()
        values = {
            str(row[name]) for row in (*self.sample, *self.rows, *resting) for name in self.personal if row.get(name)
        }
        return Masks(frozenset(self.personal), frozenset(values))
