import json
from typing import Any

from stack import Stack


def effects_of(stack: Stack) -> dict[str, list[dict[str, Any]]]:
    """What happened in the shop, read back from its database."""
    found: dict[str, list[dict[str, Any]]] = json.loads(stack.run("-m", "worker.refund_desk.shop", "effects", "--json"))
    return found
