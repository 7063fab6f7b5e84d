"""A model without a network: plans the refund desk's work from the request and the tool results."""

from worker.refund_desk.planner.model import OfflinePlanner

__all__ = ["OfflinePlanner"]
