"""How a team writes the law: one typed function per tool."""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from pydantic import BaseModel, ConfigDict

from policies.arguments import Arguments
from policies.money import Money, zero
from policies.requirement import Requirement
from policies.risk import Risk


class Facts(BaseModel):
    """What the team's own data says about the arguments: fetched by the action's check, sealed with the call."""

    model_config = ConfigDict(frozen=True, strict=True, extra="forbid")


class NoFacts(Facts):
    """For rules that need nothing but the arguments."""


A = TypeVar("A", bound=Arguments)
F = TypeVar("F", bound=Facts)


@dataclass(frozen=True, slots=True)
class Ask(Generic[A, F]):
    """One call as a rule sees it."""

    tool: str
    agent: str
    requester: str
    args: A
    facts: F


@dataclass(frozen=True, slots=True)
class Spend:
    """What the run has taken up already, this turn's other calls included, by label; and what caps hold by now."""

    run: Mapping[tuple[str, str], int] = field(default_factory=dict)
    caps: Mapping[tuple[str, str, str], int] = field(default_factory=dict)

    def in_run(self, label: str, currency: str = "EUR") -> Money:
        """The sum of everything counted under `label` in this run, without the call being judged."""
        return Money(minor=self.run.get((label, currency), 0), currency=currency)

    def in_cap(self, cap: str, key: str, currency: str = "EUR") -> Money:
        """What other calls, of whatever run, hold of a cap for this key in its window: a customer's day, say.

        Known for the caps and keys that the rule itself spends from; nothing else was looked up.
        """
        return Money(minor=self.caps.get((cap, currency, key), 0), currency=currency)

    def nothing(self, currency: str) -> Money:
        """Zero of a currency, to start a sum with."""
        return zero(currency)


Judge = Callable[[Ask[Any, Any], Spend], Requirement]


@dataclass(frozen=True, slots=True)
class Rule:
    """One clause of the law. `undo` says in words how the effect is taken back, None when it cannot be."""

    tool: str
    arguments: type[Arguments]
    facts: type[Facts]
    risk: Risk
    undo: str | None
    judge: Judge
    module: str
    source: str


def rule(
    arguments: type[A], facts: type[F] | None = None, *, risk: Risk, undo: str | None = None
) -> Callable[[Callable[[Ask[A, F], Spend], Requirement]], Rule]:
    """Make a function the rule of the tool that bears its name.

    `undo` says in words how the effect is taken back. A rule must be pure: it is called several times.

    Raises:
        ValueError: when a reversible tool does not say how it is undone, or a reading one says so; when the function
            is async or a generator.
    """
    if risk is Risk.REVERSIBLE and undo is None:
        raise ValueError("A reversible tool needs undo=, a sentence that says how its effect is taken back.")
    if risk is Risk.READ_ONLY and undo is not None:
        raise ValueError("A tool that only reads has nothing to undo; leave undo= out.")

    def declare(judge: Callable[[Ask[A, F], Spend], Requirement]) -> Rule:
        _must_return(judge)
        try:
            source = inspect.getsource(judge)
        except OSError:  # typed at a prompt: no source, so the name must do
            source = judge.__qualname__
        return Rule(
            tool=judge.__name__,
            arguments=arguments,
            facts=facts or NoFacts,
            risk=risk,
            undo=undo,
            judge=judge,
            module=judge.__module__,
            source=source,
        )

    return declare


def _must_return(judge: Callable[..., Any]) -> None:
    deferred = (inspect.iscoroutinefunction, inspect.isasyncgenfunction, inspect.isgeneratorfunction)
    if any(is_one(judge) for is_one in deferred):
        raise ValueError(
            f"The rule {judge.__name__} must return its Requirement at once: write a plain def without await and yield."
            " What must be looked up belongs in the check= of its action, which gives it to the rule as facts."
        )
