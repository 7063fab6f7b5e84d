"""The clock, the checks at start-up, jobs by name, and local MCP servers."""

import asyncio
import os
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import redis
from agents import Agent, Model
from agents.mcp import MCPServer, MCPServerStdio
from agents.testing import ScriptedModel
from mcp.types import CallToolResult, TextContent
from mcp.types import Tool as MCPTool

from approvals.lifecycle import RunState, State
from approvals.queue import JobTimeout, WakeupQueue, queue_name
from approvals.settings import SettingsRefused
from approvals.vault import Vault
from builders import STATE_KEY, TENANT, a_store
from policies.law import LawRefused
from stack import until
from worker import assembly, jobs
from worker.check import check, findings, inspected, notes
from worker.clock import Clock
from worker.heartbeat import Heartbeat
from worker.settings import WorkerSettings
from workshop import LEA, REVIEWERS, Workshop, function_call, saying, shipping


def a_clock(workshop: Workshop, **changes: Any) -> tuple[Clock, WakeupQueue]:
    queue = WakeupQueue(workshop.client, Vault.from_text(STATE_KEY), queue_name(TENANT))
    return Clock(workshop.store, queue, **changes), queue


def test_the_clock_hints_at_every_run_that_waits_for_a_worker(workshop: Workshop) -> None:
    assert workshop.store.runs.start("run_1", request="x", requester="U1", channel="C", thread_ts="1", agent="").ok
    clock, queue = a_clock(workshop)
    clock.tick()
    clock.tick()
    assert queue.waiting() == 1


def test_the_clock_expires_what_nobody_decided(workshop: Workshop) -> None:
    workshop.script.extend([[shipping(("cup", 3))]])
    workshop.start()
    (batch,) = workshop.post_cards()
    workshop.client.zadd(workshop.store.keys.deadlines, {f"decide:{batch}": 0})
    workshop.client.hset(workshop.store.keys.batch(batch), "decide_by", 1)
    a_clock(workshop)[0].tick()
    assert workshop.calls()[0].state is State.EXPIRED


def test_a_ledger_that_is_away_does_not_stop_the_clock(workshop: Workshop) -> None:
    drained = threading.Event()

    def away() -> int:
        drained.set()
        raise ConnectionError("the database is away")

    assert workshop.store.runs.start("run_1", request="x", requester="U1", channel="C", thread_ts="1", agent="").ok
    clock, queue = a_clock(workshop, drains=(away,))
    ticking = threading.Thread(target=clock.run)
    ticking.start()
    assert drained.wait(10)
    until(lambda: queue.waiting() == 1, "the run is woken", 10)
    clock.stop.set()
    ticking.join(5)
    assert not ticking.is_alive()


def test_draining_goes_on_while_there_is_something_to_move(workshop: Workshop) -> None:
    left = [500, 500, 3, 0]
    clock, _ = a_clock(workshop, drains=(lambda: left.pop(0),))
    clock.drain()
    assert left == []


def test_a_heartbeat_notices_that_its_lease_is_gone() -> None:
    beats = iter([True, False])
    with Heartbeat(lambda: next(beats), every_s=0.01) as beat:
        assert beat.lost.wait(5)


def test_a_heartbeat_outlives_a_moment_without_redis() -> None:
    held = threading.Event()
    answers = iter([ConnectionError("away"), True])

    def renew() -> bool:
        answer = next(answers, True)
        if isinstance(answer, Exception):
            raise answer
        held.set()
        return True

    with Heartbeat(renew, every_s=0.01) as beat:
        assert held.wait(5)
        assert not beat.lost.is_set()


@pytest.fixture
def environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, valkey_url: str) -> Path:
    """Settings that work, for a workspace of its own."""
    (tmp_path / "reviewers.toml").write_text(REVIEWERS)
    (tmp_path / "made_up_desk.py").write_text(
        "from agents import Agent, function_tool\n"
        "@function_tool\n"
        "def wipe(shelf: str) -> str:\n"
        "    '''Wipe.'''\n"
        "    return shelf\n"
        "def build(model):\n"
        "    return Agent(name='desk', model=model, tools=[wipe])\n"
        "def planner():\n"
        "    from agents.testing import ScriptedModel, assistant_message\n"
        "    return ScriptedModel([[assistant_message('Hello.')]])\n"
        "text = 'no agent'\n"
    )
    (tmp_path / "made_up_rules.py").write_text(
        "from policies.arguments import Arguments\n"
        "from policies.requirement import Requirement\n"
        "from policies.risk import Risk\n"
        "from policies.rule import rule\n"
        "class Burn(Arguments):\n"
        "    'Burn.'\n"
        "    shelf: str\n"
        "@rule(Burn, risk=Risk.IRREVERSIBLE)\n"
        "def burn(ask, so_far):\n"
        "    return Requirement(radius='shelves').needs('leads')\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    for name, value in {
        "REDIS_URL": valkey_url,
        "VOBO_STATE_KEYS": STATE_KEY,
        "VOBO_AGENT": "made_up_desk:build",
        "VOBO_RULES": "made_up_rules",
        "VOBO_OFFLINE": "made_up_desk:planner",
        "VOBO_REVIEWERS": str(tmp_path / "reviewers.toml"),
        "VOBO_LEDGER_URL": f"sqlite:///{tmp_path / 'ledger.db'}",
        "VOBO_SHOP_URL": f"sqlite:///{tmp_path / 'shop.db'}",
    }.items():
        monkeypatch.setenv(name, value)
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "VOBO_MODEL"):
        monkeypatch.delenv(name, raising=False)
    assembly.prepared.cache_clear()
    return tmp_path


