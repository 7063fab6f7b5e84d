"""Rate limits: about one post a second per channel with a small burst, fifty calls a minute otherwise."""

import math
from dataclasses import dataclass

from bot.sandbox.errors import RateLimitedError
from bot.sandbox.world import World

_TIER_3 = 50


@dataclass
class _Bucket:
    left: float
    at: float


class Rates:
    """Token buckets; silent unless the workspace was started with rate limits."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._buckets: dict[str, _Bucket] = {}

    def spend(self, method: str, channel: str) -> None:
        """Take one call from its bucket.

        Raises:
            RateLimitedError: the bucket is empty.
        """
        settings = self._world.settings
        if not settings.rate_limits:
            return
        if method == "chat.postMessage":
            self._take(f"{method} {channel}", settings.post_burst, settings.post_per_second)
        else:
            self._take(method, _TIER_3, _TIER_3 / 60)

    def _take(self, name: str, size: float, per_second: float) -> None:
        now = self._world.clock.now()
        bucket = self._buckets.setdefault(name, _Bucket(size, now))
        bucket.left = min(size, bucket.left + (now - bucket.at) * per_second)
        bucket.at = now
        if bucket.left < 1:
            raise RateLimitedError(max(1, math.ceil((1 - bucket.left) / per_second)))
        bucket.left -= 1
