"""Exact copies of interactions: whoever got hold of a signed request could send it again within minutes."""

import json
import threading
import time
from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qs

from approvals.store import Store
from bot.ids import IdRefused, read_call_ref

#: Slack's signatures are accepted for this long, in either direction.
WINDOW_S = 300.0


class Replays:
    """Signatures seen within the window. Slack signs every delivery anew, retries included; an equal one is a copy.

    Each process remembers its own: a copy sent to another one meets the store, whose verbs repeat without effect.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._seen: dict[str, float] = {}
        self._lock = threading.Lock()

    def first(self, signature: str) -> bool:
        """Whether this signature has not been seen within twice the window."""
        now = self._clock()
        with self._lock:
            for old in [one for one, at in self._seen.items() if now - at > 2 * WINDOW_S]:
                del self._seen[old]
            if signature in self._seen:
                return False
            self._seen[signature] = now
            return True


def note_replay(store: Store, body: str) -> None:
    """Put a dropped copy into the ledger of the call it was about, if it names one."""
    call = _call_in(body)
    if call:
        store.calls.note(call, event="click_replayed", person=None, detail="an exact copy of a signed request")


def _call_in(body: str) -> str | None:
    try:
        payload: Any = json.loads(parse_qs(body)["payload"][0])
        actions = payload.get("actions")
        value = actions[0]["value"] if actions else json.loads(payload["view"]["private_metadata"])["ref"]
        return read_call_ref(value).key
    except (ValueError, KeyError, IndexError, TypeError, AttributeError, IdRefused):
        return None
