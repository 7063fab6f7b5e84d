"""Tools of local MCP servers, listed as plain function tools so that they are gated like any other."""

import contextlib
import dataclasses
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

from agents import Agent, FunctionTool, RunContextWrapper
from agents.mcp import MCPUtil

from worker.load import reachable


class McpToolFailed(Exception):
    """A server says that its tool failed. That says nothing about whether the effect happened."""


@contextlib.asynccontextmanager
async def local_mcp(root: Agent[Any]) -> AsyncIterator[None]:
    """Connect the servers of every reachable agent for the length of one job and take their tools over.

    The servers leave the agents, so the SDK can neither list nor call past the gate. Must be entered and left in
    one task, as the protocol's client demands.
    """
    async with contextlib.AsyncExitStack() as stack:
        for agent, _ in list(reachable(root)):
            servers, agent.mcp_servers = list(agent.mcp_servers), []
            for server in servers:
                await server.connect()  # type: ignore[no-untyped-call]
                stack.push_async_callback(server.cleanup)
                vars(server)["call_tool"] = _raising(server.call_tool)
                stack.callback(vars(server).pop, "call_tool", None)
            if not servers:
                continue
            found = await MCPUtil.get_all_function_tools(
                servers,
                convert_schemas_to_strict=False,
                run_context=RunContextWrapper(None),
                agent=agent,
                failure_error_function=None,
                include_server_in_tool_names=bool(agent.mcp_config.get("include_server_in_tool_names", False)),
            )
            agent.tools = [*agent.tools, *(_plain(tool) for tool in found)]
        yield


def _raising(call_tool: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
    """The SDK hands a result that is marked as an error to the model like any other; the gate would call it done."""

    async def call(*given: Any, **named: Any) -> Any:
        result = await call_tool(*given, **named)
        # One name in version 1 of the protocol's package, the other in version 2.
        if getattr(result, "isError", None) or getattr(result, "is_error", None):
            raise McpToolFailed("The MCP server answered with an error.")
        return result

    return call


def _plain(tool: Any) -> Any:
    """Without its binding to a server position: a restored state must not need the same list of servers."""
    return dataclasses.replace(tool, _mcp_tool_binding=None) if isinstance(tool, FunctionTool) else tool
