"""Plants the canaries of a week, each at an instant of its own within business hours, by one clock of any number."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime

import structlog

from approvals.planting import plant
from approvals.store import Store
from policies.canaries import instant_of, is_due, monday_of, slots
from policies.law import Law

LOOK_EVERY_MS = 60_000

_log = structlog.get_logger(__name__)


@dataclass(slots=True)
class CanaryClock:
    """One clock's part in it. `draw` gives the number of a slot, the same on every clock; `now` is the store's clock.

    A slot is tried once: when nobody can be asked at its instant, or the clock is killed in the middle, there is none.
    """

    store: Store
    law: Law
    draw: Callable[[str], int]
    now: Callable[[], int]
    _looked: int = field(default=-LOOK_EVERY_MS, init=False)

    def __call__(self) -> int:
        """Once a minute: plant what is due. Always 0, as there is nothing to repeat."""
        asked, now = self.law.reviewers.canaries, self.now()
        if asked is None or now - self._looked < LOOK_EVERY_MS:
            return 0
        self._looked = now
        for slot in self._due(datetime.fromtimestamp(now / 1000, UTC), asked.per_week):
            if self.store.canaries.take(slot):
                self._plant(slot)
        return 0

    def _due(self, now: datetime, per_week: int) -> list[str]:
        deadlines = self.law.deadlines
        monday = monday_of(now, deadlines.zone)
        planned = {slot: instant_of(deadlines, monday, self.draw(slot)) for slot in slots(monday, per_week)}
        return [slot for slot, at in planned.items() if is_due(deadlines, at, now)]

    def _plant(self, slot: str) -> None:
        tried = plant(self.store, self.law, self.draw(f"{slot}/call"))
        if tried.run is None:
            self.store.calls.note("", event="canary_skipped", person=None, detail=tried.why)
            _log.info("no canary", slot=slot, why=tried.why)
        else:
            _log.info("canary planted", slot=slot, run=tried.run)
