"""What `vobo init` asks at a terminal, and what it takes for an answer. A wrong answer is asked for again at once."""

import keyword
import re
from collections.abc import Callable, Mapping
from typing import Any

import click

from approvals.errors import ApprovalsError
from approvals.redis_address import Address
from approvals.settings import SettingsRefused

SAMPLE = "sample"
OFFLINE = "offline"
PORT = 3000
REDIS = "redis://localhost:6379/0"
_TEAM = re.compile(r"[TE][A-Z0-9_]+")
_USER = re.compile(r"[UW][A-Z0-9_]+")
_CHANNEL = re.compile(r"[CG][A-Z0-9_]+")
_ZONE = re.compile(r"[A-Za-z0-9_+/-]+")
_LATER = "(Enter: later)"
_STARTS = {"SLACK_BOT_TOKEN": "xoxb-", "SLACK_APP_TOKEN": "xapp-"}


def who_decides(given: Mapping[str, Any], *, asking: bool, never: bool) -> dict[str, Any]:
    """Tool, workspace and reviewers: as given, else asked for. `asking` also asks what has a default.

    Raises:
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
    if not found["reviewers"]:
        _may_ask(never, "--reviewer, a Slack user id (U...) of somebody who may decide; once for each")
        words = 'Slack user ids of those who may decide, U... (profile, "Copy member ID"), comma-separated'
        found["reviewers"] = listed(typed(words, check_users))
    return found


def how_it_runs(given: Mapping[str, Any]) -> dict[str, Any]:
    """What somebody at a terminal is asked beside the law. An empty answer means later."""
    found: dict[str, Any] = {}
    if given["redis_url"] is None:
        found["redis_url"] = typed("Redis or Valkey that keeps the state", Address.of, default=REDIS)
    if given["host"] is None:
        found["host"] = click.prompt("Address at which Slack reaches the bot (Enter: Socket Mode)", default="") or None
    host = given["host"] or found.get("host")
    if host and given["port"] is None:
        found["port"] = click.prompt("Port where the bot listens", default=PORT, type=click.IntRange(1, 65535))
    if given["ops_channel"] is None:
        found["ops_channel"] = typed(f"Id of the channel for ops, C... {_LATER}", check_channel, default="")
    if given["model"] is None:
        words = "the sample's offline planner" if given["tool"] == SAMPLE else "later; your own agent needs one"
        found["model"] = click.prompt(f"Name of the model (Enter: {words})", default="")
    secrets = {"SLACK_BOT_TOKEN": "Bot token, xoxb-..."}
    model = given["model"] or found.get("model")
    secrets |= {"SLACK_SIGNING_SECRET": "Signing secret"} if host else {"SLACK_APP_TOKEN": "App token, xapp-..."}
    secrets |= {"OPENAI_API_KEY": "OPENAI_API_KEY"} if model and model != OFFLINE else {}
    for name, words in secrets.items():
        check = token_check(name)
        found[name] = typed(f"{words} {_LATER}", check, default="", hide_input=True, show_default=False)
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


def listed(text: str) -> tuple[str, ...]:
    """The parts between the commas."""
    return tuple(part.strip() for part in text.split(",") if part.strip())


def check_who_decides(given: Mapping[str, Any]) -> None:
    """Refuse what can be no workspace, tool, zone or person, however it was given."""
    check_tool(given["tool"])
    check_team(given["team"])
    check_zone(given["zone"])
    for one in (*given["reviewers"], *given["operators"]):
        check_user(one)


def check_tool(name: str) -> None:
    """Refuse what can be no name of a function."""
    if not re.fullmatch(r"[a-z][a-z0-9_]{0,62}", name) or keyword.iskeyword(name):
        raise SettingsRefused(
            f"{name!r} cannot be the name of a tool; write it as a Python function, such as send_mail."
        )


def check_team(text: str) -> None:
    """Refuse what is no workspace's id."""
    if not _TEAM.fullmatch(text):
        raise SettingsRefused(f"{text!r} is not the id of a Slack workspace; ids look like T0123ABCD, not a name.")


def check_zone(text: str) -> None:
    """Refuse what is no time zone's name."""
    if not _ZONE.fullmatch(text):
        raise SettingsRefused(f"{text!r} is not a time zone; write for example Europe/Berlin.")


def check_user(text: str) -> None:
    """Refuse what is no person's id."""
    if not _USER.fullmatch(text):
        raise SettingsRefused(f"{text!r} is not a Slack user id; ids look like U0123ABCD, not @name.")


def check_users(text: str) -> None:
    """Refuse a list with anything else in it, and an empty one."""
    for one in listed(text) or (text,):
        check_user(one)


def check_channel(text: str) -> None:
    """Refuse what is no channel's id; nothing at all may wait."""
    if text and not _CHANNEL.fullmatch(text):
        raise SettingsRefused(f"{text!r} is not a Slack channel id; ids look like C0123ABCD, not #name.")


def token_check(name: str) -> Callable[[str], None]:
    """What refuses a text that cannot be this token; nothing at all may wait."""

    def check(text: str) -> None:
        start = _STARTS.get(name, "")
        if text and not text.startswith(start):
            raise SettingsRefused(f"What you typed as {name} is none: it begins with {start}.")

    return check


def _may_ask(never: bool, what: str) -> None:  # noqa: FBT001 - it reads as a sentence
    if never:
        raise SettingsRefused(f"Not given, and nobody may be asked: {what}.")
