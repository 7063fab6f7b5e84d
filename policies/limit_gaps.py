"""Amounts that a rule lets be asked and that nobody's personal limit covers: found before a card says "nobody"."""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from typing_extensions import override

from policies.money import Money
from policies.requirement import Requirement
from policies.risk import Risk
from policies.roster import Reviewers, Tier, in_words
from policies.rule import Rule
from policies.rule_source import amount_asked, tiers_asked


def limit_gaps(rules: Mapping[str, Rule], reviewers: Reviewers) -> Iterator[str]:
    """One sentence for each rule whose highest amount too few may approve; as far as its text says how high that is."""
    for rule in _about_money(rules):
        highest = amount_asked(rule).highest
        reach = _reach(rule, reviewers, highest.currency) if highest else None
        if highest and reach and (reach.limit is None or reach.limit < highest):
            yield (
                f"The rule of {rule.tool} in {rule.module} lets up to {highest} be asked, but {reach}."
                " Raise limits in reviewers.toml, or lower what the rule lets be asked."
            )


def open_amounts(rules: Mapping[str, Rule], reviewers: Reviewers) -> Iterator[str]:
    """One sentence for each rule that names an amount without an end, where the limits of people have one."""
    currencies = sorted({currency for _, limits in reviewers.all_limits() for currency in limits})
    for rule in _about_money(rules):
        if amount_asked(rule).highest is not None:
            continue
        reaches = [reach for currency in currencies if (reach := _reach(rule, reviewers, currency)) is not None]
        ended = [str(reach) for reach in reaches if reach.limit is not None]
        if ended:
            yield (
                f"The rule of {rule.tool} in {rule.module} names no highest amount, but {' and '.join(ended)}."
                " A card above that can only be lowered or rejected; refuse it with .forbid_when(amount > ...)."
            )
        elif reaches or not currencies:
            yield (
                f"The rule of {rule.tool} in {rule.module} compares an amount with personal limits, but too few of"
                " those it asks have one. Name limits in reviewers.toml."
            )


class _Reach(NamedTuple):
    """The highest amount that so many people of a tier may approve; `limit` is None where too few have one."""

    tier: str
    people: int
    currency: str
    limit: Money | None

    @override
    def __str__(self) -> str:
        who = "one person" if self.people == 1 else f"{in_words(self.people)} people"
        if self.limit is not None:
            return f"{who} of {self.tier} may approve {self.limit} at most"
        return f"not even {who} of {self.tier} {'has' if self.people == 1 else 'have'} a limit in {self.currency}"


def _about_money(rules: Mapping[str, Rule]) -> Iterator[Rule]:
    for rule in rules.values():
        if rule.risk is not Risk.READ_ONLY and amount_asked(rule).named and tiers_asked(rule.source):
            yield rule


def _reach(rule: Rule, reviewers: Reviewers, currency: str) -> _Reach | None:
    """Of the tiers that the rule may ask, the one that reaches highest; None when none of them is defined."""
    found = []
    for tier, people in sorted(tiers_asked(rule.source)):
        tiers = reviewers.tiers_for(Requirement(radius="any", tier=tier), escalated=True)
        if tiers:
            limits = _limits(reviewers, tiers, people, currency)
            found.append(_Reach(tier, people, currency, limits[people - 1] if len(limits) >= people else None))
    return max(found, key=lambda reach: reach.limit.minor if reach.limit else -1, default=None)


def _limits(reviewers: Reviewers, tiers: Sequence[Tier], most: int, currency: str) -> list[Money]:
    """The limits of those who may decide, the highest first. Who is in a usergroup, Slack knows: anybody may be."""
    users = {user for tier in tiers for user in tier.users}
    grouped = [tier for tier in tiers if tier.usergroups]
    if grouped:
        users |= set(reviewers.people)
    found = [reviewers.limit_of(user, tiers, currency) for user in sorted(users)]
    found += [reviewers.limit_of("", grouped, currency)] * (most if grouped else 0)
    return sorted((limit for limit in found if limit is not None), key=lambda limit: limit.minor, reverse=True)
