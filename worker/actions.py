"""How a team declares its tools: `@action` for what changes the world, `@lookup` for what only reads."""

import inspect
import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar

from agents import FunctionTool
from agents.tool_context import ToolContext
from pydantic import BaseModel

from approvals.preview import Precondition, Preview
from approvals.queue import JobTimeout
from policies.arguments import Arguments, ArgumentsRefused, read_arguments, tool_schema
from policies.rule import Ask, Facts
from worker.envelope import not_through_here

__all__ = ["ActionContext", "Ask", "CannotTell", "NothingHappened", "Precondition", "Preview", "action", "lookup"]

A = TypeVar("A", bound=Arguments)
R = TypeVar("R")

DEFAULT_TIMEOUT_S = 60.0
#: What fits into one job beside everything else. Longer work is started by an action and finished elsewhere.
LONGEST_TIMEOUT_S = 480.0
#: As long as payment providers commonly keep idempotency keys; a table of one's own keeps them for ever (None).
REMEMBERS_S = 24 * 3600.0


class NothingHappened(Exception):
    """Raised by an action when its effect provably did not happen (the provider said no). The text is shown.

    Raised by a check, it refuses the call before anybody is asked, and the model reads the text.
    """


class CannotTell(Exception):
    """Raised by a `reconcile` that will never know (the provider keeps no record any more): only a person can tell.

    Any other exception means that the provider could not be asked just now; it is asked again.
    """


@dataclass(frozen=True, slots=True)
class ActionContext:
    """What an action may know about its call. Give `idempotency_key` to the provider; it never changes.

    `facts` is what `check` had found when it was decided, read back from what was sealed: an action that changes
    something by name holds it against what it is about to touch, where nobody can come between, and raises
    `NothingHappened` when they differ. None for a tool without a check or without a rule in force, which alone says
    how they are read (people may have approved it all the same), and for an undo, which has its receipt.

    An undo is an effect with a key of its own; `undoes` is then the key of what it takes back.
    """

    run: str
    call: str
    idempotency_key: str
    requester: str
    tenant: str
    undoes: str | None = None
    facts: Any = None


@dataclass
class Action(FunctionTool):
    """A gated tool. The SDK can only see and ask for it; `worker.gate` alone runs `run_effect`.

    `check` fetches the facts its rule needs; `preview` says in numbers what would happen; `reconcile` finds the
    receipt of an earlier attempt by its idempotency key, None when there is none; `undo` takes a receipt back, and
    `undone` finds, by the undo's own key, what says that it was taken back.
    """

    arguments: type[Arguments] = field(kw_only=True)
    run_effect: Callable[[ActionContext, Any], Awaitable[Any]] = field(kw_only=True, repr=False)
    check: Callable[[Any], Awaitable[Facts]] | None = field(default=None, kw_only=True, repr=False)
    preview: Callable[[Ask[Any, Any]], Awaitable[Preview]] | None = field(default=None, kw_only=True, repr=False)
    reconcile: Callable[[str, Any], Awaitable[Any]] | None = field(default=None, kw_only=True, repr=False)
    undo: Callable[[ActionContext, Any, Any], Awaitable[Any]] | None = field(default=None, kw_only=True, repr=False)
    undone: Callable[[ActionContext, Any, Any], Awaitable[Any]] | None = field(default=None, kw_only=True, repr=False)
    timeout_s: float = field(default=DEFAULT_TIMEOUT_S, kw_only=True)
    remembers_s: float | None = field(default=REMEMBERS_S, kw_only=True)


