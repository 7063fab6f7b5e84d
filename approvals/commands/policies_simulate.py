import re
from collections.abc import Sequence
from itertools import chain
from pathlib import Path

import click
from rich.console import Console
from rich.table import Table

from approvals.candidates import candidate
from approvals.commands.ledger import drained_ledger
from approvals.commands.opening import opened
from approvals.commands.tables import cell
from approvals.recordings import Recordings
from approvals.simulation import Replayed, Verdict, cards, replay, replayable, verdicts_of
from policies.budgets import Budgets
from policies.law import load_law
from policies.requirement import Requirement
from policies.risk import Mode

_UNITS_S = {"h": 3600, "d": 86_400}


@click.command()
@click.argument("place")
@click.option("--since", default="30d", help="How far back, for example 36h or 30d.")
@click.option("--reviewers", default=None, type=click.Path(path_type=Path, exists=True, dir_okay=False))
def simulate(place: str, since: str, reviewers: Path | None) -> None:
    """Replay recorded calls against the rules in PLACE, a directory or a module, and tell what would differ."""
    found, _, settings = opened()
    law = load_law(settings.rules, settings.reviewers_text())
    other = candidate(place, settings, reviewers)
    ledger = drained_ledger(found, settings)
    at = found.store.now() - seconds(since) * 1000
    recorded, unreadable = Recordings(ledger.engine, found.vault).since(found.store.tenant, at)
    calls = [call for call in recorded if replayable(call)]
    verdicts, ran = verdicts_of(chain.from_iterable(ledger.pages(found.store.tenant, since=at)))
    click.echo(f"{len(calls)} calls of the last {since}, judged by law {law.version} then and by {other.version} now.")
    if len(calls) < len(recorded):
        click.echo(f"{len(recorded) - len(calls)} calls were refused because of an earlier rejection; not replayed.")
    if unreadable:
        click.echo(f"{unreadable} recorded calls cannot be opened with the keys in VOBO_STATE_KEYS; not replayed.")
    replayed = replay(other, calls, verdicts, ran)
    _report(replayed)
    _cards(replayed, law.budgets, other.budgets)


def seconds(text: str) -> int:
    """`36h` or `30d` in seconds.

    Raises:
        click.BadParameter: it is neither.
    """
    match = re.fullmatch(r"([1-9][0-9]{0,3})([hd])", text)
    if match is None:
        raise click.BadParameter(f"{text!r} is not a time; write for example 36h or 30d.", param_hint="--since")
    return int(match[1]) * _UNITS_S[match[2]]


def _report(replayed: Sequence[Replayed]) -> None:
    asked = [sum(need.mode is Mode.HUMAN for need in needs) for needs in _both(replayed)]
    click.echo(f"Asked: {asked[0]} then, {asked[1]} now.")
    newly = [one for one in replayed if one.was.mode is not Mode.HUMAN and one.now.mode is Mode.HUMAN]
    saved = [one for one in replayed if one.was.mode is Mode.HUMAN and one.now.mode is Mode.AUTO]
    stopped = [one for one in replayed if one.was.mode is not Mode.FORBIDDEN and one.now.mode is Mode.FORBIDDEN]
    through = [one for one in replayed if one.let_through]
    for title, calls in (
        ("Would have been asked", newly),
        ("Would have been saved: runs unasked", saved),
        ("Would have been refused", stopped),
        ("Would have been LET THROUGH although a person rejected or edited it", through),
    ):
        click.echo(f"{title}: {len(calls)}.")
        if calls:
            Console().print(_table(calls))


def _cards(replayed: Sequence[Replayed], was: Budgets, now: Budgets) -> None:
    then = cards(was, [(one.call, one.was) for one in replayed])
    would = cards(now, [(one.call, one.now) for one in replayed])
    click.echo(f"Cards: {then.cards} then, {would.cards} now.")
    if would.refused:
        click.echo(f"Would have been refused because their runs had no card left: {would.refused}.")


def _both(replayed: Sequence[Replayed]) -> tuple[list[Requirement], list[Requirement]]:
    return [one.was for one in replayed], [one.now for one in replayed]


def _table(calls: Sequence[Replayed]) -> Table:
    shown = Table("call", "run", "tool", "amount", "people", "then", "now")
    for one in calls:
        amount = next(iter(one.was.counts.values()), one.was.amount)
        people = "" if one.verdict is Verdict.NOBODY else one.verdict.value
        then, now = " ".join(one.was.reasons), " ".join(one.now.reasons)
        shown.add_row(*map(cell, (one.call.call, one.call.run, one.call.tool, str(amount or ""), people, then, now)))
    return shown
