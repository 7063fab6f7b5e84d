"""Weeks of approvals as the ledger tells them, made up: for the report, and to look at it."""

import itertools
import random
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

from approvals.ledger_rows import LedgerRow
from policies.strict_json import write_json

DAY = 24 * 3600 * 1000
END = int(datetime(2026, 11, 29, 12, tzinfo=UTC).timestamp() * 1000)
PEOPLE = {
    "U0ANA": "Ana Ruiz",
    "U0BEN": "Ben <b>Okafor</b>",
    "U0OLGA": "Olga Weiß $5",
    "U0OMAR": "Omar Haddad-Lindström",
}
TOOLS = ("refund_payments", "refund_payments", "send_campaign", "deploy", "delete_customers")


class Months:
    """Writes rows, in order."""

    def __init__(self, seed: int = 7) -> None:
        self.rows: list[LedgerRow] = []
        self._seq = itertools.count(1)
        self._random = random.Random(seed)  # noqa: S311 - made-up numbers

    def add(self, kind: str, at: int, **body: Any) -> None:
        """One event."""
        number = next(self._seq)
        texts = {"type": kind, "at": str(at), **{name: str(value) for name, value in body.items()}}
        self.rows.append(LedgerRow(number, f"{at}-{number}", at, kind, texts, "0" * 64, texts))

    def fill(self, days: int = 40) -> list[LedgerRow]:
        """Runs on each of these days, four rules, four people with habits of their own."""
        for number, at in enumerate(self._starts(days)):
            run = f"run_{number}"
            self.add("run_started", at, run=run, actor="U0ROSA", name="desk")
            for card in range(self._random.choice((1, 1, 1, 2, 3))):
                self._card(run, f"batch_{number}_{card}", at + 5_000)
        self.rows.sort(key=lambda row: row.at)
        return self.rows

    def _starts(self, days: int) -> Iterator[int]:
        for day in range(days):
            for _ in range(self._random.randint(1, 4)):
                yield END - (days - day) * DAY + self._random.randint(0, DAY - 1)

    def _card(self, run: str, batch: str, at: int) -> None:
        tool = self._random.choice(TOOLS)
        keys = [f"call_{batch}_{n}" for n in range(self._random.randint(1, 2))]
        for key in keys:
            shown = {
                "arguments": {},
                "characters": self._random.randint(150, 900),
                "amount": {"minor": self._random.randint(20, 400) * 100, "currency": "EUR"},
            }
            place = {"run": run, "batch": batch, "call": key, "tool": tool, "version": 1, "law": "0a1b2c"}
            self.add("proposed", at, **place, state="pending_review", kept=write_json(shown))
            self._decide(place, at + 2_000)
        self.add("posted", at + 1_000, run=run, batch=batch)

    def _decide(self, place: dict[str, Any], at: int) -> None:
        who = self._random.choice(list(PEOPLE))
        dwell = {"U0ANA": 2_500}.get(who, self._random.choice((20_000, 90_000, 400_000, 2_000_000)))
        luck = self._random.random()
        word = {"actor": who, "name": PEOPLE[who]}
        if place["tool"] == "deploy":
            self.add("rejected", at + dwell, **place, **word, cause="person")
        elif luck < 0.08 and place["tool"] != "refund_payments":
            self.add("expired", at + 14_400_000, **place, cause="nobody decided")
        elif luck < 0.2 and place["tool"] == "delete_customers":
            self.add("rejected", at + dwell, **place, **word, cause="person")
        elif luck < 0.3 and place["tool"] == "send_campaign":
            self.add("edited", at + dwell, **{**place, "version": 2}, **word)
            self.add("approved", at + dwell + 400, **{**place, "version": 2}, **word)
        else:
            self.add("approved", at + dwell, **place, **word)
            self.add("succeeded" if luck < 0.98 else "unknown", at + dwell + 900, **place)
