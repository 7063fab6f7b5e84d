"""What `vobo init` takes for an answer, however it was given; every refusal shows what would be one."""

import keyword
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from approvals.commands.init_env import manifest_text
from approvals.settings import SettingsRefused
from policies.money import Money, MoneyRefused

SAMPLE = "sample"
#: Names may be given to the ids: `U0123ABCD=Ana`.
_NAMED = "="
_TEAM = re.compile(r"[TE][A-Z0-9_]+")
_USER = re.compile(r"[UW][A-Z0-9_]+")
_CHANNEL = re.compile(r"[CG][A-Z0-9_]+")
_ZONE = re.compile(r"[A-Za-z0-9_+/-]+")
_STARTS = {"SLACK_BOT_TOKEN": "xoxb-", "SLACK_APP_TOKEN": "xapp-"}
_PORTS = range(1, 65536)


def listed(text: str) -> tuple[str, ...]:
    """The parts between the commas."""
    return tuple(part.strip() for part in text.split(",") if part.strip())


def named(texts: Iterable[str]) -> dict[str, str]:
    """Each id once, with the name that was given to it, else none: `U0ANA=Ana`, `U0BEN`."""
    found: dict[str, str] = {}
    for text in texts:
        user, _, name = (part.strip() for part in text.partition(_NAMED))
        found[user] = name or found.get(user, "")
    return found


def check_who_decides(given: Mapping[str, Any]) -> None:
    """Refuse what can be no workspace, tool, zone, limit or person."""
    check_tool(given["tool"])
    check_team(given["team"])
    check_zone(given["zone"])
    if given["limit"] is not None:
        check_limit(given["limit"])
    for one in given["operators"]:
        check_user(one)
    check_reviewers(given["tool"])(tuple(given["reviewers"]))


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
    try:
        known = bool(_ZONE.fullmatch(text)) and ZoneInfo(text) is not None
    except (ZoneInfoNotFoundError, ValueError, OSError):  # OSError: a directory of zones, such as Europe
        known = False
    if not known:
        raise SettingsRefused(f"{text!r} is not a time zone; write for example Europe/Berlin.")


def check_limit(text: str) -> None:
    """Refuse what is no amount in EUR, the sample's currency."""
    try:
        Money.typed(text, "EUR")
    except MoneyRefused as refused:
        raise SettingsRefused(str(refused)) from None


def check_user(text: str) -> None:
    """Refuse what is no person's id."""
    if not _USER.fullmatch(text):
        raise SettingsRefused(f"{text!r} is not a Slack user id; ids look like U0123ABCD, not @name.")


def check_reviewers(tool: str) -> Callable[[Sequence[str]], None]:
    """What refuses people who are none, and too few for the rules of the sample."""

    def check(texts: Sequence[str]) -> None:
        people = named(texts)
        for user in people:
            check_user(user)
        if tool == SAMPLE and len(people) == 1:
            raise SettingsRefused(
                "The sample asks two different people about refunds over 250.00 EUR and about deploys. Name two;"
                " with --self-approval you may be one of them. To try it alone: make demo."
            )

    return check


def check_channel(text: str) -> None:
    """Refuse what is no channel's id; nothing at all may wait."""
    if text and not _CHANNEL.fullmatch(text):
        raise SettingsRefused(f"{text!r} is not a Slack channel id; ids look like C0123ABCD, not #name.")


def check_host(text: str) -> None:
    """Refuse what Slack cannot reach; nothing at all is Socket Mode."""
    if text:
        manifest_text(text)


def check_port(text: str) -> None:
    """Refuse what is no port's number."""
    if not (text.isascii() and text.isdigit() and int(text) in _PORTS):
        raise SettingsRefused(f"{text!r} is not a port; write a whole number from 1 to 65535, for example 3000.")


def token_check(name: str) -> Callable[[str], None]:
    """What refuses a text that cannot be this token; nothing at all may wait."""

    def check(text: str) -> None:
        start = _STARTS.get(name, "")
        if text and not text.startswith(start):
            raise SettingsRefused(f"What you typed as {name} is none: it begins with {start}.")

    return check
