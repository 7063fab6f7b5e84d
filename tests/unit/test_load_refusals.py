import itertools
import re
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from agents import (
    Agent,
    ApplyPatchTool,
    CodeInterpreterTool,
    Computer,
    ComputerTool,
    CustomTool,
    Handoff,
    HostedMCPTool,
    LocalShellTool,
    Model,
    ModelSettings,
    RunConfig,
    ShellTool,
    ToolGuardrailFunctionOutput,
    WebSearchTool,
    function_tool,
    handoff,
    tool_input_guardrail,
)
from agents.testing import ScriptedModel
from pydantic import BaseModel, SecretStr

from policies.arguments import Arguments
from policies.requirement import Requirement
from policies.risk import Risk
from policies.rule import Rule, rule
from worker.actions import ActionContext, action, lookup
from worker.door import Gated
from worker.load import Loaded, build, factories, made
from worker.refusals import _TOOL_PAGES, AgentRefused
from worker.watch import Watch

SECTIONS = set(
    re.findall(r"^## ([a-z-]+)$", (Path(__file__).parents[2] / "docs/function-tools.md").read_text(), re.MULTILINE)
)


class Ship(Arguments):
    """Send."""

    item: str


class Other(Arguments):
    """Another."""

    item: str


@function_tool
def wipe(shelf: str) -> str:
    """Wipe."""
    return shelf


def a_rule(tool: str, arguments: type[Arguments] = Ship, risk: Risk = Risk.IRREVERSIBLE) -> dict[str, Rule]:
    def judge(ask: Any, so_far: Any) -> Requirement:
        return Requirement(radius="x")

    judge.__name__ = tool
    return {tool: rule(arguments, risk=risk)(judge)}


def an_action() -> Any:
    @action(Ship)
    async def ship(ctx: ActionContext, args: Ship) -> None:
        """Send."""

    return ship


def a_lookup() -> Any:
    @lookup(Ship)
    async def find(args: Ship) -> str:
        """Find."""
        return args.item

    return find


def load(root: Any, rules: dict[str, Rule] | None = None) -> Loaded:
    model = ScriptedModel()
    letters = itertools.cycle("abc")
    watch = Watch(choose=lambda characters: next(letters), turns=0, limit=12)  # noqa: ARG005
    return build(made(lambda given: root, model), model, rules=rules or {}, watch=watch)  # noqa: ARG005


def refused(root: Any, rules: dict[str, Rule] | None = None) -> str:
    with pytest.raises(AgentRefused) as caught:
        load(root, rules)
    return str(caught.value)


@pytest.fixture
def module() -> Any:
    made_up = ModuleType("made_up_agent")
    made_up.build = lambda model: Agent(name="desk", model=model)  # type: ignore[attr-defined]
    made_up.text = "x"  # type: ignore[attr-defined]
    sys.modules["made_up_agent"] = made_up
    yield made_up
    del sys.modules["made_up_agent"]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("no_such_package:build", "no_such_package, which cannot be imported"),
        ("made_up_agent", "write package.module:factory"),
        ("made_up_agent:nothing", "has no nothing"),
        ("made_up_agent:text", "cannot be called"),
        ("a=made_up_agent:build,a=made_up_agent:build", "names the agent a twice"),
        ("made_up_agent:build,made_up_agent:build", "names the agent default twice"),
    ],
)
def test_a_wrong_vobo_agent_is_one_sentence(module: Any, text: str, sentence: str) -> None:
    with pytest.raises(AgentRefused, match="VOBO_AGENT") as caught:
        factories(text)
    assert sentence in str(caught.value)


def test_several_agents_have_names(module: Any) -> None:
    assert set(factories("a=made_up_agent:build, b=made_up_agent:build")) == {"a", "b"}
    assert set(factories("made_up_agent:build")) == {"default"}


def on_approval(request: Any) -> Any:
    return {"approve": True}


def hosted(**changes: Any) -> HostedMCPTool:
    config: Any = {"type": "mcp", "server_label": "x", "server_url": "https://mcp.example", "require_approval": "never"}
    return HostedMCPTool(tool_config=config, **changes)


async def moved(context: Any) -> None:
    """An effect in a handoff."""


class Reason(BaseModel):
    why: str


async def moved_with(context: Any, reason: Reason) -> None:
    """An effect in a handoff."""


def agent(**changes: Any) -> Agent[Any]:
    return Agent(**{"name": "desk", **changes})


async def own_handoff(context: Any, raw: str) -> Any:
    return agent(name="b")


@tool_input_guardrail
def guard(data: Any) -> ToolGuardrailFunctionOutput:
    return ToolGuardrailFunctionOutput.allow()


def guarded() -> Any:
    @function_tool(tool_input_guardrails=[guard])
    def wipe(shelf: str) -> str:
        """Wipe."""
        return shelf

    return wipe


