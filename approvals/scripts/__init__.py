"""Loads the Lua scripts: one file per verb, with the shared prelude in front of each."""

from collections.abc import Sequence
from enum import StrEnum
from functools import cache
from importlib.resources import files
from typing import Any

import redis
from redis.commands.core import Script

from approvals.replicas import run_awaited, wanted
from approvals.storable import whole_text

#: In this order in front of every script: keys, what one change brings with it, the inboxes, who is told, the checks,
#: what an undo is, then what a worker finds.
PRELUDE = ("_keys.lua", "_prelude.lua", "_inbox.lua", "_telling.lua", "_checks.lua", "_undo.lua", "_work.lua")

Argument = str | bytes | int | bool | StrEnum | None


@cache
def source(name: str) -> str:
    """The text of one script as the server runs it."""
    parts = (*PRELUDE, f"{name}.lua")
    return "\n".join(files(__package__).joinpath(part).read_text(encoding="utf-8") for part in parts)


def names() -> list[str]:
    """All scripts, without the prelude."""
    found = (entry.name for entry in files(__package__).iterdir())
    return sorted(name.removesuffix(".lua") for name in found if name.endswith(".lua") and not name.startswith("_"))


class Scripts:
    """The scripts of one tenant on one client; each is registered when first used."""

    def __init__(self, client: redis.Redis, prefix: str) -> None:
        self._client = client
        self._prefix = prefix
        self._registered: dict[str, Script] = {}

    def run(self, name: str, *arguments: Argument) -> list[Any]:
        """Run one script; its reply as Redis gives it (bytes).

        Raises:
            NotReplicated: it is one that has to be on replicas, and is not.
        """
        script = self._registered.get(name)
        if script is None:
            # redis-py loads it again by itself when the server forgot it (restart, failover).
            script = self._registered[name] = self._client.register_script(source(name))
        replicas = wanted(self._client, name)
        if replicas:
            awaited: list[Any] = run_awaited(self._client, script, self._prefix, encoded(arguments), replicas)
            return awaited
        reply: list[Any] = script(keys=[self._prefix], args=encoded(arguments))
        return reply


def encoded(arguments: Sequence[Argument]) -> list[bytes]:
    """Integers as decimal text, absent as empty text: what the scripts expect."""
    return [_encoded(argument) for argument in arguments]


def _encoded(argument: Argument) -> bytes:
    if argument is None:
        return b""
    if isinstance(argument, bytes):
        return argument
    if isinstance(argument, bool):
        return b"1" if argument else b"0"
    text = str(argument)
    try:
        return text.encode()
    except UnicodeEncodeError:  # half a character, in what a tool or a person said; its verb must not fail for it
        return whole_text(text).encode()
