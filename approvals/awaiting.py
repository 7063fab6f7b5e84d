"""What is away when a process starts is waited for. Whoever ended instead would be started again, and tell nobody."""

import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import structlog

from approvals.alert_webhook import AlertWebhook
from approvals.health import Health
from approvals.metrics import Timings, exposed
from approvals.outages import MEANS, OutageWatch
from approvals.redis_check import RedisAway, check_server
from approvals.redis_refusals import StoreUnusable, Trouble
from approvals.settings import Settings
from approvals.store import Store
from approvals.usable import trouble

#: Between two looks.
AGAIN_S = 3.0

_log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Start:
    """A process that is not at work yet. `store` need not answer, `who` is the process in words."""

    settings: Settings
    store: Store
    who: str
    health_port: int | None

    def await_store(self) -> None:
        """Return once the store can be used.

        Raises:
            ApprovalsError: waiting would not help: a setting is wrong, or the server is unsafe.
        """
        self.awaited("the store", lambda: store_away(self.store), MEANS)

    def awaited(self, what: str, look: Callable[[], Trouble | None], means: str) -> None:
        """Return once `look` finds nothing any more; what it raises ends the start.

        Meanwhile the process lives and is not ready, ops is told when it lasts for a minute, and whoever asks the
        process to end has it end at once: nothing was begun.
        """
        away: Trouble | None = None
        told = AlertWebhook(self.settings.alert_webhook).send
        watch = OutageWatch(lambda: away, told, self.who, what=what, means=means)
        with _ending_at_once() as asked_to_end:
            away = look()
            if away is None:
                return
            with self._answering(lambda: away.what if away is not None else None):
                said = None
                while away is not None:
                    if away != said:
                        _log.warning("not started yet; it is tried again every few seconds", why=str(away))
                    said = away
                    watch.round()
                    time.sleep(AGAIN_S)
                    if asked_to_end:
                        sys.exit(0)
                    away = look()
                watch.round()  # that it is over, where ops was told that it lasts
        _log.info("what was waited for is there", what=what)

    @contextmanager
    def _answering(self, ready: Callable[[], str | None]) -> Iterator[None]:
        if self.health_port is None:
            yield
            return
        metrics = exposed(self.store, Timings())
        health = Health(self.health_port, ready, self.settings.health_host, metrics=metrics)
        health.start()
        try:
            yield
        finally:
            health.stop()


def store_away(store: Store) -> Trouble | None:
    """Why the store cannot be used now and may be later, None when it can be.

    Raises:
        ApprovalsError: a setting is wrong, or the server is unsafe.
    """
    try:
        check_server(store.runs.client)
    except RedisAway as away:
        return Trouble("the store does not answer", str(away))
    except StoreUnusable:
        pass  # as what follows finds out
    return trouble(store)


@contextmanager
def _ending_at_once() -> Iterator[list[int]]:
    """What was asked by signals is noted as well: Python swallows what is raised while it tidies up."""
    asked: list[int] = []

    def end(number: int, _frame: object) -> None:
        asked.append(number)
        sys.exit(0)

    before = {one: signal.signal(one, end) for one in (signal.SIGTERM, signal.SIGINT)}
    try:
        yield asked
    finally:
        for one, handler in before.items():
            signal.signal(one, handler)
