"""The example in docs/your-own-agent.md, executed: what is printed there is what runs here."""

import asyncio
import contextlib
import importlib
import re
import sys
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import redis
from agents import Model
from agents.testing import ScriptedModel, assistant_message, function_call

from approvals.lifecycle import RunState, State
from approvals.models import Call, Decision, Person
from approvals.store import Store
from approvals.vault import Vault
from builders import CHANNEL, STATE_KEY, THREAD
from policies.risk import Mode
from worker import batches, runs
from worker.assembly import Prepared, prepare
from worker.deps import Deps
from worker.settings import WorkerSettings

PAGE = Path(__file__).parents[2] / "docs" / "your-own-agent.md"
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
TEAM, ROSA, BRUNO, OLGA = "T0000HOME", "U0005", "U0001", "U0002"


@pytest.fixture
def prepared(valkey_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Prepared]:
    """The page's files in a package of their own and its variables in the environment, read by the real loaders."""
    for language, text in BLOCK.findall(PAGE.read_text(encoding="utf-8")):
        if language == "sh":
            for line in text.splitlines():
                name, _, value = line.partition("=")
                monkeypatch.setenv(name, value)
        elif language in {"python", "toml"}:
            path = tmp_path / text.splitlines()[0].removeprefix("# ")
            path.parent.mkdir(exist_ok=True)
            path.write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("REDIS_URL", valkey_url)
    monkeypatch.setenv("VOBO_STATE_KEYS", STATE_KEY)
    yield prepare(WorkerSettings.read())
    for name in [name for name in sys.modules if name.partition(".")[0] == "acme"]:
        del sys.modules[name]


class Story:
    """One run of the page's agent with a scripted model."""

    def __init__(self, prepared: Prepared, client: redis.Redis, *steps: Any) -> None:
        self.script = ScriptedModel(steps)
        self.store = Store.open(client, Vault.from_text(STATE_KEY), tenant=TEAM)
        self.store.people.set_home_team(TEAM)
        self.store.ledger.vouch(self.store.ledger.server())

        @contextlib.asynccontextmanager
        async def model() -> AsyncIterator[Model]:
            yield self.script

        self.deps = Deps(self.store, prepared.law, prepared.factories, model, retry_delays_ms=(0,) * 8)
        started = self.store.runs.start(
            "run_1", request="help C-17", requester=ROSA, channel=CHANNEL, thread_ts=THREAD, agent="default"
        )
        assert started.ok
        self.go_on()

    def go_on(self) -> None:
        """As the clock would, until people or nobody can go on."""
        for _ in range(4):
            asyncio.run(runs.advance(self.deps, "run_1"))
            for batch in {call.batch for call in self.calls if call.batch}:
                asyncio.run(batches.execute(self.deps, batch))

    @property
    def calls(self) -> list[Call]:
        run = self.store.runs.load("run_1")
        assert run is not None
        return self.store.calls.of_pause("run_1", run.pause)

    def approve(self, user: str) -> None:
        (call,) = self.calls
        assert call.batch is not None
        assert self.store.batches.record_posted(call.batch, channel=CHANNEL, ts="1.1").ok
        person = self.store.people.put(Person(user=user, name=user, team=TEAM))
        decision = Decision(call=call.key, version=call.version, verdict="approve", reviewer=user, name=user)
        assert self.store.calls.approve(call.key, version=call.version, decision=decision, person=person).ok


def voucher(minor: int, customer: str = "C-17", currency: str = "EUR") -> Any:
    arguments = {"customer": customer, "amount": {"minor": minor, "currency": currency}}
    return function_call("send_voucher", arguments, call_id="c1")


def looking() -> Any:
    return function_call("find_customer", {"customer": "C-17"}, call_id="c0")


def sent() -> dict[str, dict[str, str]]:
    tools: ModuleType = importlib.import_module("acme.tools")
    found: dict[str, dict[str, str]] = tools.SENT
    return found


def test_a_voucher_waits_for_its_reviewer_and_is_sent_once(prepared: Prepared, redis_client: redis.Redis) -> None:
    story = Story(prepared, redis_client, [looking()], [voucher(2500)], [assistant_message("Sent.")])
    (call,) = story.calls
    assert (call.state, call.needed, sent()) == (State.PENDING_REVIEW, 1, {})
    assert call.content.preview.headline == "Send C-17 a voucher of 25.00 EUR"
    assert call.content.requirement.reasons == ("This run gives away 25.00 EUR.",)
    story.approve(BRUNO)
    story.go_on()
    story.go_on()
    assert sent() == {call.idempotency_key: {"to": "ida@example.com", "amount": "25.00 EUR"}}
    run = story.store.runs.load("run_1")
    assert run is not None
    assert (run.state, run.answer) == (RunState.COMPLETED, "Sent.")


def test_a_large_one_takes_two_people(prepared: Prepared, redis_client: redis.Redis) -> None:
    story = Story(prepared, redis_client, [voucher(10_001)], [assistant_message("Sent.")])
    story.approve(BRUNO)
    story.go_on()
    assert sent() == {}
    story.approve(OLGA)
    story.go_on()
    assert len(sent()) == 1


def test_a_small_one_asks_nobody(prepared: Prepared, redis_client: redis.Redis) -> None:
    story = Story(prepared, redis_client, [voucher(1000)], [assistant_message("Sent.")])
    assert story.calls[0].content.requirement.mode is Mode.AUTO
    assert [given["amount"] for given in sent().values()] == ["10.00 EUR"]


@pytest.mark.parametrize(
    ("call", "why"),
    [
        (voucher(500, "C-18"), "This customer had three vouchers this year."),
        (voucher(500, "C-99"), "There is no customer C-99."),
        (voucher(500, currency="USD"), "Vouchers are in EUR."),
    ],
)
def test_what_the_rule_or_the_check_refuses_asks_nobody(
    prepared: Prepared, redis_client: redis.Redis, call: Any, why: str
) -> None:
    story = Story(prepared, redis_client, [call], [assistant_message("Not sent.")])
    assert (story.calls[0].state, story.calls[0].reason, sent()) == (State.REJECTED, why, {})


def test_the_page_leaves_the_check_nothing_to_say(prepared: Prepared) -> None:
    check = importlib.import_module("worker.check")
    seen = check.inspected(prepared)
    assert list(check.findings(seen)) == []
    assert list(check.notes(seen)) == []
