"""Keeps what is due apart: a member that this version cannot do keeps no other waiting."""

from collections.abc import Callable
from dataclasses import dataclass, field

import structlog

from approvals.away import STORE_AWAY
from approvals.store import Store
from approvals.usable import why_unusable

#: A member that goes on failing is tried in every round, and logged again after so long.
LOGGED_AGAIN_S = 600.0

_log = structlog.get_logger(__name__)


@dataclass(slots=True)
class Apart:
    """Does one member's work at a time. `now` tells seconds that never go back."""

    store: Store
    now: Callable[[], float]
    _logged: dict[str, float] = field(default_factory=dict)

    def do(self, member: str, work: Callable[[], object]) -> None:
        """Do it. What goes wrong with it alone is logged; it stays due, so doctor and metrics go on counting it.

        Raises:
            Exception: the store does not answer or takes no writes, which is nothing about this member.
        """
        try:
            work()
        except STORE_AWAY:
            raise
        # A boundary: a newer version may have written what is due, and the deadlines behind it must not stand still.
        except Exception as error:
            if why_unusable(self.store) is not None:
                raise
            self._tell(member, error)
        else:
            self._logged.pop(member, None)

    def _tell(self, member: str, error: Exception) -> None:
        now = self.now()
        self._logged = {one: at for one, at in self._logged.items() if now - at < LOGGED_AGAIN_S}
        if member not in self._logged:
            self._logged[member] = now
            _log.error("what is due cannot be done", member=member, error=type(error).__name__, exc_info=True)
