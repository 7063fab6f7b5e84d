"""What a worker's process does before it has a job: everything a job does, and nothing that could be noticed."""

import contextlib
import sys
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import redis
from agents import Agent, Model
from agents.mcp import MCPServerStdio
from structlog.testing import capture_logs

from builders import STATE_KEY
from worker.assembly import Prepared
from worker.load import factories
from worker.rehearsal import rehearse
from worker.settings import WorkerSettings
from workshop import Workshop

HOOKED = "hooked_agents"


class Watched(dict[str, str]):
    """Notes what is looked for in it."""

    def __init__(self, asked: list[str]) -> None:
        super().__init__(cup="ann")
        self._asked = asked

    def __contains__(self, name: object) -> bool:
        self._asked.append(str(name))
        return super().__contains__(name)


@pytest.fixture
def agents(workshop: Workshop) -> Iterator[ModuleType]:
    """A team's module with a factory."""
    module = ModuleType(HOOKED)

    def build_agent(model: Model) -> Agent[None]:
        vars(module).setdefault("built", []).append(True)
        return workshop.build(model)  # type: ignore[no-any-return]

    build_agent.__module__ = HOOKED
    vars(module)["build_agent"] = build_agent
    sys.modules[HOOKED] = module
    yield module
    del sys.modules[HOOKED]


@pytest.fixture
def prepared(agents: ModuleType, workshop: Workshop, valkey_url: str, monkeypatch: pytest.MonkeyPatch) -> Prepared:
    monkeypatch.chdir(Path(__file__).parent)  # no .env there
    monkeypatch.setenv("REDIS_URL", valkey_url)
    monkeypatch.setenv("VOBO_STATE_KEYS", STATE_KEY)

    @contextlib.asynccontextmanager
    async def model() -> AsyncIterator[Model]:
        yield workshop.script

    return Prepared(WorkerSettings.read(), workshop.law, factories(f"{agents.__name__}:build_agent"), model)


def failures(found: Prepared) -> list[Any]:
    with capture_logs() as logs:
        rehearse(found)
    return [line["part"] for line in logs]


def test_a_rehearsal_builds_the_agents_and_changes_nothing(
    prepared: Prepared, agents: ModuleType, workshop: Workshop, redis_client: redis.Redis
) -> None:
    def everything() -> dict[bytes, Any]:
        return {key: redis_client.dump(key) for key in redis_client.scan_iter()}

    asked: list[str] = []
    workshop.shop.owners = Watched(asked)
    before = everything()

    assert failures(prepared) == []

    assert vars(agents)["built"]
    assert everything() == before
    assert asked == [], "no check of the team's looked anything up"
    assert workshop.shop.done == []


def test_the_function_beside_the_factory_is_called_too(prepared: Prepared, agents: ModuleType) -> None:
    called = []
    vars(agents)["rehearse"] = lambda: called.append("plain")
    assert failures(prepared) == []

    async def waits() -> None:
        called.append("awaited")

    vars(agents)["rehearse"] = waits
    assert failures(prepared) == []

    assert called == ["plain", "awaited"]


def test_what_fails_is_said_and_leaves_the_process_fit_for_its_job(prepared: Prepared, agents: ModuleType) -> None:
    def closed() -> None:
        raise OSError("the shop is closed")

    vars(agents)["rehearse"] = closed
    assert failures(prepared) == ["_use_the_agents"]


def test_a_store_that_is_down_does_not_keep_the_agents_from_rehearsing(prepared: Prepared, agents: ModuleType) -> None:
    gone = prepared.settings.model_copy(update={"redis_url": "redis://127.0.0.1:1/0"})
    found = Prepared(gone, prepared.law, prepared.factories, prepared.model)

    assert failures(found) == ["_ask_the_store"]
    assert vars(agents)["built"]


def test_no_mcp_server_is_started_for_a_rehearsal(prepared: Prepared, workshop: Workshop, tmp_path: Path) -> None:
    began = tmp_path / "began"
    server = MCPServerStdio(params={"command": sys.executable, "args": ["-c", f"open({str(began)!r}, 'w')"]})
    workshop.build = lambda model: Agent(name="desk", model=model, tools=workshop.shop.tools(), mcp_servers=[server])

    assert failures(prepared) == []
    assert not began.exists()
