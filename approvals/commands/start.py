import getpass
import hashlib

import click

from approvals.commands.opening import opened
from approvals.outcomes import Outcome


@click.command()
@click.argument("request")
@click.option("--channel", required=True, help="Id of the channel (C...) where the run is told and reviewed.")
@click.option("--requester", required=True, help="Slack user id on whose behalf the run acts; may not approve it.")
@click.option("--agent", default="", help="Which agent of VOBO_AGENT; the first when not given.")
@click.option("--once", default=None, help="A key of your own: the same key starts the same run only once.")
def start(request: str, channel: str, requester: str, agent: str, once: str | None) -> None:
    """Start a run from cron or code: vobo start "refund the failed payments" --channel C123 --requester U123."""
    found, _, _ = opened()
    run = f"run_{hashlib.sha256(once.encode()).hexdigest()[:12]}" if once else found.store.new_id("run")
    answer = found.store.runs.start(
        run, request=request, requester=requester, channel=channel, thread_ts="", agent=agent
    )
    if answer.outcome is Outcome.REPEATED:
        click.echo(f"{run} was started before; nothing new was started.")
        return
    click.echo(f"{run} is queued by {getpass.getuser()}; the bot opens a thread in {channel}.")
