"""The verbs of operators about what only a person can settle. None of them can run an effect."""

from approvals import at_work
from approvals.models import Person
from approvals.outcomes import Answer
from approvals.room import Room


class Operators(Room):
    """Whether somebody may operate is the caller's question; every word, and every refused one, is in the ledger."""

    __slots__ = ()

    def ask_provider(self, key: str, *, by: Person) -> Answer:
        """Wake `reconcile_call` for an unknown call; WRONG_STATE for any other."""
        return self.ask("ask_provider", key, by.user, by.name)

    def mark(self, key: str, *, happened: bool, by: Person, reason: str, needed: int) -> Answer:
        """Say what became of an unknown call; detail: state, `unknown` while a second person (`needed`) is missing.

        A word that contradicts the first one replaces it. While a worker may still be at work on it, "not" changes
        nothing: WRONG_STATE; detail: state, at_work_ms (`at_work.left_ms`).
        """
        return self.ask("mark_call", key, happened, by.user, by.name, reason, needed, at_work.MARGIN_MS)

    def marked(self, key: str) -> tuple[str, str] | None:
        """(name, `succeeded` or `failed`) of the first of two words about an unknown call."""
        row = self.row(self.keys.call(key))
        return (row.text("marked_name"), row.text("marked_as")) if row.maybe("marked_as") else None

    def close(self, subject: str, *, by: Person) -> Answer:
        """Somebody has seen to this matter. It is open again when it comes up again."""
        return self.ask("close_alert", subject, by.user, by.name)

    def note(self, event: str, *, by: str, detail: str) -> None:
        """What an operator did at a terminal, for the ledger; changes nothing else."""
        self.ask("note", "", event, by, "", detail)

    def refused(self, control: str, subject: str, *, by: Person, reason: str) -> None:
        """A press that was refused, for the ledger."""
        self.ask("note_press", control, subject, by.user, by.name, reason)
