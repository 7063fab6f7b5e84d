import multiprocessing
import zlib
from base64 import b64decode
from collections.abc import Callable
from multiprocessing.context import ForkProcess
from pathlib import Path

import redis

from approvals.queue import WakeupQueue, build_worker, keep_working, work_loop
from approvals.redis_check import connect
from approvals.safe_worker import SafeWorker
from approvals.vault import Vault, new_key

QUEUE = "vobo"
JOBS = """
    import os
    import time
    from pathlib import Path

    from approvals.queue import JobTimeout

    def _write(text):
        with Path(os.environ["DESK_NOTES"]).open("a") as notes:
            notes.write(text + "\\n")

    def note(argument, tenant):
        _write(f"{argument} for {tenant}")
        return "a secret result"

    def planted(*args):
        _write("PLANTED")

    def fail(argument, tenant):
        raise ValueError(f"customer {argument} has card 4242")

    def who(argument, tenant):
        _write(str(os.getpid()))

    def slow(argument, tenant):
        _write("began")
        time.sleep(1.5)
        _write("ended")

    def overrun(argument, tenant):
        try:
            time.sleep(30)
        except JobTimeout:
            _write("time is over")
            raise
"""


class Desk:
    """Real worker processes over a queue of small jobs that leave notes in a file."""

    allowed = frozenset({"desk_jobs.note", "desk_jobs.fail", "desk_jobs.slow", "desk_jobs.overrun", "desk_jobs.who"})

    def __init__(self, url: str, client: redis.Redis, notes: Path) -> None:
        self.url, self.client, self.notes = url, client, notes
        self.keys = new_key()
        self.vault = Vault.from_text(self.keys)
        self.queue = WakeupQueue(client, self.vault, QUEUE, allowed=self.allowed)

    def worker(
        self, keys: str | None = None, *, burst: bool = False, rehearse: Callable[[], None] | None = None
    ) -> ForkProcess:
        """A started worker process, which forks a process per job; one ahead if it has something to `rehearse`."""
        given = (keys or self.keys, burst, rehearse)
        process = multiprocessing.get_context("fork").Process(target=self._work, args=given)
        process.start()
        return process

    def work_off(self, keys: str | None = None) -> None:
        """Let a worker run until the queue is empty."""
        process = self.worker(keys, burst=True)
        process.join(30)
        assert process.exitcode == 0

    def only_job(self) -> str:
        [key] = [key.decode() for key in self.client.scan_iter("rq:job:*")]
        return key

    def plant(self, data: bytes, **fields: str) -> str:
        """What somebody who can write to Redis would do."""
        key = "rq:job:planted"
        job = {"data": zlib.compress(data), "status": "queued", "origin": "vobo", "timeout": "60", **fields}
        self.client.hset(key, mapping=job)
        self.client.rpush("rq:queue:vobo", "planted")
        return key

    def results(self, key: str) -> dict[str, str]:
        """What RQ kept about how the job ended, decoded."""
        [(_, fields)] = self.client.xrange(key.replace("rq:job:", "rq:results:"))
        kept = {name.decode(): value.decode() for name, value in fields.items()}
        if "exc_string" in kept:
            kept["exc_string"] = zlib.decompress(b64decode(kept["exc_string"])).decode()
        return kept

    def _work(self, keys: str, burst: bool, rehearse: Callable[[], None] | None) -> None:  # noqa: FBT001 - called by multiprocessing
        """As worker/__main__.py does; until the queue is empty if `burst`."""

        def build() -> SafeWorker:
            worker = build_worker(connect(self.url), Vault.from_text(keys), QUEUE, allowed=self.allowed)
            worker.rehearse = rehearse
            return worker

        if burst:
            work_loop(build(), burst=True)
        else:
            keep_working(build)
