"""How long the certificate of an encrypted Redis is still good: once it has run out, no process can connect."""

import ssl
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import redis

from approvals.findings import Finding, fine, warning

#: So many days ahead is a warning: time enough for an authority that signs by hand.
SOON_DAYS = 21
_DAY_S = 24 * 3600


def certificate(client: redis.Redis, now_ms: int) -> Iterator[Finding]:
    """One finding about the certificate of the server that answers; nothing when the way there is not encrypted.

    Raises:
        redis.RedisError: nobody answers.
    """
    shown = _shown(client)
    if shown is None:
        return
    ends_s = ssl.cert_time_to_seconds(shown["notAfter"])
    said = f"The certificate of Redis is good until {datetime.fromtimestamp(ends_s, UTC):%Y-%m-%d %H:%M} UTC."
    if ends_s - now_ms / 1000 >= SOON_DAYS * _DAY_S:
        yield fine("certificate", said)
    else:
        yield warning(
            "certificate",
            said,
            "Renew it, and load it into the server; connections that stand go on, new ones fail once it has run out.",
        )


def _shown(client: redis.Redis) -> dict[str, Any] | None:
    """What the server shows of itself, checked as every connection checks it."""
    pool = client.connection_pool
    connection = pool.get_connection()
    try:
        way = connection._sock  # noqa: SLF001 - redis-py tells of its connections only this way
        return way.getpeercert() if isinstance(way, ssl.SSLSocket) else None
    finally:
        pool.release(connection)
