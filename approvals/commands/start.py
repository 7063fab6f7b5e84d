import getpass
import hashlib
import re
from collections.abc import Callable

import click

from approvals.alive import asleep
from approvals.commands.opening import opened
from approvals.outcomes import Outcome
from policies.person import Person
from policies.reviewers import may_start


def _slack_id(letters: str) -> Callable[[click.Context, click.Parameter, str], str]:
    def check(_context: click.Context, _parameter: click.Parameter, value: str) -> str:
        if not re.fullmatch(f"[{letters}][A-Z0-9_]{{2,}}", value):
            example = f"{letters[0]}0123ABCD"
            raise click.BadParameter(f"{value!r} is not a Slack id such as {example}; names and #channels do not work.")
        return value

    return check


@click.command()
@click.argument("request")
@click.option(
    "--channel",
    required=True,
    callback=_slack_id("CG"),
    help="Id of the channel (C...) where the run is told and reviewed.",
)
@click.option(
    "--requester",
    required=True,
    callback=_slack_id("UW"),
    help="Slack user id on whose behalf the run acts; may not approve it.",
)
@click.option("--agent", default="", help="Which agent of VOBO_AGENT; the first when not given.")
@click.option("--once", default=None, help="A key of your own: the same key starts the same run only once.")
def start(request: str, channel: str, requester: str, agent: str, once: str | None) -> None:
    """Start a run from cron or code: vobo start "refund the failed payments" --channel C123 --requester U123."""
    found, reviewers, _ = opened()
    # The same question as at the mention. Whom Slack never showed us is a member, unless starters are named.
    unknown = Person(user=requester, name=requester, team=reviewers.team)
    person = found.store.people.get(requester) or unknown
    refusal = may_start(reviewers, person, clicker_team=reviewers.team, agent=agent)
    if refusal is not None:
        raise click.ClickException(f"{requester} may not start this run: {refusal.sentence}")
    run = f"run_{hashlib.sha256(once.encode()).hexdigest()[:12]}" if once else found.store.new_id("run")
    answer = found.store.runs.start(
        run, request=request, requester=requester, channel=channel, thread_ts="", agent=agent
    )
    if answer.outcome is Outcome.REPEATED:
        click.echo(f"{run} was started before; nothing new was started.")
        return
    click.echo(f"{run} is queued by {getpass.getuser()}; the bot opens a thread in {channel}.")
    for sentence in asleep(found.store):
        click.echo(f"Warning: {sentence}", err=True)