def action(
    arguments: type[A],
    *,
    check: Callable[[A], Awaitable[Facts]] | None = None,
    preview: Callable[[Ask[A, Any]], Awaitable[Preview]] | None = None,
    reconcile: Callable[[str, A], Awaitable[Any]] | None = None,
    undo: Callable[[ActionContext, A, Any], Awaitable[Any]] | None = None,
    undone: Callable[[ActionContext, A, Any], Awaitable[Any]] | None = None,
    timeout_s: float = DEFAULT_TIMEOUT_S,
    remembers_s: float | None = REMEMBERS_S,
) -> Callable[[Callable[[ActionContext, A], Awaitable[R]]], Action]:
    """Make an async function a gated tool. It may take at most `timeout_s` seconds; later nobody knows.

    Return a receipt: a pydantic model, a mapping, text or None. Raise `NothingHappened` when the provider
    said no; any other exception makes the outcome unknown.

    `undo(ctx, args, receipt)` takes an effect back, once, on a person's word; `receipt` is what the effect returned,
    as plain JSON values. It returns and raises what an action does. `undone(ctx, args, receipt)` is asked when nobody
    saw how an undo ended: what says that it happened, None when nothing does.

    Where `reconcile` and `undone` look, an effect can be found for `remembers_s` seconds after it was begun, None for
    ever. Later their None says nothing, and a person in ops is asked.
    """

    def declare(effect: Callable[[ActionContext, A], Awaitable[R]]) -> Action:
        name = effect.__name__
        _must_be_async(effect, f"The action {name}")
        if not 0 < timeout_s <= LONGEST_TIMEOUT_S:
            raise ValueError(
                f"The action {name} has timeout_s={timeout_s:g}; give it 1 to {LONGEST_TIMEOUT_S:g} seconds."
            )
        if remembers_s is not None and not remembers_s > 0:
            raise ValueError(f"The action {name} has remembers_s={remembers_s:g}; give it seconds, or None for ever.")
        parts = {"check": check, "preview": preview, "reconcile": reconcile, "undo": undo, "undone": undone}
        for part, function in parts.items():
            if function is not None:
                _must_be_async(function, f"The {part} of {name}")

        async def refuse(context: ToolContext[Any], raw: str) -> str:  # noqa: ARG001 - what the SDK calls
            return not_through_here(name)

        return Action(
            name=name,
            description=_docstring(effect, name),
            params_json_schema=tool_schema(arguments),
            on_invoke_tool=refuse,
            strict_json_schema=True,
            needs_approval=True,
            arguments=arguments,
            run_effect=effect,
            check=check,
            preview=preview,
            reconcile=reconcile,
            undo=undo,
            undone=undone,
            timeout_s=timeout_s,
            remembers_s=remembers_s,
        )

    return declare


@dataclass
class Lookup(FunctionTool):
    """A tool that only reads; runs inside the SDK, unasked, when its rule or this declaration says so."""

    arguments: type[Arguments] = field(kw_only=True)


def lookup(arguments: type[A]) -> Callable[[Callable[[A], Awaitable[Any]]], Lookup]:
    """Make an async function a tool that only reads. Whatever goes wrong comes back to the model as a sentence."""

    def declare(function: Callable[[A], Awaitable[Any]]) -> Lookup:
        name = function.__name__
        _must_be_async(function, f"The lookup {name}")

        async def invoke(context: ToolContext[Any], raw: str) -> str:  # noqa: ARG001 - what the SDK calls
            try:
                args = read_arguments(arguments, raw)
            except ArgumentsRefused as refused:
                return f"{name} was not run: {refused}"
            try:
                found = await function(args)
            except JobTimeout:  # an ordinary exception to Python, but the end of the job
                raise
            # A boundary: a failed lookup changed nothing, and the model can go on without it.
            except Exception as error:  # noqa: BLE001
                return f"{name} could not look this up ({type(error).__name__}). Nothing was changed."
            return as_text(found)

        return Lookup(
            name=name,
            description=_docstring(function, name),
            params_json_schema=tool_schema(arguments),
            on_invoke_tool=invoke,
            strict_json_schema=True,
            arguments=arguments,
        )

    return declare


def as_text(found: Any) -> str:
    """A receipt or a finding as JSON text; text stays as it is."""
    if isinstance(found, str):
        return found
    return json.dumps(_plain(found), default=str)


def _plain(found: Any) -> Any:
    if isinstance(found, BaseModel):
        return found.model_dump(mode="json")
    if isinstance(found, list | tuple):
        return [_plain(element) for element in found]
    if isinstance(found, dict):
        return {str(key): _plain(value) for key, value in found.items()}
    return found


def _must_be_async(function: Callable[..., Any], what: str) -> None:
    if not inspect.iscoroutinefunction(function):
        raise TypeError(f"{what} must be an async function; put blocking work into asyncio.to_thread.")


def _docstring(function: Callable[..., Any], name: str) -> str:
    text = inspect.getdoc(function)
    if not text:
        raise TypeError(f"{name} has no docstring; the model reads it to know what the tool does.")
    return text
