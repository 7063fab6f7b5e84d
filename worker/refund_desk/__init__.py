"""The sample agent that comes with vobo: a refund desk with a shop of its own."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agents import Agent, Model


def build_agent(model: "Model") -> "Agent[None]":
    """The factory for `VOBO_AGENT=worker.refund_desk:build_agent`."""
    from worker.refund_desk import agent  # noqa: PLC0415 - the shop's own command starts without the Agents SDK

    return agent.build_agent(model)


def missing() -> list[str]:
    """What keeps the agent from working: its shop was never loaded. See `worker/readiness.py`."""
    from worker.refund_desk.shop.database import NOT_LOADED, Shop, ShopSettings  # noqa: PLC0415 - as above

    return [] if Shop.open(ShopSettings().url).is_loaded else [NOT_LOADED]


def rehearse() -> None:
    """Use the shop once in a process that waits for its job; see `worker/rehearsal.py`."""
    from worker.refund_desk.shop import rehearsal  # noqa: PLC0415 - as above

    rehearsal.rehearse()
