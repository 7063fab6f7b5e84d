from datetime import UTC, datetime
from pathlib import Path

import click
from rich.console import Console
from rich.table import Table
from rich.tree import Tree

from approvals.candidates import candidate
from approvals.commands.policies_check import check
from approvals.commands.policies_simulate import simulate
from approvals.commands.tables import cell
from approvals.settings import LawSettings
from policies.evaluate import evaluate
from policies.law import Law, load_law
from policies.requirement import Requirement
from policies.reread import reread
from policies.reviewers import Reviewers, describe
from policies.risk import Mode
from policies.rule import NoFacts, Rule
from policies.rule_source import tiers_asked, when_auto


@click.group()
def policies() -> None:
    """The law: what it says, and what another one would have said. Nothing here changes anything."""


@policies.command()
@click.option("--candidate", "place", default=None, help="A directory or module of rules instead of the law in force.")
def table(place: str | None) -> None:
    """Every tool: its risk, when it runs unasked, who is asked otherwise."""
    law = _law(place)
    shown = Table(title=f"Law {law.version}", title_justify="left")
    for column in ("tool", "risk", "runs unasked when", "asked otherwise", "undo"):
        shown.add_column(column, overflow="fold")
    for tool, rule in sorted(law.rules.items()):
        cells = (tool, rule.risk.value, "\n".join(when_auto(rule)) or "never", _who(law, rule), rule.undo or "none")
        shown.add_row(*map(cell, cells))
    strictest = describe(_today(law), Requirement(radius="any other tool"))
    shown.add_row(*map(cell, ("any other tool", "irreversible", "never", strictest, "none")))
    Console().print(shown)


@policies.command()
@click.option("--tool", required=True, help="Name of the tool.")
@click.option("--args", "args_file", required=True, type=click.Path(path_type=Path, exists=True, dir_okay=False))
@click.option("--facts", "facts_file", default=None, type=click.Path(path_type=Path, exists=True, dir_okay=False))
@click.option("--requester", default="", help="Slack user id of whoever started the run.")
@click.option("--agent", default="agent", help="Name of the agent that asks.")
@click.option("--at", default=None, type=click.DateTime(), help="When it is asked, UTC; now when not given.")
@click.option("--candidate", "place", default=None, help="A directory or module of rules instead of the law in force.")
def explain(  # noqa: PLR0917 - click passes each option
    tool: str,
    args_file: Path,
    facts_file: Path | None,
    requester: str,
    agent: str,
    at: datetime | None,
    place: str | None,
) -> None:
    """What one call would need, and why. Without --facts it is judged as when the check of its facts fails."""
    law = _law(place)
    rule, facts = law.rules.get(tool), facts_file.read_text(encoding="utf-8") if facts_file else "{}"
    why = None
    if rule is not None and rule.facts is not NoFacts and facts_file is None:
        why = f"No facts were given (--facts file.json, as {rule.facts.__name__}), so the strictest tier decides."
    proposal = reread(
        law, "call", tool, agent, args_file.read_text(encoding="utf-8"), facts, why, "facts" if why else None
    )
    now = at.replace(tzinfo=UTC) if at else datetime.now(UTC)
    (need,) = evaluate(law, [proposal], requester=requester, spent={}, vetoes={}, now=now)
    Console().print(explained(law, tool, need, now))


policies.add_command(simulate)
policies.add_command(check)


def explained(law: Law, tool: str, need: Requirement, now: datetime) -> Tree:
    """A requirement as a tree of sentences. What a team or a person wrote is never read as markup."""
    people = law.people_at(now)
    heads = {Mode.AUTO: "runs unasked", Mode.FORBIDDEN: "is refused, whoever would approve"}
    tree = Tree(cell(f"{tool} {heads.get(need.mode, f'asks {describe(people, need)}')}"))
    why = tree.add(cell("because"))
    for reason in need.reasons or ("The rule gives no reason.",):
        why.add(cell(reason))
    tree.add(cell(f"risk: {need.risk.value}; {f'undo: {need.undo}' if need.undo else 'no undo'}"))
    tree.add(cell(f"blast radius: {need.radius}"))
    if need.resources:
        tree.add(cell(f"touches: {', '.join(need.resources)}"))
    if need.amount is not None:
        tree.add(cell(f"held against personal limits: {need.amount}"))
    for spending in need.spends:
        cap = tree.add(cell(f"takes from the cap {spending.cap}, at most {spending.limit} by {spending.window}"))
        for key, amount in spending.amounts.items():
            cap.add(cell(f"{key}: {amount}"))
    if need.mode is Mode.HUMAN:
        tree.add(
            cell(f"time to decide: {need.ttl_s // 60} minutes; an approval then holds {need.lapse_s // 60} minutes")
        )
        if need.confirm:
            tree.add(cell("each approval is asked about twice"))
    tree.add(cell(f"law {need.law}"))
    return tree


def _law(place: str | None) -> Law:
    settings = LawSettings.read()
    return candidate(place, settings) if place else load_law(settings.rules, settings.reviewers_text())


def _today(law: Law) -> Reviewers:
    return law.people_at(datetime.now(UTC))


def _who(law: Law, rule: Rule) -> str:
    """Everybody a rule may ask, as far as its text says."""
    people = _today(law)
    asked = sorted(tiers_asked(rule.source))
    if not asked:
        return "nobody" if when_auto(rule) else describe(people, Requirement(radius="x"))
    lines = [describe(people, Requirement(radius="x", tier=tier)) for tier, _ in asked]
    return "\n".join(f"{line}{_more(most)}" for line, (_, most) in zip(lines, asked, strict=True))


def _more(most: int) -> str:
    return f" (up to {most} of them)" if most > 1 else ""