def test_a_job_is_its_name_an_argument_and_a_workspace(redis_client: redis.Redis, environment: Path) -> None:
    store = a_store(redis_client)
    assert store.runs.start("run_1", request="hi", requester="U1", channel="C", thread_ts="1", agent="").ok
    jobs.start_run("run_1", TENANT)
    run = store.runs.load("run_1")
    assert run is not None
    assert (run.state, run.answer) == (RunState.COMPLETED, "Hello.")


def test_a_job_of_another_workspace_is_not_run(redis_client: redis.Redis, environment: Path) -> None:
    with pytest.raises(assembly.WrongTenantError, match="T0OTHER"):
        jobs.start_run("run_1", "T0OTHER")


def test_a_working_environment_has_no_findings_and_says_what_may_surprise(
    redis_client: redis.Redis, environment: Path
) -> None:
    found = assembly.prepare(WorkerSettings.read())
    assert list(findings(inspected(found))) == []
    told = "\n".join(notes(inspected(found)))
    assert f"No model is configured, so {os.environ['VOBO_OFFLINE']} of VOBO_OFFLINE stands in for one." in told
    assert 'wipe of "desk" is a tool without a rule' in told


def test_an_agent_of_your_own_without_a_model_is_a_finding(
    redis_client: redis.Redis, environment: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own, sample = os.environ["VOBO_AGENT"], "worker.refund_desk:build_agent"
    monkeypatch.delenv("VOBO_OFFLINE")
    for agents, sentences in ((own, 1), (f"desk={sample}, mine={own}", 1), (sample, 0)):
        monkeypatch.setenv("VOBO_AGENT", agents)
        told = [
            one
            for one in findings(inspected(assembly.prepare(WorkerSettings.read())))
            if "can drive the sample alone" in one
        ]
        assert len(told) == sentences, agents
        assembly.prepared.cache_clear()
        stands_in = [str(one) for one in check() if "stands in" in str(one)]
        assert len(stands_in) == 1 - sentences, "one or the other, never both"
    monkeypatch.setenv("VOBO_AGENT", own)
    monkeypatch.setenv("VOBO_MODEL", "gpt-5")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-any")
    assert list(findings(inspected(assembly.prepare(WorkerSettings.read())))) == []


def test_rules_for_which_no_agent_has_a_tool_are_named_with_the_agent_that_was_loaded(
    redis_client: redis.Redis, environment: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VOBO_AGENT", "worker.refund_desk:build_agent")
    found = assembly.prepare(WorkerSettings.read())
    told = "\n".join(notes(inspected(found)))
    assert "No agent has a tool for the rules of burn. VOBO_AGENT is worker.refund_desk:build_agent" in told

    server = MCPServerStdio(params={"command": "true"})
    serving = {"default": lambda model: Agent(name="depot", model=model, mcp_servers=[server])}
    told = "\n".join(notes(inspected(replace(found, factories=serving))))
    assert "No agent has a tool" not in told, "what the server offers is only known in a job"


@pytest.mark.parametrize(
    ("name", "value", "error", "sentence"),
    [
        ("VOBO_AGENT", "made_up_desk:text", Exception, "cannot be called"),
        ("VOBO_RULES", "no_such_rules", LawRefused, "no_such_rules cannot be imported"),
        ("VOBO_REVIEWERS", "/nowhere/reviewers.toml", SettingsRefused, "cannot be read"),
        ("VOBO_OFFLINE", "made_up_desk:nobody", Exception, "VOBO_OFFLINE"),
        ("VOBO_MODEL", "gpt-5", SettingsRefused, "OPENAI_API_KEY is not set"),
        ("VOBO_STATE_KEYS", "", SettingsRefused, "VOBO_STATE_KEYS is not set"),
    ],
)
def test_a_wrong_setting_is_one_sentence(  # noqa: PLR0917
    environment: Path, monkeypatch: pytest.MonkeyPatch, name: str, value: str, error: type[Exception], sentence: str
) -> None:
    monkeypatch.setenv(name, value)
    with pytest.raises(error) as caught:
        assembly.prepare(WorkerSettings.read())
    assert sentence in str(caught.value)


class Depot(MCPServer):
    """A local MCP server with one tool, and a record of what was done."""

    def __init__(self) -> None:
        super().__init__(require_approval="never")
        self.done: list[Any] = []
        self.open = False
        self.listed = 0

    @property
    def name(self) -> str:
        return "depot"

    async def connect(self) -> None:
        self.open = True

    async def cleanup(self) -> None:
        self.open = False

    async def list_tools(self, run_context: Any = None, agent: Any = None) -> list[MCPTool]:  # noqa: ARG002
        self.listed += 1
        schema = {"type": "object", "properties": {"shelf": {"type": "string"}}, "required": ["shelf"]}
        return [MCPTool(name="burn", description="Burn a shelf.", inputSchema=schema)]

    async def call_tool(self, tool_name: str, arguments: Any, meta: Any = None) -> CallToolResult:  # noqa: ARG002
        assert self.open
        self.done.append((tool_name, arguments))
        return CallToolResult(content=[TextContent(type="text", text="burnt")])

    async def list_prompts(self) -> Any:
        raise NotImplementedError

    async def get_prompt(self, name: str, arguments: Any = None) -> Any:
        raise NotImplementedError


def test_a_local_mcp_tool_waits_like_any_other_and_runs_once(workshop: Workshop) -> None:
    depot = Depot()
    workshop.build = lambda model: Agent(name="desk", model=model, mcp_servers=[depot])
    workshop.script.extend([[function_call("burn", {"shelf": "top"}, call_id="c1")], [saying()]])
    workshop.start()
    (call,) = workshop.calls()
    assert (call.state, call.content.requirement.tier, depot.done) == (State.PENDING_REVIEW, "strictest", [])
    assert workshop.decide(call, by=LEA).ok
    workshop.execute()
    workshop.advance()
    assert depot.done == [("burn", {"shelf": "top"})]
    assert (workshop.told()[0]["status"], depot.open) == ("executed", False)
    assert depot.listed == 3, "the SDK listed the server's tools by itself, past the gate"


def test_the_end_of_a_jobs_time_during_an_effect_makes_it_unknown(workshop: Workshop) -> None:
    def time_is_over() -> None:
        raise JobTimeout("over")

    workshop.script.extend([[shipping(("cup", 3))]])
    workshop.shop.before_effect = time_is_over
    workshop.start()
    assert workshop.decide(workshop.calls()[0]).ok
    with pytest.raises(JobTimeout):
        workshop.execute()
    assert workshop.calls()[0].state is State.UNKNOWN


def test_a_job_that_is_cancelled_during_an_effect_makes_it_unknown(workshop: Workshop) -> None:
    def cancelled() -> Any:
        job = asyncio.current_task()
        assert job is not None
        asyncio.get_running_loop().call_soon(job.cancel)
        return asyncio.sleep(5)

    workshop.script.extend([[shipping(("cup", 3))]])
    workshop.shop.before_effect = cancelled
    workshop.start()
    assert workshop.decide(workshop.calls()[0]).ok
    with pytest.raises(asyncio.CancelledError):
        workshop.execute()
    (call,) = workshop.calls()
    assert (call.state, call.reason) == (State.UNKNOWN, "The worker was stopped while it ran.")


def test_two_workers_on_one_batch_have_one_effect(workshop: Workshop) -> None:
    begun, go_on = threading.Event(), threading.Event()

    async def wait() -> None:
        begun.set()
        await asyncio.to_thread(go_on.wait, 10)

    workshop.script.extend([[shipping(("cup", 3))]])
    workshop.shop.before_effect = wait
    workshop.start()
    assert workshop.decide(workshop.calls()[0]).ok
    first = threading.Thread(target=workshop.execute)
    first.start()
    assert begun.wait(10)
    workshop.execute()
    go_on.set()
    first.join(10)
    assert len(workshop.shop.done) == 1


def test_three_hundred_calls_of_one_turn_are_answered_in_seconds(workshop: Workshop) -> None:
    bad = [function_call("ship", {"lines": n}, call_id=f"c{n}") for n in range(302)]
    workshop.script = ScriptedModel([bad, [saying("I see.")]])
    workshop.start()
    assert len(workshop.calls()) == 300
    began = workshop.store.now()
    workshop.advance()
    assert workshop.run().answer == "I see."
    assert workshop.store.now() - began < 20_000
    assert isinstance(workshop.script, Model)
