"""`python -m bot`: receive from Slack, send to Slack. `--check` says whether it could, and ends."""

import logging
import signal
import sys
import threading

import click

from approvals.errors import ApprovalsError
from approvals.findings import report
from approvals.logs import configure_logs
from approvals.trace_export import start_traces
from bot.assembly import assemble
from bot.awaiting import await_what_it_needs
from bot.check import check as check_bot
from bot.errors import BotCannotStart
from bot.serving import Served
from bot.settings import BotSettings
from policies.law import LawRefused


@click.command()
@click.option("--check", is_flag=True, help="Check settings, law, store and token, and end.")
@click.option("--json", "as_json", is_flag=True, help="With --check: one JSON array of level, about, sentence, fix.")
def main(*, check: bool, as_json: bool) -> None:
    """The Slack side of vobo."""
    try:
        configure_logs("bot")
        if check:
            sys.exit(_check(as_json=as_json))
        else:
            _run(BotSettings.read())
    except (ApprovalsError, BotCannotStart, LawRefused) as refused:
        click.echo(str(refused), err=True)
        sys.exit(1)


def _check(*, as_json: bool) -> int:
    logging.getLogger("slack_sdk").setLevel(logging.CRITICAL)  # a finding says the same in a sentence
    found = check_bot()
    law = next((one.sentence for one in found if one.about == "law"), "")
    return report(found, as_json=as_json, well=f"The bot can start. {law}", surprise="Warning")


def _run(settings: BotSettings) -> None:
    end_traces = start_traces("bot")
    bot = assemble(settings, await_what_it_needs(settings))
    if isinstance(bot.front, Served):
        bot.deps.store.changes.note_start(bot.deps.law, settings, process="bot")
    ended = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: ended.set())
    bot.start()
    teams = (bot.deps.home_team,) if isinstance(bot.front, Served) else bot.front.teams
    click.echo(f"The bot is up for workspace {', '.join(teams) or 'nobody yet: open /slack/install'}.")
    ended.wait()
    bot.stop()
    end_traces()


if __name__ == "__main__":
    main()
