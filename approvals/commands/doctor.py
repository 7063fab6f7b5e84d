import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence

import click
import redis
from rich.table import Table
from rich.text import Text

from approvals.checkup import checkup, unanswered
from approvals.commands.opening import until_it_ends
from approvals.commands.tables import cell, console
from approvals.errors import ApprovalsError
from approvals.findings import Finding, Level, failure, from_json, to_json, worst
from approvals.opening import open_store
from approvals.overrides import overrides
from approvals.settings import Settings, SettingsRefused
from policies.reviewers import Reviewers, ReviewersRefused

#: A process that checks itself talks to Slack, or to a model, and gives up on either before this.
PATIENCE_S = 90
EXIT_CODES = {Level.OK: 0, Level.WARNING: 1, Level.FAILURE: 2}
_SHOWN = {Level.OK: ("ok", "green"), Level.WARNING: ("warning", "yellow"), Level.FAILURE: ("failure", "bold red")}


@click.command()
@click.option("--json", "as_json", is_flag=True, help="One JSON array of level, about, sentence and fix.")
@click.option(
    "--without",
    "left_out",
    multiple=True,
    type=click.Choice(["bot", "worker"]),
    help="Leave out what only this process can see, where its settings are not at hand.",
)
def doctor(*, as_json: bool, left_out: Sequence[str]) -> None:
    """Look at everything vobo needs. Exit code 0: all is well, 1: warnings, 2: something does not work."""
    processes = [name for name in ("bot", "worker") if name not in left_out]
    found = list(without_repeats([*_own(), *(one for name in processes for one in told_by(name))]))
    if as_json:
        click.echo(to_json(found))
    else:
        console().print(table(found))
    sys.exit(EXIT_CODES[worst(found)])


def _own() -> Iterator[Finding]:
    yield from overrides()
    try:
        settings = Settings.read()
        reviewers = Reviewers.from_toml(settings.reviewers_text())
        opened = open_store(settings, tenant=reviewers.team)
        until_it_ends(opened.store.runs.client)
        yield from checkup(settings, opened)
    except SettingsRefused as refused:
        yield from (failure("settings", line) for line in str(refused).splitlines())
    except ReviewersRefused as refused:
        yield failure("law", str(refused))
    except ApprovalsError as refused:
        yield failure("store", str(refused))
    except redis.RedisError as failed:
        yield unanswered(failed)


def told_by(name: str) -> list[Finding]:
    """What a process finds out about itself. A process of its own, since this package may know neither of them."""
    command = [sys.executable, "-m", name, "--check", "--json"]
    try:
        done = subprocess.run(  # noqa: S603 - this very Python with a module of vobo's
            command, capture_output=True, text=True, timeout=PATIENCE_S, check=False
        )
        return from_json(done.stdout.strip().rpartition("\n")[2])  # a team's module may print while it is imported
    except subprocess.TimeoutExpired:
        said = f"`python -m {name} --check` did not end within {PATIENCE_S} s."
    except ValueError:
        said = f"`python -m {name} --check` ended without a report."
    return [failure(name, said, "Run it by itself to see why.")]


def without_repeats(found: Iterable[Finding]) -> Iterator[Finding]:
    """Each sentence once: what all processes need, all of them miss."""
    seen: set[str] = set()
    for one in found:
        if one.sentence not in seen:
            seen.add(one.sentence)
            yield one


def table(found: Iterable[Finding]) -> Table:
    """One line each: how it stands, what about, the sentence, and in the next line what to do."""
    shown = Table(box=None, show_header=False, pad_edge=False)
    for one in found:
        word, colour = _SHOWN[one.level]
        fix = f"\n{one.fix}" if one.fix else ""
        shown.add_row(Text(word, colour), Text(one.about, "bold"), cell(f"{one.sentence}{fix}", overflow="fold"))
    return shown
