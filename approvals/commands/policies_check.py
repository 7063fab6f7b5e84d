import sys
from collections.abc import Iterator

import click

from approvals.candidates import candidate
from approvals.commands.opening import opened
from approvals.errors import ApprovalsError
from approvals.settings import LawSettings
from policies.law import Law, load_law
from policies.plain_text import visible_lines


@click.command()
@click.option("--candidate", "place", default=None, help="A directory or module of rules instead of the law in force.")
def check(place: str | None) -> None:
    """Say what cannot work, with exit code 1, and what may surprise."""
    settings = LawSettings.read()
    law = candidate(place, settings) if place else load_law(settings.rules, settings.reviewers_text())
    gaps = law.gaps()
    problems = (*law.problems(), *gaps)
    for problem in problems:
        click.echo(visible_lines(problem))
    for note in (*law.notes(), *_unruled(law)):
        if note not in gaps:
            click.echo(f"Note: {visible_lines(note)}")
    if problems:
        sys.exit(1)
    click.echo(f"Law {law.version}: {len(law.rules)} rules, nothing in it keeps calls from being decided.")


def _unruled(law: Law) -> Iterator[str]:
    """Tools that a worker has loaded and that no rule covers; a note when nobody can tell."""
    try:
        found, _, _ = opened()
        tools = found.store.switches.worker_tools()
    except ApprovalsError:
        yield "The store cannot be read here; `python -m worker --check` names tools without a rule."
        return
    if not tools:
        yield "No worker has said yet which tools it gates; start one, then check again."
    for tool in tools:
        if tool not in law.rules:
            yield f"The tool {tool} has no rule, so all its calls ask the strictest tier, {law.reviewers.strictest}."
