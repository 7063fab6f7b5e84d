"""What `vobo init` asks at a terminal. A wrong answer is asked for again at once."""

from collections.abc import Callable, Mapping
from typing import Any

import click

from approvals.commands.init_checks import (
    SAMPLE,
    check_channel,
    check_host,
    check_limit,
    check_port,
    check_reviewers,
    check_team,
    check_tool,
    check_zone,
    listed,
    named,
    token_check,
)
from approvals.errors import ApprovalsError
from approvals.redis_address import Address
from approvals.settings import SettingsRefused

OFFLINE = "offline"
PORT = 3000
REDIS = "redis://localhost:6379/0"
ZONE = "UTC"
#: What one run of the sample may refund at most; whoever may decide less could not approve its largest card.
SAMPLE_LIMIT = "5000.00"
_LATER = "(Enter: later)"
_TOKENS = {
    "SLACK_BOT_TOKEN": "Bot token, xoxb-... (OAuth & Permissions of the Slack app)",
    "SLACK_SIGNING_SECRET": "Signing secret (Basic Information of the Slack app)",
    "SLACK_APP_TOKEN": "App-level token, xapp-... (Basic Information of the Slack app)",
    "OPENAI_API_KEY": "OPENAI_API_KEY",
}


def who_decides(given: Mapping[str, Any], *, asking: bool, never: bool) -> dict[str, Any]:
    """Tool, workspace and reviewers: as given, else asked for. `asking` also asks what has a default.

    Reviewers are found as id and name. Raises:
        SettingsRefused: nobody may be asked and it was not given.
    """
    found = dict(given)
    if found["team"] is None:
        _may_ask(never, "--team, the id of your Slack workspace (T...)")
        words = "Id of your Slack workspace, T... (in a browser: app.slack.com/client/T...)"
        found["team"] = typed(words, check_team)
    if found["tool"] is None:
        words = f"Name of your first tool ({SAMPLE}: begin with the sample refund desk)"
        wanted = asking or not (found["reviewers"] or never)
        found["tool"] = typed(words, check_tool, default=SAMPLE) if wanted else SAMPLE
    found["reviewers"] = _people(found, asking=asking, never=never)
    if found["zone"] is None:
        words = "Time zone of your business hours, for example Europe/Berlin"
        found["zone"] = typed(words, check_zone, default=ZONE) if asking else ZONE
    if found["limit"] is None and found["tool"] == SAMPLE:
        words = "The highest amount each of them may decide, in EUR"
        found["limit"] = typed(words, check_limit, default=SAMPLE_LIMIT) if asking else SAMPLE_LIMIT
    return found


def _people(given: Mapping[str, Any], *, asking: bool, never: bool) -> dict[str, str]:
    """Who may decide, by id, and their names where somebody gave one."""
    check = check_reviewers(given["tool"])
    people = named(given["reviewers"])
    if not people:
        _may_ask(never, "--reviewer, a Slack user id (U...) of somebody who may decide; once for each")
        words = 'Slack user ids of those who may decide, U... (profile, "Copy member ID"), comma-separated'
        people = named(listed(typed(words, lambda text: check(listed(text) or (text,)))))
    if asking and len(people) == 1 and given["tool"] != SAMPLE and not given["self_approval"]:
        words = "Who else, since nobody may approve what they started (Enter: nobody)"
        people |= named(listed(typed(words, lambda text: check(listed(text)), default="", show_default=False)))
    if not asking:
        return people
    return {user: name or typed(f"Name of {user} on cards", str, default=user) for user, name in people.items()}


def how_it_runs(given: Mapping[str, Any]) -> dict[str, Any]:
    """What somebody at a terminal is asked beside the law. An empty answer means later."""
    found: dict[str, Any] = {}
    if given["redis_url"] is None:
        found["redis_url"] = typed("Redis or Valkey that keeps the state", Address.of, default=REDIS)
    if given["host"] is None:
        words = "Address at which Slack reaches the bot, https://... (Enter: Socket Mode)"
        found["host"] = typed(words, check_host, default="", show_default=False) or None
    host = given["host"] or found.get("host")
    if host and given["port"] is None:
        found["port"] = int(typed("Port where the bot listens", check_port, default=str(PORT)))
    if given["ops_channel"] is None:
        found["ops_channel"] = typed(f"Id of the channel for ops, C... {_LATER}", check_channel, default="")
    if given["model"] is None:
        words = "the sample's offline planner" if given["tool"] == SAMPLE else "later; your own agent needs one"
        found["model"] = click.prompt(f"Name of the model (Enter: {words})", default="", show_default=False)
    model = given["model"] or found.get("model")
    secrets = ["SLACK_BOT_TOKEN", "SLACK_SIGNING_SECRET" if host else "SLACK_APP_TOKEN"]
    secrets += ["OPENAI_API_KEY"] if model and model != OFFLINE else []
    for name in secrets:
        check = token_check(name)
        found[name] = typed(f"{_TOKENS[name]} {_LATER}", check, default="", hide_input=True, show_default=False)
    return found


def typed(words: str, check: Callable[[str], object], **options: Any) -> str:
    """An answer that `check` takes; asked again for as long as it does not."""

    def taken(text: str) -> str:
        text = text.strip()
        try:
            check(text)
        except ApprovalsError as refused:
            raise click.UsageError(str(refused)) from refused
        return text

    return str(click.prompt(words, value_proc=taken, **options))


def _may_ask(never: bool, what: str) -> None:  # noqa: FBT001 - it reads as a sentence
    if never:
        raise SettingsRefused(f"Not given, and nobody may be asked: {what}.")
