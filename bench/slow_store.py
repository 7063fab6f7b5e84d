"""A store that takes its time: a TCP door to the Valkey socket that keeps each request waiting first."""

import asyncio
import contextlib
import threading
from collections.abc import Iterator
from contextlib import contextmanager

_CHUNK = 65_536


class SlowStore:
    """`delay_s` may be changed at any moment; it holds for every request from then on."""

    def __init__(self, socket_path: str) -> None:
        self.delay_s = 0.0
        self.url = ""
        self._path = socket_path
        self._ready = threading.Event()

    async def serve(self) -> None:
        """Listen on a free port until cancelled."""
        server = await asyncio.start_server(self._through, "127.0.0.1", 0)
        self.url = f"redis://127.0.0.1:{server.sockets[0].getsockname()[1]}/0"
        self._ready.set()
        await server.serve_forever()

    async def _through(self, here: asyncio.StreamReader, back: asyncio.StreamWriter) -> None:
        answers, onward = await asyncio.open_unix_connection(self._path)
        answering = asyncio.create_task(self._pass(answers, back, slow=False))
        await self._pass(here, onward, slow=True)
        await answering

    async def _pass(self, source: asyncio.StreamReader, target: asyncio.StreamWriter, *, slow: bool) -> None:
        with contextlib.suppress(ConnectionError):
            while chunk := await source.read(_CHUNK):
                if slow and self.delay_s:
                    await asyncio.sleep(self.delay_s)
                target.write(chunk)
                await target.drain()
        target.close()

    def wait(self) -> None:
        """Until it listens."""
        self._ready.wait()


@contextmanager
def slow_store(socket_path: str) -> Iterator[SlowStore]:
    """The door, open for as long as the block lasts."""
    store, loop = SlowStore(socket_path), asyncio.new_event_loop()
    serving = loop.create_task(store.serve())

    def run() -> None:
        with contextlib.suppress(asyncio.CancelledError):
            loop.run_until_complete(serving)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    store.wait()
    try:
        yield store
    finally:
        loop.call_soon_threadsafe(serving.cancel)
        thread.join(timeout=5)