class Editor:
    """An editor of files; never asked."""


class Screen(Computer):
    """A screen; never asked."""

    environment = "browser"
    dimensions = (1, 1)

    def _never(self, *given: Any, **named: Any) -> Any:
        raise NotImplementedError

    screenshot = click = double_click = scroll = type = wait = move = keypress = drag = _never


class Login(BaseModel):
    token: SecretStr


def secretive(*, nested: bool = False) -> Any:
    if nested:

        @function_tool
        def sign_in(logins: list[Login]) -> str:
            """Sign in."""
            return "x"

        return sign_in

    @function_tool
    def log_in(user: str, password: SecretStr) -> str:
        """Log in."""
        return user

    return log_in


class Special(Agent[Any]):
    pass


@pytest.mark.parametrize(
    ("root", "sentence"),
    [
        ("an agent", "returned a str"),
        (agent(tools=[WebSearchTool()]), "WebSearchTool"),
        (
            agent(tools=[CodeInterpreterTool(tool_config={"type": "code_interpreter", "container": "x"})]),
            "provider executes",
        ),
        (agent(tools=[hosted()]), "the model provider executes"),
        (agent(tools=[hosted(on_approval_request=on_approval)]), "on_approval_request"),
        (agent(tools=[ShellTool(executor=lambda request: "")]), "ShellTool"),  # noqa: ARG005
        (agent(tools=[ShellTool(executor=lambda request: "", on_approval=on_approval)]), "ShellTool"),  # noqa: ARG005
        (agent(tools=[LocalShellTool(executor=lambda request: "")]), "LocalShellTool"),  # noqa: ARG005
        (agent(tools=[ApplyPatchTool(editor=Editor(), on_approval=on_approval)]), "ApplyPatchTool"),
        (agent(tools=[CustomTool("raw", "Raw.", own_handoff)]), "CustomTool"),
        (agent(tools=[ComputerTool(computer=Screen())]), "ComputerTool"),
        (agent(tools=[secretive()]), "takes a secret as an argument (password)"),
        (agent(tools=[secretive(nested=True)]), "takes a secret as an argument (token)"),
        (agent(prompt={"id": "pmpt_1"}), "a prompt that the provider keeps"),
        (agent(model_settings=ModelSettings(extra_body={"conversation": "conv_1"})), "sends conversation along"),
        (agent(model_settings=ModelSettings(extra_args={"previous_response_id": "r"})), "sends previous_response_id"),
        (agent(model_settings=ModelSettings(extra_args={"tools": [{"type": "web_search"}]})), "sends tools along"),
        (agent(tools=[guarded()]), "SDK guardrails on wipe"),
        (agent(tools=[wipe, wipe]), "two tools called wipe"),
        (agent(tool_use_behavior="stop_on_first_tool"), "tool_use_behavior"),
        (agent(tool_use_behavior={"stop_at_tool_names": ["wipe"]}), "tool_use_behavior"),
        (agent(model="gpt-5"), "names its model itself"),
        (Special(name="desk"), "is a Special"),
        (agent(handoffs=[agent()]), 'Two agents are called "desk"'),
        (agent(handoffs=[handoff(agent(name="b"), on_handoff=moved)]), "runs an on_handoff function"),
        (agent(handoffs=[handoff(agent(name="b"), on_handoff=moved_with, input_type=Reason)]), "input_type"),
        (
            agent(handoffs=[Handoff("t", "d", {}, own_handoff, "b")]),
            "through code of its own",
        ),
        (agent(tools=[agent(name="b", tools=[WebSearchTool()]).as_tool("x", "y")]), 'The agent "b"'),
        (agent(handoffs=[agent(name="b", tools=[WebSearchTool()])]), 'The agent "b"'),
        (agent(tools=[agent(name="b").as_tool("x", "y", run_config=RunConfig())]), "gives run_config"),
        (agent(tools=[agent(name="b").as_tool("x", "y", conversation_id="c")]), "gives conversation_id"),
        (agent(tools=[agent(name="b").as_tool("x", "y", previous_response_id="r")]), "gives previous_response_id"),
    ],
)
def test_what_could_act_outside_the_gate_is_refused_with_its_name(root: Any, sentence: str) -> None:
    told = refused(root)
    assert sentence in told
    if isinstance(root, Agent):
        place = re.search(r" See docs/function-tools\.md#([a-z-]+)\.$", told)
        assert place is not None, "no refusal leaves its reader without the way out"
        assert place[1] in SECTIONS


def test_every_section_of_the_page_is_where_a_refusal_leads() -> None:
    worker = Path(__file__).parents[2] / "worker"
    code = "\n".join((worker / name).read_text() for name in ("refusals.py", "load.py", "agent_tools.py"))
    named = set(re.findall(r'see="([a-z-]+)"', code)) | set(_TOOL_PAGES.values())
    assert named == SECTIONS


