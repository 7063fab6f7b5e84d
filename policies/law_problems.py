"""What is wrong with a law that loads: found before the first card has nobody to go to."""

from collections.abc import Iterator, Mapping

from policies.canary_notes import canary_notes
from policies.deadlines import LONGEST_S, Deadlines
from policies.limit_gaps import limit_gaps, open_amounts
from policies.quiet_weeks import all_quiet
from policies.risk import Risk
from policies.roster import Reviewers
from policies.rule import Rule
from policies.rule_source import tiers_asked, when_auto

#: Below so many tools nobody can say that nearly all of them ask.
FEWEST_TOOLS = 3
NEARLY_ALL = 0.8


def notes_of(rules: Mapping[str, Rule], reviewers: Reviewers, deadlines: Deadlines) -> tuple[str, ...]:
    """What works, but not as somebody may believe it does."""
    return (
        *_unreached(rules, reviewers),
        *all_quiet(reviewers, deadlines.zone),
        *_cut_times(deadlines),
        *_forms(rules),
        *canary_notes(rules, reviewers),
        *limit_gaps(rules, reviewers),
        *open_amounts(rules, reviewers),
    )


def _unreached(rules: Mapping[str, Rule], reviewers: Reviewers) -> Iterator[str]:
    asked = {tier for rule in rules.values() for tier, _ in tiers_asked(rule.source)}
    asked |= {reviewers.strictest} | {tier.next for tier in reviewers.tiers.values() if tier.next}
    for name in reviewers.tiers:
        if name not in asked:
            yield f"reviewers.toml: nothing ever asks the tier {name}; no rule needs it and no tier escalates to it."


def _cut_times(deadlines: Deadlines) -> Iterator[str]:
    """Times that are shorter than they read. What nothing in the file has to do with surprises nobody."""
    said, longest = deadlines.model_fields_set, LONGEST_S - deadlines.lapse_s
    if deadlines.ttl_seconds is not None:
        names = [("ttl_seconds", 1, "seconds")]
    else:
        names = [(name, 60, "minutes") for name in ("business_minutes", "outside_minutes", "undo_minutes")]
    for name, seconds, unit in names:
        wanted = getattr(deadlines, name)
        if wanted * seconds > longest and {name, "lapse_minutes"} & said:
            yield (
                f"reviewers.toml: {name} is {wanted}, but with lapse_minutes = {deadlines.lapse_minutes} a card may"
                f" wait {longest // seconds} {unit} at most; so long it will be."
            )


def _forms(rules: Mapping[str, Rule]) -> Iterator[str]:
    acting = [rule for rule in rules.values() if rule.risk is not Risk.READ_ONLY]
    always = [rule.tool for rule in acting if not when_auto(rule)]
    if len(rules) >= FEWEST_TOOLS and len(always) > len(rules) * NEARLY_ALL:
        yield (
            f"{len(always)} of {len(rules)} tools always ask somebody. That is a form, not an agent: let what is small"
            " or can be undone run, with .auto_when(...)."
        )


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
    for tier_name, most in sorted(tiers_asked(rule.source)):
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
