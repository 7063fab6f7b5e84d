"""What can be read off a rule without applying it: which tiers it may ask, and when it lets a call run unasked.

Only what is written as a literal is found. It is for tables and warnings; nothing is decided by it.
"""

import ast
import textwrap
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple, TypeGuard

from policies.money import Money, eur
from policies.risk import Risk
from policies.rule import Rule


def when_auto(rule: Rule) -> tuple[str, ...]:
    """The sentences under which calls of this tool run unasked; empty when somebody is always asked."""
    if rule.risk is Risk.READ_ONLY:
        return ("It changes nothing.",)
    names: Mapping[str, Any] = getattr(rule.judge, "__globals__", {})
    sentences = (_sentence(node, names) for node in _verbs(rule.source, "auto_when"))
    return tuple(dict.fromkeys(sentences))


def tiers_asked(source: str) -> set[tuple[str, int]]:
    """Tier and highest number of reviewers of every `.needs("tier", reviewers=...)` in a rule's source.

    Only what is written as a literal is found; what is computed is checked when the rule is applied.
    """
    found = set()
    for node in _verbs(source, "needs"):
        numbers = [_highest(word.value) for word in node.keywords if word.arg == "reviewers"]
        tiers = [text for argument in node.args[:1] for text in _texts(argument)]
        found |= {(tier, max(numbers, default=1)) for tier in tiers}
    return found


class AmountAsked(NamedTuple):
    """Whether a rule names an amount for personal limits, and above which one it forbids; None: it does not say."""

    named: bool
    highest: Money | None


def amount_asked(rule: Rule) -> AmountAsked:
    """The amount of `.worth(amount)`, else of `.counting(label, amount)`, and its `.forbid_when(amount > ..., ...)`."""
    worth = [node.args[0] for node in _verbs(rule.source, "worth") if node.args]
    amounts = worth or [node.args[1] for node in _verbs(rule.source, "counting") if len(node.args) > 1]
    names: Mapping[str, Any] = getattr(rule.judge, "__globals__", {})
    wanted = {ast.unparse(amount) for amount in amounts}
    bounds = [
        _money(node.args[0].comparators[0], names)
        for node in _verbs(rule.source, "forbid_when")
        if node.args and _is_above(node.args[0], wanted)
    ]
    return AmountAsked(bool(amounts), next((bound for bound in bounds if bound is not None), None))


def _is_above(condition: ast.expr, amounts: set[str]) -> TypeGuard[ast.Compare]:
    return (
        isinstance(condition, ast.Compare)
        and len(condition.ops) == 1
        and isinstance(condition.ops[0], ast.Gt | ast.GtE)
        and ast.unparse(condition.left) in amounts
    )


def _money(expression: ast.expr, names: Mapping[str, Any]) -> Money | None:
    """A constant of the module, or `eur(500)` as it stands."""
    if isinstance(expression, ast.Name):
        found = names.get(expression.id)
        return found if isinstance(found, Money) else None
    match expression:
        case ast.Call(func=ast.Name(id=name), args=[ast.Constant(value=int(units))]) if names.get(name) is eur:
            amount: Money = eur(units)
            return amount
    return None


def _highest(expression: ast.expr) -> int:
    branches = [expression.body, expression.orelse] if isinstance(expression, ast.IfExp) else [expression]
    return max(
        (node.value for node in branches if isinstance(node, ast.Constant) and isinstance(node.value, int)), default=1
    )


def _texts(expression: ast.expr) -> list[str]:
    branches = [expression.body, expression.orelse] if isinstance(expression, ast.IfExp) else [expression]
    return [node.value for node in branches if isinstance(node, ast.Constant) and isinstance(node.value, str)]


def _verbs(source: str, verb: str) -> Iterator[ast.Call]:
    """Every `.verb(...)` in a rule's source, in the order in which it is read."""
    try:
        tree = ast.parse(textwrap.dedent(source))
    except SyntaxError:
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == verb:
            yield node


def _sentence(call: ast.Call, names: Mapping[str, Any]) -> str:
    """The reason given to a verb, constants of the module in place; the condition itself when it is no literal."""
    given = [*call.args[1:], *(word.value for word in call.keywords if word.arg == "because")]
    if not given:
        return ast.unparse(call.args[0]) if call.args else "always"
    reason = given[0]
    if isinstance(reason, ast.Constant):
        return str(reason.value)
    if isinstance(reason, ast.JoinedStr):
        return "".join(_part(part, names) for part in reason.values)
    if isinstance(reason, ast.Name) and isinstance(names.get(reason.id), str):
        return str(names[reason.id])
    return ast.unparse(reason)


def _part(part: ast.expr, names: Mapping[str, Any]) -> str:
    if isinstance(part, ast.Constant):
        return str(part.value)
    if isinstance(part, ast.FormattedValue) and isinstance(part.value, ast.Name) and part.value.id in names:
        return str(names[part.value.id])
    return "..."