def test_a_rule_for_other_arguments_is_refused() -> None:
    assert f"takes {Ship.__module__}.Ship, but its rule" in refused(agent(tools=[an_action()]), a_rule("ship", Other))


def test_an_action_cannot_be_declared_read_only() -> None:
    assert "says read_only" in refused(agent(tools=[an_action()]), a_rule("ship", risk=Risk.READ_ONLY))


def test_every_tool_is_gated_unless_its_rule_says_that_it_only_reads() -> None:
    loaded = load(agent(tools=[an_action(), wipe, a_lookup()]), a_rule("find", risk=Risk.READ_ONLY))
    kinds = {tool.name: isinstance(tool, Gated) for tool in loaded.root.tools}
    assert kinds == {"ship": True, "wipe": True, "find": False}
    assert {tool for _, tool in loaded.doors} == {"ship", "wipe"}
    loaded = load(agent(tools=[a_lookup()]))
    assert isinstance(loaded.root.tools[0], Gated)


def test_an_agent_used_as_a_tool_is_not_gated_but_its_tools_are_and_nothing_is_swallowed() -> None:
    inner = agent(name="b", tools=[wipe])
    loaded = load(agent(tools=[inner.as_tool("ask_b", "Ask b.", needs_approval=True)]))
    (tool,) = loaded.root.tools
    assert (tool.needs_approval, tool._use_default_failure_error_function) == (False, False)
    assert tool._failure_error_function is None
    assert isinstance(inner.tools[0], Gated)
    assert set(loaded.doors) == {("b", "wipe")}


def test_an_agent_that_only_hands_off_is_taken() -> None:
    root = agent(handoffs=[agent(name="b"), handoff(agent(name="c"))])
    assert {each for each, _ in load(root).doors} == set()


def test_agents_that_reach_each_other_are_each_loaded_once() -> None:
    first, second = agent(name="a", tools=[wipe]), agent(name="b", tools=[wipe])
    first.handoffs.append(second)
    second.handoffs.append(first)
    assert set(load(first).doors) == {("a", "wipe"), ("b", "wipe")}


def test_the_protocol_follows_the_instructions_whatever_their_form() -> None:
    import asyncio  # noqa: PLC0415

    async def own(context: Any, asked: Any) -> str:
        return "Own words."

    for given in ("Own words.", own, lambda context, asked: "Own words."):  # noqa: ARG005
        loaded = load(agent(instructions=given))
        text = asyncio.run(loaded.root.get_system_prompt(None))  # type: ignore[arg-type]
        assert text is not None
        assert text.startswith("Own words.\n\n")
        assert "envelope/1" in text


def test_a_changed_schema_changes_what_calls_of_the_tool_mean_and_wording_does_not_change_the_agent() -> None:
    one, two = load(agent(tools=[wipe])), load(agent(tools=[wipe], instructions="Better."))
    assert one.version == two.version

    def another() -> Any:
        @function_tool
        def wipe(shelf: str, force: bool) -> str:  # noqa: FBT001
            """Wipe."""
            return shelf

        return wipe

    three = load(agent(tools=[another()]))
    assert three.doors["desk", "wipe"].schema != one.doors["desk", "wipe"].schema


def test_an_action_must_be_async_and_described() -> None:
    with pytest.raises(TypeError, match="must be an async function"):
        action(Ship)(lambda ctx, args: None)  # type: ignore[arg-type, return-value]  # noqa: ARG005
    with pytest.raises(TypeError, match="has no docstring"):

        @action(Ship)
        async def ship(ctx: ActionContext, args: Ship) -> None:
            pass


def test_a_model_that_the_factory_chose_is_watched_as_well() -> None:
    own: Model = ScriptedModel()
    loaded = load(agent(model=own))
    assert type(loaded.root.model).__name__ == "WatchedModel"


@pytest.mark.parametrize("remembers_s", [0, -1, float("nan")])
def test_a_provider_remembers_for_some_time_or_for_ever(remembers_s: float) -> None:
    async def ship(ctx: ActionContext, args: Ship) -> None:
        """Send."""

    with pytest.raises(ValueError, match="give it seconds, or None for ever"):
        action(Ship, remembers_s=remembers_s)(ship)
    assert action(Ship, remembers_s=None)(ship).remembers_s is None
    assert action(Ship)(ship).remembers_s == 24 * 3600


@pytest.mark.parametrize("timeout_s", [0, -1, 481])
def test_an_action_may_not_take_longer_than_a_job(timeout_s: float) -> None:
    async def ship(ctx: ActionContext, args: Ship) -> None:
        """Send."""

    with pytest.raises(ValueError, match="1 to 480 seconds"):
        action(Ship, timeout_s=timeout_s)(ship)
