"""What every tier shares: the gate is decided by the change it looks at, never by dice."""

import weakref
from collections.abc import Iterator
from typing import Any

import pytest
import structlog
from hypothesis import settings
from redis import ConnectionPool

settings.register_profile("gate", derandomize=True, database=None)
settings.register_profile("fuzz", derandomize=False, database=None, print_blob=True)
settings.load_profile("gate")  # `make fuzz` asks for the other one

# Where a test gives no format: as structlog has it, but for tracebacks, whose pictures take seconds each.
_plain = structlog.dev.ConsoleRenderer(exception_formatter=structlog.dev.plain_traceback)
structlog.configure(processors=[*structlog.get_config()["processors"][:-1], _plain])


@pytest.fixture(autouse=True)
def connections_end_with_their_test(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Left open, connections to Redis would be met by the collector in the midst of another test, which then fails."""
    pools: weakref.WeakSet[ConnectionPool] = weakref.WeakSet()
    opening = ConnectionPool.__init__

    def noted(self: ConnectionPool, *args: Any, **options: Any) -> None:
        opening(self, *args, **options)
        pools.add(self)

    monkeypatch.setattr(ConnectionPool, "__init__", noted)
    yield
    for pool in list(pools):
        pool.disconnect(inuse_connections=False)
