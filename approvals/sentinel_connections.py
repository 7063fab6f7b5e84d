"""Connections through Sentinel that end when reading from them was interrupted, as redis-py's others do.

redis-py leaves such a connection open and puts it back: the answer nobody waited for would then be taken for that of
the next command. A timeout of a job and the end of a worker interrupt reads in just this way.
"""

from typing import Any

from redis.sentinel import SentinelManagedConnection, SentinelManagedSSLConnection


class WholeAnswers(SentinelManagedConnection):
    """Unencrypted."""

    def read_response(self, *args: Any, **options: Any) -> Any:
        """One answer. Whatever keeps it from being read to its end ends the connection."""
        return super().read_response(*args, **{"disconnect_on_error": True, **options})


class WholeEncryptedAnswers(SentinelManagedSSLConnection):
    """Over TLS."""

    def read_response(self, *args: Any, **options: Any) -> Any:
        """As above."""
        return super().read_response(*args, **{"disconnect_on_error": True, **options})
