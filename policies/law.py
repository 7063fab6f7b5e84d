"""The law in force: every rule, the people who decide, the deadlines, and a version that changes with any of them."""

import hashlib
import importlib
import inspect
import json
import pkgutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from types import ModuleType
from typing import Any, TypeVar
from zoneinfo import ZoneInfo

from pydantic import ValidationError

from policies.budgets import Budgets
from policies.deadlines import Deadlines
from policies.law_problems import notes_of, problems_of
from policies.limit_gaps import limit_gaps
from policies.roster import Reviewers, ReviewersRefused, first_error, read_toml
from policies.rule import Rule
from policies.tool_schema import SchemaRefused, facts_schema, tool_schema
from policies.values import Frozen

VERSION_DIGITS = 12


class LawRefused(ValueError):
    """The law cannot be loaded; the text is one sentence that names what to correct."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Law:
    """What is in force. `version` is a short digest over rule modules, argument schemas and the TOML text."""

    rules: Mapping[str, Rule]
    reviewers: Reviewers
    deadlines: Deadlines
    budgets: Budgets
    version: str

    def people_at(self, now: datetime) -> Reviewers:
        """Who decides at this instant: stand-ins count by the date in the zone of the deadlines."""
        zone = self.deadlines.zone
        return self.reviewers.on(now.astimezone(ZoneInfo(zone)).date()).at(now, zone)

    def problems(self) -> tuple[str, ...]:
        """What can be loaded but cannot work, one sentence each: tiers without people, tiers nobody defined."""
        return problems_of(self.rules, self.reviewers)

    def gaps(self) -> tuple[str, ...]:
        """Amounts that a rule lets be asked and that nobody may approve; among the notes, since the rest can work."""
        return tuple(limit_gaps(self.rules, self.reviewers))

    def notes(self) -> tuple[str, ...]:
        """What works, but may surprise: tiers nobody asks, times that are cut, an agent that asks about everything."""
        return notes_of(self.rules, self.reviewers, self.deadlines)


def load_law(rule_modules: Sequence[str], reviewers_text: str) -> Law:
    """Import the rule modules (a package stands for its modules) and read the text of `reviewers.toml`.

    Raises:
        LawRefused: a module cannot be imported or has no rule, a tool has two rules, the TOML cannot be used.
    """
    modules = [module for name in rule_modules for module in _modules(name)]
    rules = _rules(modules)
    try:
        tables = read_toml(reviewers_text)
        reviewers = Reviewers.from_tables(tables)
    except ReviewersRefused as error:
        raise LawRefused(str(error)) from None
    return Law(
        rules=rules,
        reviewers=reviewers,
        deadlines=_table(Deadlines, tables, "deadlines"),
        budgets=_table(Budgets, tables, "budgets"),
        version=_version(modules, rules, reviewers_text),
    )


def _modules(name: str) -> list[ModuleType]:
    module = _imported(name)
    inside = [_imported(found.name) for found in pkgutil.iter_modules(getattr(module, "__path__", ()), f"{name}.")]
    if not any(_declared(candidate) for candidate in (module, *inside)):
        raise LawRefused(
            f"The rule module {name} declares no rule; decorate one with @rule or take it out of VOBO_RULES."
        )
    return [module, *inside]


def _imported(name: str) -> ModuleType:
    try:
        return importlib.import_module(name)
    except Exception as error:  # a team's module may raise anything; the law is then not in force
        what = f"{type(error).__name__}: {error}"
        raise LawRefused(f"The rule module {name} cannot be imported ({what}); correct it or VOBO_RULES.") from error


def _declared(module: ModuleType) -> list[Rule]:
    return [value for value in vars(module).values() if isinstance(value, Rule) and value.module == module.__name__]


def _rules(modules: Sequence[ModuleType]) -> dict[str, Rule]:
    rules: dict[str, Rule] = {}
    for module in modules:
        for rule in _declared(module):
            other = rules.get(rule.tool)
            if other is not None and other is not rule:
                raise LawRefused(
                    f"The tool {rule.tool} has two rules, in {other.module} and in {rule.module}; keep one of them."
                )
            rules[rule.tool] = rule
    return rules


T = TypeVar("T", bound=Frozen)


def _table(kind: type[T], tables: dict[str, Any], name: str) -> T:
    try:
        return kind.model_validate(tables.get(name, {}))
    except ValidationError as error:
        raise LawRefused(first_error(error, name)) from None


def _version(modules: Sequence[ModuleType], rules: Mapping[str, Rule], reviewers_text: str) -> str:
    digest = hashlib.sha256(reviewers_text.encode())
    for module in sorted(set(modules), key=lambda module: module.__name__):
        digest.update(_source(module).encode())
    for tool, rule in sorted(rules.items()):
        try:
            schemas = [tool_schema(rule.arguments), facts_schema(rule.facts)]
        except SchemaRefused as error:
            raise LawRefused(f"The rule of {tool} in {rule.module}: {error}") from None
        declared = [tool, rule.risk, rule.undo, rule.source, *schemas]
        digest.update(json.dumps(declared, sort_keys=True).encode())
    return digest.hexdigest()[:VERSION_DIGITS]


def _source(module: ModuleType) -> str:
    try:
        return inspect.getsource(module)
    except (OSError, TypeError):  # an empty or no package file: the rules' own sources still count
        return module.__name__
