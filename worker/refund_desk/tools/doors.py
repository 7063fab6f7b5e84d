"""How the tools reach the shop: reading beside the event loop, and doing each effect once."""

import asyncio
from collections.abc import Callable
from typing import TypeVar

from pydantic import BaseModel
from sqlalchemy.orm import Session

from policies.rule import Facts
from worker.actions import ActionContext, NothingHappened
from worker.refund_desk.shop.database import open_shop
from worker.refund_desk.shop.errors import ShopRefused

T = TypeVar("T")
R = TypeVar("R", bound=BaseModel)
F = TypeVar("F", bound=Facts)


async def read(work: Callable[[Session], T]) -> T:
    """What `work` finds in the shop."""

    def reading() -> T:
        with open_shop().reading() as session:
            return work(session)

    return await asyncio.to_thread(reading)


async def once(ctx: ActionContext, tool: str, args: BaseModel, effect: Callable[[Session, str], R], kind: type[R]) -> R:
    """Do `effect` under the call's idempotency key; a repeated call gets the first receipt.

    Raises:
        NothingHappened: the shop refused and changed nothing.
    """
    try:
        return await asyncio.to_thread(lambda: open_shop().once(ctx.idempotency_key, tool, args, effect, kind))
    except ShopRefused as refused:
        raise NothingHappened(str(refused)) from None


def sealed(ctx: ActionContext, kind: type[F], tool: str, nothing: str) -> F:
    """What the check had found when it was decided; `nothing` says what did not happen.

    Raises:
        NothingHappened: no rule of the tool is in force, and it alone says how that is read.
    """
    if not isinstance(ctx.facts, kind):
        raise NothingHappened(f"No rule covers {tool}, so what was looked up for it cannot be compared. {nothing}")
    return ctx.facts


async def find(key: str, kind: type[R]) -> R | None:
    """The receipt of what was done under an idempotency key."""
    return await asyncio.to_thread(lambda: open_shop().find(key, kind))


def counted(number: int, one: str, many: str | None = None) -> str:
    """`1 customer`, `38 customers`."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"
