"""The first reviewers.toml, and the first rule beside it, as `vobo init` writes them."""

import json
from collections.abc import Iterable, Mapping, Sequence

REVIEWERS = """\
# Who may be asked, and when. Read when bot and worker start; docs/policies.md explains every key.
# Ids are Slack's own: users U..., usergroups S..., the workspace T... (Slack: profile, "Copy member ID").

team = "{team}"
strictest = "{strictest}"   # asked for tools without a rule, and whenever a rule or check fails
ops = [{ops}]

{tiers}
[deadlines]
zone = "{zone}"

[development]
self_approval = {self_approval}
"""
TIER = """\
[tiers.{name}]
users = [{users}]
"""
PERSON = """\
[people.{user}]
name = {name}
"""
LIMIT = """\
limits = {{ EUR = "{limit}" }}   # the highest sum this person may decide, by currency; without it: none
"""
#: The tiers that the rules of the sample name.
SAMPLE_TIERS = ("ops_leads", "support", "billing", "release")

RULE = '''\
"""The first rule. Start strict: everything that cannot be undone asks; allow more once you have seen what is asked."""

from policies.arguments import Arguments, Id
from policies.requirement import Requirement
from policies.risk import Risk
from policies.rule import Ask, NoFacts, Spend, rule


class {model}(Arguments):
    """Say here what the tool does; the model reads it. Mark what a reviewer may change, see docs/policies.md."""

    subject: Id


@rule({model}, risk=Risk.IRREVERSIBLE)
def {tool}(ask: Ask[{model}, NoFacts], so_far: Spend) -> Requirement:  # noqa: ARG001 - it costs no money
    """Every call asks one person. Add `.auto_when(condition, "why")` for what is small enough to run unasked."""
    return Requirement(radius="{words}", resources=(ask.args.subject,)).needs(
        "reviewers", because="It cannot be undone."
    )
'''


def reviewers_toml(
    *,
    team: str,
    reviewers: Mapping[str, str],
    operators: Sequence[str],
    zone: str,
    self_approval: bool,
    limit: str | None,
    sample: bool,
) -> str:
    """Everybody named may decide everything; `sample` has the tiers of its rules, and `limit` for each of them.

    `reviewers` maps ids to the names that cards show; an empty name shows the id.
    """
    names = SAMPLE_TIERS if sample else ("reviewers",)
    tiers = [TIER.format(name=name, users=_listed(reviewers)) for name in names]
    people = [_person(user, name, limit) for user, name in reviewers.items() if name or limit]
    return REVIEWERS.format(
        team=team,
        strictest=names[0],
        ops=_listed(operators or tuple(reviewers)),
        tiers="\n".join([*tiers, *people]),
        zone=zone,
        self_approval="true" if self_approval else "false",
    )


def _person(user: str, name: str, limit: str | None) -> str:
    # A JSON string is a TOML string, whatever somebody is called.
    head = PERSON.format(user=user, name=json.dumps(name or user, ensure_ascii=False))
    return head + (LIMIT.format(limit=limit) if limit else "")


def first_rule(tool: str) -> str:
    """A module in which every call of `tool` asks one person."""
    model = "".join(part.title() for part in tool.split("_"))
    return RULE.format(tool=tool, model=model, words=tool.replace("_", " "))


def _listed(users: Iterable[str]) -> str:
    return ", ".join(f'"{user}"' for user in dict.fromkeys(users))
