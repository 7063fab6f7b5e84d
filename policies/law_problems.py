"""What is wrong with a law that loads: found before the first card has nobody to go to."""

import ast
import textwrap
from collections.abc import Iterator, Mapping

from policies.roster import Reviewers
from policies.rule import Rule


def problems_of(rules: Mapping[str, Rule], reviewers: Reviewers) -> tuple[str, ...]:
    """One sentence per problem, each naming what to change."""
    return (*_tiers(reviewers), *(problem for rule in rules.values() for problem in _needs(rule, reviewers)))


def _tiers(reviewers: Reviewers) -> Iterator[str]:
    if reviewers.strictest not in reviewers.tiers:
        yield f"reviewers.toml: the strictest tier is {reviewers.strictest}, which is not defined under [tiers]."
    for name, tier in reviewers.tiers.items():
        if not tier.users and not tier.usergroups:
            yield f"reviewers.toml: the tier {name} has nobody in it; name users or usergroups."
        if tier.next is not None and tier.next not in reviewers.tiers:
            yield f"reviewers.toml: the tier {name} escalates to {tier.next}, which is not defined under [tiers]."
    if not reviewers.ops:
        yield "reviewers.toml: nobody is ops, so dead letters have nobody to settle them; name users under ops."


def _needs(rule: Rule, reviewers: Reviewers) -> Iterator[str]:
    for tier_name, most in sorted(_asked(rule.source)):
        tier = reviewers.tiers.get(tier_name)
        if tier is None:
            yield (
                f"The rule of {rule.tool} in {rule.module} needs the tier {tier_name},"
                " which reviewers.toml does not define."
            )
        elif not tier.usergroups and len(tier.users) < most:
            yield (
                f"The rule of {rule.tool} in {rule.module} can need {most} people of {tier_name};"
                f" reviewers.toml names {len(tier.users)}."
            )


def _asked(source: str) -> set[tuple[str, int]]:
    """Tier and highest number of reviewers of every `.needs("tier", reviewers=...)` in a rule's source.

    Only what is written as a literal is found; what is computed is checked when the rule is applied.
    """
    try:
        tree = ast.parse(textwrap.dedent(source))
    except SyntaxError:
        return set()
    found = set()
    for node in ast.walk(tree):
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "needs"):
            continue
        numbers = [_highest(word.value) for word in node.keywords if word.arg == "reviewers"]
        tiers = [text for argument in node.args[:1] for text in _texts(argument)]
        found |= {(tier, max(numbers, default=1)) for tier in tiers}
    return found


def _highest(expression: ast.expr) -> int:
    branches = [expression.body, expression.orelse] if isinstance(expression, ast.IfExp) else [expression]
    return max(
        (node.value for node in branches if isinstance(node, ast.Constant) and isinstance(node.value, int)), default=1
    )


def _texts(expression: ast.expr) -> list[str]:
    branches = [expression.body, expression.orelse] if isinstance(expression, ast.IfExp) else [expression]
    return [node.value for node in branches if isinstance(node, ast.Constant) and isinstance(node.value, str)]
