"""A receipt must reach the store: it is the only proof that an effect happened."""

import asyncio
from collections.abc import Callable

import structlog

from approvals.queue import JobTimeout

#: Seconds between attempts: an outage of about a minute is bridged, a longer one ends as "unknown".
WAITS_S = (0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 30.0)

_log = structlog.get_logger(__name__)


async def keep(record: Callable[[], object], *, call: str) -> None:
    """Run the idempotent verb that records a receipt until it gets through. The effect is not touched.

    Raises:
        Exception: the store stayed away. The clock then makes the outcome unknown, and the tool is asked for it.
    """
    for wait_s in WAITS_S:
        try:
            record()
        except JobTimeout:
            raise
        # A boundary to the store, whose own errors this package does not know by name.
        except Exception as error:  # noqa: BLE001
            _log.warning("receipt not kept yet", call=call, error=type(error).__name__)
            await asyncio.sleep(wait_s)
        else:
            return
    record()
