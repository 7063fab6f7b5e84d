import keyword
import re
from pathlib import Path

import click

from approvals.settings import SettingsRefused
from policies.law import load_law
from policies.reviewers import Reviewers

_USER = re.compile(r"[UW][A-Z0-9_]+")

REVIEWERS = """\
# Who may be asked, and when. Read when bot and worker start; docs/policies.md explains every key.
# Ids are Slack's own: users U..., usergroups S..., the workspace T... (Slack: profile, "Copy member ID").

team = "{team}"
strictest = "reviewers"   # asked for tools without a rule, and whenever a rule or check fails
ops = [{ops}]

[tiers.reviewers]
users = [{reviewers}]

[deadlines]
zone = "{zone}"

[development]
self_approval = {self_approval}
"""

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


@click.command()
@click.option("--into", default=".", type=click.Path(path_type=Path, file_okay=False), help="Where to write.")
@click.option("--team", prompt="Id of your Slack workspace (T...)", help="Id of your Slack workspace.")
@click.option("--reviewer", "reviewers", multiple=True, help="Slack user id of somebody who may decide; repeatable.")
@click.option("--ops", "operators", multiple=True, help="Slack user id of an operator; the reviewers when not given.")
@click.option("--tool", prompt="Name of your first tool", help="Name of the function tool that needs approval.")
@click.option("--zone", default="UTC", help="Time zone of your business hours, for example Europe/Berlin.")
@click.option("--self-approval", is_flag=True, help="Development only: whoever starts a run may approve it.")
def init(  # noqa: PLR0917 - click passes each option
    into: Path,
    team: str,
    reviewers: tuple[str, ...],
    operators: tuple[str, ...],
    tool: str,
    zone: str,
    self_approval: bool,  # noqa: FBT001 - click passes a flag by name
) -> None:
    """Write a first rule and a reviewers.toml in which everything irreversible asks."""
    if not reviewers:
        typed = click.prompt("Slack user ids of those who may decide (U..., comma-separated)")
        reviewers = tuple(part.strip() for part in str(typed).split(",") if part.strip())
    _check(tool, (*reviewers, *operators))
    text = REVIEWERS.format(
        team=team,
        ops=_listed(operators or reviewers),
        reviewers=_listed(reviewers),
        zone=zone,
        self_approval="true" if self_approval else "false",
    )
    Reviewers.from_toml(text)
    load_law(["policies.rules.lookups"], text)  # the tables that are not about people, such as the zone
    model = "".join(part.title() for part in tool.split("_"))
    rule = RULE.format(tool=tool, model=model, words=tool.replace("_", " "))
    files = {into / "reviewers.toml": text, into / "rules" / "__init__.py": "", into / "rules" / f"{tool}.py": rule}
    _write(files)
    click.echo(f"Written: {', '.join(map(str, files))}.")
    click.echo(f"Set VOBO_RULES=rules and VOBO_REVIEWERS={into / 'reviewers.toml'}, then run `vobo policies check`.")


def _check(tool: str, users: tuple[str, ...]) -> None:
    if not re.fullmatch(r"[a-z][a-z0-9_]{0,62}", tool) or keyword.iskeyword(tool):
        raise SettingsRefused(
            f"{tool!r} cannot be the name of a tool; write it as a Python function, such as send_mail."
        )
    for user in users:
        if not _USER.fullmatch(user):
            raise SettingsRefused(f"{user!r} is not a Slack user id; ids look like U0123ABCD, not @name.")


def _listed(users: tuple[str, ...]) -> str:
    return ", ".join(f'"{user}"' for user in dict.fromkeys(users))


def _write(files: dict[Path, str]) -> None:
    there = [path for path in files if path.exists()]
    if there:
        raise SettingsRefused(f"{there[0]} exists already, and nothing is overwritten. Use --into another directory.")
    for path, text in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
