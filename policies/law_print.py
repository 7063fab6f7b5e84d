"""What of a law can change, as digests and Slack ids: enough to say later what was changed, and nothing more."""

import hashlib
import importlib
import inspect
import json
from collections.abc import Iterator, Mapping

from policies.law import Law
from policies.rule import Rule
from policies.values import Frozen

_DIGITS = 12


class LawPrint(Frozen):
    """`rules` are digests by tool, `people` Slack ids by place, `tables` digests of the rest of reviewers.toml."""

    version: str
    rules: dict[str, str]
    people: dict[str, tuple[str, ...]]
    tables: dict[str, str]


class Changed(Frozen):
    """What differs between two laws, in clauses; `rules` are the tools whose rule is new, gone or different."""

    clauses: tuple[str, ...]
    rules: tuple[str, ...]


def law_print(law: Law) -> LawPrint:
    """The print of a law in force."""
    people = law.reviewers
    places: dict[str, tuple[str, ...]] = {
        f"tiers.{name}": (*one.users, *one.usergroups) for name, one in people.tiers.items()
    }
    places |= {"ops": people.ops, "starters": people.starters or ()}
    places |= {f"agents.{name}": one.starters for name, one in people.agents.items()}
    rest = people.model_dump(mode="json", exclude={"ops", "starters", "agents", "away"})
    tables = {name: rest.pop(name) for name in ("tiers", "people", "standins", "development")}
    for tier in tables["tiers"].values():
        tier.pop("users")
        tier.pop("usergroups")
    tables |= {"deadlines": law.deadlines.model_dump(mode="json"), "budgets": law.budgets.model_dump(mode="json")}
    return LawPrint(
        version=law.version,
        rules={tool: _of_rule(rule) for tool, rule in law.rules.items()},
        people=places,
        tables={"the whole": _digest(rest), **{name: _digest(table) for name, table in tables.items()}},
    )


def changed(before: LawPrint | None, after: LawPrint) -> Changed:
    """What is different; before the first law everything is new, and only its number of rules is said."""
    if before is None:
        return Changed(clauses=(f"first law on record, {len(after.rules)} rules",), rules=tuple(sorted(after.rules)))
    rules = sorted(tool for tool in {*before.rules, *after.rules} if before.rules.get(tool) != after.rules.get(tool))
    clauses = [*_about_rules(before.rules, after.rules), *_about_people(before.people, after.people)]
    tables = sorted(name for name, digest in after.tables.items() if before.tables.get(name) != digest)
    clauses += [f"reviewers.toml changed in {', '.join(tables)}"] if tables else []
    return Changed(clauses=tuple(clauses) or ("a source that rules are written beside changed",), rules=tuple(rules))


def _about_rules(before: Mapping[str, str], after: Mapping[str, str]) -> Iterator[str]:
    gone, new = sorted(set(before) - set(after)), sorted(set(after) - set(before))
    other = sorted(tool for tool in set(before) & set(after) if before[tool] != after[tool])
    for words, tools in (("rules changed", other), ("rules added", new), ("rules removed", gone)):
        if tools:
            yield f"{words}: {', '.join(tools)}"


def _about_people(before: Mapping[str, tuple[str, ...]], after: Mapping[str, tuple[str, ...]]) -> Iterator[str]:
    for place in sorted({*before, *after}):
        was, now = set(before.get(place, ())), set(after.get(place, ()))
        if now - was:
            yield f"{place}: {', '.join(sorted(now - was))} added"
        if was - now:
            yield f"{place}: {', '.join(sorted(was - now))} removed"


def _of_rule(rule: Rule) -> str:
    """A threshold may stand beside the rule's function, so the whole file counts."""
    try:
        file = inspect.getsource(importlib.import_module(rule.module))
    except (OSError, TypeError, ImportError):
        file = rule.source
    return _digest([rule.tool, rule.risk, rule.undo, rule.source, file])


def _digest(value: object) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()[:_DIGITS]
