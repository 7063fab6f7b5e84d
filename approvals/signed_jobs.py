"""Jobs that only our own processes can write, and that can only call what is on the list.

RQ runs whatever a job's hash names: a function by dotted path, callbacks, web hooks, repetitions. Whoever can write
to Redis could therefore run anything in the worker. Here the call is signed JSON, the function must be on the list,
its arguments must be two texts, and every other instruction in the hash is dropped when it is read.
"""

import hashlib
import hmac
import json
from collections.abc import Callable, Collection
from typing import Any, ClassVar

from rq.exceptions import NoSuchJobError
from rq.job import Job

from approvals.errors import ApprovalsError
from approvals.vault import Vault

PURPOSE = "rq-jobs"
MAC_BYTES = hashlib.sha256().digest_size
MAX_TIMEOUT_S = 24 * 60 * 60
DEFAULT_TIMEOUT_S = 180

ALLOWED_JOBS = frozenset(
    {
        "worker.jobs.start_run",
        "worker.jobs.execute_batch",
        "worker.jobs.refresh_call",
        "worker.jobs.reconcile_call",
        "worker.jobs.resume_run",
        "worker.jobs.undo_call",
        "worker.jobs.look_again",
    }
)


class JobRefused(ApprovalsError):
    """A job in the queue is not one of ours, or may not be run."""


class SignedJson:
    """RQ serializer: HMAC-SHA256 followed by JSON. Signs with the newest key, accepts every configured one."""

    def __init__(self, vault: Vault) -> None:
        self._keys = vault.derive_all(PURPOSE)
        self.__qualname__ = type(self).__qualname__  # RQ names the serializer as if it were a class

    def dumps(self, value: Any, /) -> bytes:
        """Signed JSON of `value`."""
        body = json.dumps(value, separators=(",", ":")).encode()
        return _mac(self._keys[0], body) + body

    def loads(self, signed: bytes, /) -> Any:
        """The value, if one of our keys signed it.

        Raises:
            JobRefused: unsigned, signed by somebody else, or changed.
        """
        mac, body = bytes(signed[:MAC_BYTES]), bytes(signed[MAC_BYTES:])
        if not any(hmac.compare_digest(mac, _mac(key, body)) for key in self._keys):
            raise JobRefused(
                "A job in the queue does not bear our signature. Make sure that bot and worker share VOBO_STATE_KEYS,"
                " then find out who else can write to Redis."
            )
        return json.loads(body)


class SafeJob(Job):
    """An RQ job that calls an allowed function with two texts (argument, tenant), and does nothing else."""

    allowed: ClassVar[Collection[str]] = ALLOWED_JOBS

    @property
    def func(self) -> Callable[..., Any]:
        """The function to call.

        Raises:
            JobRefused: not on the list, bound to an object, or called with anything but two texts.
        """
        if self.instance is not None or self.func_name not in self.allowed:
            raise JobRefused(
                f"Job {self.id} asks for a function that is not on the list of jobs. Find out who can write to Redis."
            )
        if self.kwargs or [type(argument) for argument in self.args] != [str, str]:
            raise JobRefused(f"Job {self.id} does not carry an argument and a tenant. Find out who wrote it.")
        found: Callable[..., Any] = super().func
        return found

    @property
    def success_callback(self) -> None:
        """Never any: RQ would import and call whatever the hash names."""

    @property
    def failure_callback(self) -> None:
        """Never any, as above."""

    @property
    def stopped_callback(self) -> None:
        """Never any, as above."""

    def send_webhooks(self, *_args: Any, **_kwargs: Any) -> None:
        """Nothing: the address would come from the hash."""

    def perform(self) -> None:
        """Run the job and drop what it returns; results belong in the store, not in the queue."""
        super().perform()

    def restore(self, raw_data: Any) -> None:
        """Read the hash, keeping only what a wake-up hint needs.

        Raises:
            NoSuchJobError: unreadable; RQ then skips it. Any other error would end the worker process.
        """
        try:
            super().restore(raw_data)
        except NoSuchJobError:
            raise
        except (ValueError, KeyError, TypeError, AttributeError, ArithmeticError) as error:
            raise NoSuchJobError(f"Job {self.id} is unreadable ({type(error).__name__})") from error
        self._forget_instructions()

    def _forget_instructions(self) -> None:
        self.webhooks = []
        self._dependency_ids = []
        self.retries_left = self.repeats_left = self.number_of_retries = None
        self.retry_intervals = self.repeat_intervals = None
        self.rate_limit_key = self.rate_limit_concurrency = self.group_id = None
        self.enqueue_at_front_on_retry = False
        self.meta = {}
        if self.timeout is None or not 1 <= self.timeout <= MAX_TIMEOUT_S:
            self.timeout = DEFAULT_TIMEOUT_S  # RQ reads -1 as "for ever"


def job_class_for(allowed: Collection[str]) -> type[SafeJob]:
    """A job class with a list of its own."""
    return type("SafeJob", (SafeJob,), {"allowed": frozenset(allowed)})


def _mac(key: bytes, body: bytes) -> bytes:
    return hmac.digest(key, body, "sha256")
