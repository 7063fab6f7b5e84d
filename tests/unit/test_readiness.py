"""What an agent lacks is said by its own module, before the first run finds out."""

import sys
from types import ModuleType
from typing import Any

import pytest

from worker.readiness import missing


@pytest.fixture
def module(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    made = ModuleType("a_desk_of_ours")
    monkeypatch.setitem(sys.modules, made.__name__, made)
    return made


def asked(module: ModuleType) -> list[str]:
    def build_agent(_model: Any) -> None: ...

    build_agent.__module__ = module.__name__
    return list(missing({"desk": build_agent}))


def test_each_thing_is_a_sentence(module: ModuleType) -> None:
    vars(module)["missing"] = lambda: ["The price list is empty.", "The printer is off."]
    assert asked(module) == ["The price list is empty.", "The printer is off."]


def test_a_module_without_such_a_function_lacks_nothing(module: ModuleType) -> None:
    assert asked(module) == []
    vars(module)["missing"] = "not a function"
    assert asked(module) == []


def test_whoever_cannot_look_lacks_something(module: ModuleType) -> None:
    def cannot() -> list[str]:
        raise ConnectionError("no route")

    vars(module)["missing"] = cannot
    (told,) = asked(module)
    assert told == "The agent desk cannot say whether it lacks something: missing() raised ConnectionError: no route"
