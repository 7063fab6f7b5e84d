"""`python -m bot`: receive from Slack, send to Slack. `--check` says whether it could, and ends."""

import logging
import signal
import sys
import threading

import click

from approvals.errors import ApprovalsError
from approvals.opening import open_store
from bot.assembly import assemble, identify, read_law, slack_client
from bot.errors import BotCannotStart
from bot.settings import BotSettings
from policies.law import LawRefused


@click.command()
@click.option("--check", is_flag=True, help="Check settings, law, store and token, and end.")
def main(*, check: bool) -> None:
    """The Slack side of vobo."""
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s %(message)s")
    try:
        settings = BotSettings.read()
        if check:
            _check(settings)
        else:
            _run(settings)
    except (ApprovalsError, BotCannotStart, LawRefused) as refused:
        click.echo(str(refused), err=True)
        sys.exit(1)


def _check(settings: BotSettings) -> None:
    """Everything that can be known without starting; all problems at once."""
    law = read_law(settings)
    problems = list(law.problems())
    try:
        for warning in open_store(settings, tenant=law.reviewers.team).warnings:
            click.echo(f"Warning: {warning}", err=True)
    except ApprovalsError as refused:
        problems.append(str(refused))
    try:
        team = identify(slack_client(settings)).team
        if team != law.reviewers.team:
            problems.append(f"SLACK_BOT_TOKEN belongs to {team}, but reviewers.toml is for {law.reviewers.team}.")
    except BotCannotStart as refused:
        problems.append(str(refused))
    if problems:
        raise BotCannotStart("\n".join(problems))
    click.echo(f"The bot can start: workspace {law.reviewers.team}, law {law.version}, {len(law.rules)} rules.")


def _run(settings: BotSettings) -> None:
    bot = assemble(settings)
    ended = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: ended.set())
    bot.start()
    click.echo(f"The bot is up for workspace {bot.deps.home_team}.")
    ended.wait()
    bot.stop()


if __name__ == "__main__":
    main()
