"""Tools of a real MCP server, started as a process of its own, behind the gate like any other."""

import json
import sys
import textwrap
from pathlib import Path
from typing import Annotated, Any

import pytest
import redis
from agents import Agent
from agents.mcp import MCPServerStdio
from agents.testing import ScriptedModel

from approvals.lifecycle import Cause, RunState, State
from builders import a_store
from policies.arguments import Arguments
from policies.edits import AtMostProposed
from policies.requirement import Requirement
from policies.risk import Risk
from policies.rule import Ask, Spend, rule
from workshop import LEA, Workshop, a_law, function_call, saying

SERVER = """
import json
import sys
from pathlib import Path

from mcp.server.mcpserver import MCPServer

server, notes = MCPServer("depot"), Path(sys.argv[1])


def note(*what):
    with notes.open("a") as file:
        file.write(json.dumps(what) + "\\n")


@server.tool()
def burn(shelf: str, count: int) -> str:
    "Burn boxes of a shelf."
    note("burn", shelf, count)
    return f"burnt {count} of {shelf}"


@server.tool()
def look(shelf: str) -> str:
    "Look into a shelf."
    note("look", shelf)
    return f"{shelf} holds 9 boxes"


@server.tool()
def break_down(shelf: str) -> str:
    "Break a shelf."
    note("break_down", shelf)
    raise RuntimeError("the shelf fell")


server.run("stdio")
"""


class Burn(Arguments):
    """Burn boxes of a shelf."""

    shelf: str
    count: Annotated[int, AtMostProposed()]


class Look(Arguments):
    """Look into a shelf."""

    shelf: str


@rule(Burn, risk=Risk.IRREVERSIBLE)
def burn(ask: Ask[Burn, Any], so_far: Spend) -> Requirement:
    return Requirement(radius="the depot", resources=(ask.args.shelf,)).needs("desk")


@rule(Look, risk=Risk.READ_ONLY)
def look(ask: Ask[Look, Any], so_far: Spend) -> Requirement:
    return Requirement(radius="nothing")


class Depot(Workshop):
    """A workshop whose only tools live in another process."""

    def __init__(self, client: redis.Redis, home: Path) -> None:
        super().__init__(a_store(client), client)
        self.notes, script = home / "notes", home / "depot.py"
        self.notes.touch()
        script.write_text(textwrap.dedent(SERVER))
        self.law = a_law([burn, look])

        def build(model: Any) -> Agent[Any]:
            params: Any = {"command": sys.executable, "args": [str(script), str(self.notes)]}
            server = MCPServerStdio(params=params, client_session_timeout_seconds=30)
            return Agent(name="desk", model=model, mcp_servers=[server])

        self.build = build

    @property
    def noted(self) -> list[Any]:
        return [json.loads(line) for line in self.notes.read_text().splitlines()]

    def ask(self, tool: str, arguments: Any) -> None:
        self.script = ScriptedModel([[function_call(tool, arguments, call_id="c1")], [saying("Done.")]])
        self.start()


@pytest.fixture
def depot(redis_client: redis.Redis, tmp_path: Path) -> Depot:
    return Depot(redis_client, tmp_path)


def test_a_tool_of_a_server_over_stdio_waits_for_a_person_and_runs_once(depot: Depot) -> None:
    depot.ask("burn", {"shelf": "top", "count": 2})
    (call,) = depot.calls()
    assert (call.state, call.content.requirement.radius, depot.noted) == (State.PENDING_REVIEW, "the depot", [])
    assert depot.decide(call, by=LEA).ok
    depot.execute()
    depot.execute()
    assert depot.noted == [["burn", "top", 2]]
    depot.advance()
    (told,) = depot.told()
    assert (told["status"], depot.run().state) == ("executed", RunState.COMPLETED)
    assert "burnt 2 of top" in json.dumps(told["result"])


def test_a_rejected_tool_of_a_server_is_never_called(depot: Depot) -> None:
    depot.ask("burn", {"shelf": "top", "count": 2})
    assert depot.decide(depot.calls()[0], "reject", by=LEA).ok
    depot.execute()
    depot.advance()
    assert (depot.noted, depot.told()[0]["status"]) == ([], "rejected")


def test_a_tool_of_a_server_that_only_reads_runs_unasked(depot: Depot) -> None:
    depot.ask("look", {"shelf": "top"})
    assert depot.noted == [["look", "top"]]
    assert (depot.run().state, depot.run().answer) == (RunState.COMPLETED, "Done.")


@pytest.mark.parametrize(
    ("tool", "arguments", "named"),
    [
        ("burn", {"shelf": "top", "count": "2"}, "/count"),
        ("burn", {"shelf": "top"}, "/count is missing"),
        ("burn", {"shelf": "top", "count": 2, "all": True}, "/all"),
        ("break_down", {"shelf": 7}, "/shelf"),
        ("break_down", {}, "shelf"),
    ],
)
def test_arguments_that_do_not_fit_a_servers_tool_are_refused_by_name(
    depot: Depot, tool: str, arguments: Any, named: str
) -> None:
    depot.ask(tool, arguments)
    (call,) = depot.calls()
    assert (call.state, call.cause, depot.noted) == (State.REJECTED, Cause.POLICY, [])
    assert named in (call.reason or "")


def test_a_servers_tool_without_a_rule_asks_the_strictest_tier_and_an_error_leaves_it_unknown(depot: Depot) -> None:
    depot.ask("break_down", {"shelf": "top"})
    (call,) = depot.calls()
    assert (call.state, call.content.requirement.tier) == (State.PENDING_REVIEW, "strictest")
    assert depot.decide(call, by=LEA).ok
    depot.execute()
    assert (depot.calls()[0].state, depot.noted) == (State.UNKNOWN, [["break_down", "top"]])
    depot.execute()
    assert len(depot.noted) == 1
