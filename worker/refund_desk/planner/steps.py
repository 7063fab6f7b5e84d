"""What the planner can do next: say something and end, or make calls."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call to make."""

    tool: str
    arguments: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Calls:
    """Calls of one turn, and a sentence beside them: for reviewers, why they are proposed."""

    calls: tuple[ToolCall, ...]
    why: str = ""


@dataclass(frozen=True, slots=True)
class Say:
    """The planner's last words."""

    text: str
