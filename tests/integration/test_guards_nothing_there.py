"""Every verb about something the store does not know answers so, and leaves nothing behind."""

from collections.abc import Callable
from typing import Any

import pytest
import redis

from approvals.models import BatchLease, Claim
from approvals.outcomes import Outcome
from approvals.store import Store
from builders import a_content, a_store

CLAIM = Claim(call="nobody", run="none", batch="nothing", token="t", version=1, lease_until=0)
LEASE = BatchLease(batch="nothing", run="no_run", token="t", epoch=1, generation=1)
NEXT: tuple[Any, ...] = ("2", "blob", "seal", "1", "", "law-1")

#: Straight to the script where the store's own method looks first.
VERBS: dict[str, Callable[[Store], Any]] = {
    "approve": lambda s: s.calls.ask("approve", "nobody", 1, "U0ANA", "Ana", "{}", "{}", ""),
    "reject": lambda s: s.calls.ask("reject", "nobody", 1, "U0ANA", "Ana", "{}", "{}", "", "no", False),
    "edit": lambda s: s.calls.ask("edit", "nobody", 1, "U0ANA", "Ana", "{}", "{}", "{}", "print", "blob"),
    "refresh": lambda s: s.calls.ask("refresh", "nobody", 1, "blob", "s", False, "", 1, "", "law", "kept", "desk"),
    "withdraw": lambda s: s.calls.withdraw("nobody", by="U0REQ"),
    "auto_approve": lambda s: s.calls.auto_approve("nobody", lease=LEASE),
    "forbid": lambda s: s.calls.forbid("nobody", lease=LEASE, reason="no"),
    "claim": lambda s: s.effects.ask("claim", "nobody", "nothing", "t", 1, "token", "seal", 1, 1000, 0, 0),
    "refuse": lambda s: s.effects.ask("refuse", "nobody", "nothing", "t", 1, "cap", "reached"),
    "revoke": lambda s: s.effects.ask("revoke", "nobody", "nothing", "t", 1, "why", *NEXT),
    "release": lambda s: s.effects.release(CLAIM, content=a_content(), seal="s", difference=["gone"]),
    "unclaim": lambda s: s.effects.unclaim("nobody", token="t"),
    "succeed": lambda s: s.effects.succeed(CLAIM, receipt="{}"),
    "fail": lambda s: s.effects.fail(CLAIM, reason="no"),
    "abandon": lambda s: s.effects.abandon("nobody", token="t", reason="no answer"),
    "settle": lambda s: s.effects.ask("settle", "nobody", True, "U0OPS", "seen", ""),
    "answer_unknown": lambda s: s.effects.answer_unknown("nobody"),
    "record_posted": lambda s: s.batches.record_posted("nothing", channel="C1", ts="1.1"),
    "lease_batch": lambda s: s.batches.ask("lease_batch", "nothing", "t", 1000),
    "lease_run": lambda s: s.runs.ask("lease_run", "no_run", "t", 1000),
    "requeue_run": lambda s: s.runs.requeue("no_run", by="U0OPS"),
    "retire": lambda s: s.deadlines.apply("retire:no_run"),
    "post": lambda s: s.deadlines.apply("post:nothing"),
    "decide": lambda s: s.deadlines.apply("decide:nothing"),
    "lapse": lambda s: s.deadlines.apply("lapse:nobody"),
    "lease": lambda s: s.deadlines.apply("lease:nobody"),
    "unknown": lambda s: s.outbox.ask("delivered", "card:nothing", 1, "C1", "1.1"),
}


@pytest.mark.parametrize("verb", sorted(VERBS))
def test_a_verb_about_nothing_says_so_and_writes_nothing(redis_client: redis.Redis, verb: str) -> None:
    store = a_store(redis_client)
    before = set(redis_client.keys("*"))
    assert VERBS[verb](store).outcome is Outcome.NOT_FOUND
    assert set(redis_client.keys("*")) == before


@pytest.mark.parametrize(
    ("kind", "subject"), [("post", "nothing"), ("decide", "nothing"), ("lapse", "x"), ("lease", "x")]
)
def test_a_deadline_of_something_forgotten_is_taken_out(redis_client: redis.Redis, kind: str, subject: str) -> None:
    store = a_store(redis_client)
    redis_client.zadd(store.keys.deadlines, {f"{kind}:{subject}": 1})
    assert store.deadlines.due() == [f"{kind}:{subject}"]
    assert store.deadlines.apply(f"{kind}:{subject}").outcome is Outcome.NOT_FOUND
    assert store.deadlines.due() == []
