"""Gets payloads to the app: events with retries, interactions once."""

import asyncio
from collections.abc import Coroutine
from typing import Any

from bot.sandbox.delivery import Attempt, Delivery, Transport
from bot.sandbox.faults import Faults
from bot.sandbox.model import Json
from bot.sandbox.world import World

_KEPT = 2_000


class Courier:
    """The log of deliveries and the tasks that are still trying."""

    def __init__(self, world: World, faults: Faults, transport: Transport) -> None:
        self._world = world
        self._faults = faults
        self._transport = transport
        self._tasks: set[asyncio.Task[Any]] = set()
        self.log: list[Delivery] = []

    def event(self, kind: str, payload: Json) -> Delivery:
        """Deliver an event in the background, up to three more times until it is acknowledged."""
        delivery = self._logged("events_api", kind, payload)
        self._spawn(self._persist(delivery))
        if self._faults.take("duplicate"):
            self._spawn(self._persist(self._logged("events_api", kind, payload)))
        return delivery

    async def interaction(self, envelope: str, kind: str, payload: Json) -> Delivery:
        """Deliver an interaction once and wait for the acknowledgement, or for its absence."""
        delivery = self._logged(envelope, kind, payload)
        if self._faults.take("duplicate"):
            self._spawn(self._once(self._logged(envelope, kind, payload), 0, ""))
        await self._once(delivery, 0, "")
        delivery.done = True
        self._world.changed()
        return delivery

    async def close(self) -> None:
        """Give up on everything still under way."""
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _persist(self, delivery: Delivery) -> None:
        attempt = await self._once(delivery, 0, "")
        for retry, delay in enumerate(self._world.settings.retry_delays, start=1):
            if attempt.acked or not attempt.retry:
                break
            await asyncio.sleep(delay)
            attempt = await self._once(delivery, retry, attempt.reason)
        delivery.done = True
        self._world.changed()

    async def _once(self, delivery: Delivery, retry: int, reason: str) -> Attempt:
        started = self._world.clock.now()
        attempt = await self._tried(delivery, retry, reason)
        delivery.acked = delivery.acked or attempt.acked
        if attempt.acked:
            delivery.response = attempt.body
        delivery.attempts.append(
            {
                "retry": retry,
                "acked": attempt.acked,
                "reason": attempt.reason,
                "seconds": round(self._world.clock.now() - started, 3),
            }
        )
        return attempt

    async def _tried(self, delivery: Delivery, retry: int, reason: str) -> Attempt:
        timeout = self._world.settings.ack_timeout
        if self._faults.take("lose"):
            return Attempt(acked=False, reason="lost")
        attempt = await self._transport.attempt(delivery, retry, reason, timeout)
        if self._faults.take("lose_acks"):
            return Attempt(acked=False, reason="ack_lost")
        return attempt

    def _logged(self, envelope: str, kind: str, payload: Json) -> Delivery:
        delivery = Delivery(f"delivery-{self._world.token()}", envelope, kind, payload)
        self.log.append(delivery)
        del self.log[:-_KEPT]
        return delivery

    def _spawn(self, work: Coroutine[Any, Any, Any]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
