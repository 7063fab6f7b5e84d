"""A workspace in this process, in a thread of its own, for tests and demos."""

import asyncio
import dataclasses
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Self

from bot.sandbox.client import WorkspaceClient
from bot.sandbox.errors import SandboxError
from bot.sandbox.office import Office
from bot.sandbox.seed import Seed
from bot.sandbox.server import Server
from bot.sandbox.settings import Settings

_START_SECONDS = 10


class Workspace(WorkspaceClient):
    """A running workspace. Use `Workspace.serve()`; every verb of WorkspaceClient works on it."""

    def __init__(self, settings: Settings | None = None, seed: Seed | None = None) -> None:
        self._settings = settings or Settings()
        self._seed = seed
        self._ready = threading.Event()
        self._problem: BaseException | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stopping: asyncio.Event | None = None
        self._thread: threading.Thread | None = None
        super().__init__("http://127.0.0.1:0")

    @classmethod
    @contextmanager
    def serve(cls, port: int = 0, *, seed: Seed | None = None, **settings: Any) -> Iterator[Self]:
        """Run on `port` (0: a free one) for the length of a with-block; keywords are fields of Settings."""
        workspace = cls(dataclasses.replace(Settings(), **settings), seed)
        workspace.start(port)
        try:
            yield workspace
        finally:
            workspace.stop()

    def start(self, port: int = 0, host: str = "127.0.0.1") -> None:
        """Listen and return once requests are answered.

        Raises:
            SandboxError: the port is taken.
        """
        self._thread = threading.Thread(target=self._run, args=(host, port), name="sandbox", daemon=True)
        self._thread.start()
        if not self._ready.wait(_START_SECONDS) or self._problem is not None:
            raise SandboxError(f"The workspace did not start on {host}:{port}: {self._problem}.")

    def stop(self) -> None:
        """Close every connection and end the thread."""
        if self._loop is not None and self._stopping is not None:
            self._loop.call_soon_threadsafe(self._stopping.set)
        if self._thread is not None:
            self._thread.join(_START_SECONDS)

    def _run(self, host: str, port: int) -> None:
        try:
            asyncio.run(self._main(host, port))
        except OSError as problem:
            self._problem = problem
            self._ready.set()

    async def _main(self, host: str, port: int) -> None:
        self._loop, self._stopping = asyncio.get_running_loop(), asyncio.Event()
        server = Server(Office(self._settings, self._seed))
        await server.start(host, port)
        super().__init__(server.office.world.base_url)
        self._ready.set()
        await self._stopping.wait()
        await server.stop()
