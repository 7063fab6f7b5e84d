"""What Slack says about the token, the channels and the people that the bot's settings and the law name."""

import re
from collections.abc import Iterable, Iterator, Mapping
from email.utils import parsedate_to_datetime
from importlib.resources import files
from typing import Any

from slack_sdk import WebClient
from slack_sdk.errors import SlackApiError, SlackClientError

from approvals.checkup import drift
from approvals.findings import Finding, failure, fine, warning
from bot.alerts import remedy
from bot.people import person_from, usergroups_of
from policies.reviewers import Reviewers

MANIFEST = files("bot").joinpath("manifest.yaml")
_SCOPES = re.compile(r"^    bot:\n((?:      - .*\n)+)", re.MULTILINE)
#: So many people are looked up; Slack answers about a hundred such questions a minute.
MOST = 80


def token(told: Any, team: str) -> Iterator[Finding]:
    """Whose token it is, and what it may, from the answer to `auth.test`."""
    if told["team_id"] != team:
        yield failure(
            "slack",
            f"SLACK_BOT_TOKEN belongs to {told['team_id']}, but reviewers.toml is for {team}.",
            "Use the token of that workspace, or correct `team` in reviewers.toml.",
        )
    else:
        yield fine("slack", f"Slack knows SLACK_BOT_TOKEN: workspace {team}, bot {told['user_id']}.")
    granted = _header(told.headers, "x-oauth-scopes")
    if granted is not None:
        yield scopes(granted)


def wanted_scopes() -> frozenset[str]:
    """What the manifest asks for, which is exactly what the bot uses."""
    listed = _SCOPES.search(MANIFEST.read_text(encoding="utf-8"))
    return frozenset(line.split("#")[0].strip("- \n") for line in listed[1].splitlines()) if listed else frozenset()


def scopes(granted: str) -> Finding:
    """Whether the token may all that the bot does."""
    missing = sorted(wanted_scopes() - {scope.strip() for scope in granted.split(",")})
    if not missing:
        return fine("slack", "The token has every scope of bot/manifest.yaml.")
    return failure("slack", f"The token lacks the scopes {', '.join(missing)}.", remedy("missing_scope"))


def clock(headers: Mapping[str, Any], store_s: float) -> Iterator[Finding]:
    """How far Slack's clock is from the store's: signed requests older than five minutes are refused."""
    said = _header(headers, "date")
    if said is not None:
        yield drift("Slack's", store_s, parsedate_to_datetime(said).timestamp())


def channel(client: WebClient, name: str, what: str) -> Finding:
    """Whether messages can be posted there."""
    try:
        told: Any = client.conversations_info(channel=name)["channel"]
    except SlackApiError as refused:
        error = str(refused.response.get("error"))
        return _read(client, name, what) if error == "missing_scope" else _no_channel(name, what, error)
    except (SlackClientError, OSError) as failed:
        return _unanswered(what, failed)
    if told.get("is_archived"):
        return _no_channel(name, what, "is_archived")
    return _joined(name, what) if told.get("is_member", True) else _no_channel(name, what, "not_in_channel")


def _read(client: WebClient, name: str, what: str) -> Finding:
    """`conversations.info` wants a scope that nothing else needs; whoever may read a channel is in it."""
    try:
        client.conversations_history(channel=name, limit=1)
    except SlackApiError as refused:
        return _no_channel(name, what, str(refused.response.get("error")))
    except (SlackClientError, OSError) as failed:
        return _unanswered(what, failed)
    return _joined(name, what)


def people(client: WebClient, reviewers: Reviewers) -> Iterator[Finding]:
    """Whoever the law names and Slack does not know as a full member, and usergroups that are gone or switched off."""
    named = named_users(reviewers)
    ill = [finding for user in named[:MOST] for finding in _person(client, reviewers, user)]
    yield from ill
    lost = list(_usergroups(client, usergroups_of(reviewers)))
    yield from lost
    if len(named) > MOST:
        yield warning("people", f"{len(named)} people are named; only the first {MOST} were looked up.")
    elif not ill and not lost:
        yield fine("people", f"Slack knows all {len(named)} people and every usergroup that reviewers.toml names.")


def named_users(reviewers: Reviewers) -> list[str]:
    """Every user that the law names, each once."""
    users = [user for tier in reviewers.tiers.values() for user in tier.users]
    users += [*reviewers.ops, *(one.by for one in reviewers.standins), *(reviewers.starters or ())]
    return [user for user in dict.fromkeys(users) if not user.startswith("S")]


def _person(client: WebClient, reviewers: Reviewers, user: str) -> Iterator[Finding]:
    name = reviewers.name_of(user)
    who = user if name == user else f"{name} ({user})"
    try:
        person = person_from(client.users_info(user=user)["user"])
    except SlackApiError as refused:
        error = refused.response.get("error")
        yield warning("people", f"Slack does not know {who} ({error}).", "Correct the id in reviewers.toml.")
        return
    except (SlackClientError, OSError) as failed:
        yield _unanswered(who, failed)
        return
    wrong = {
        "is deactivated": person.deactivated,
        "is a guest": person.guest,
        "is a bot": person.bot,
        f"belongs to {person.team}": person.stranger or (bool(person.team) and person.team != reviewers.team),
    }
    for what, so in wrong.items():
        if so:
            yield warning("people", f"{who} {what} and may decide nothing.", "Name somebody else in reviewers.toml.")


def _usergroups(client: WebClient, wanted: Iterable[str]) -> Iterator[Finding]:
    groups = tuple(wanted)
    if not groups:
        return
    try:
        told: Any = client.usergroups_list(include_disabled=True)["usergroups"]
    except SlackApiError as refused:
        yield failure(
            "people", f"Slack does not list usergroups ({refused.response.get('error')}).", remedy("missing_scope")
        )
        return
    except (SlackClientError, OSError) as failed:
        yield _unanswered("the usergroups", failed)
        return
    known = {one["id"]: not one.get("date_delete") for one in told}
    for group in groups:
        if not known.get(group):
            what = "is switched off in Slack" if group in known else "does not exist in Slack"
            yield warning("people", f"The usergroup {group} {what}.", "Correct it in reviewers.toml, or switch it on.")


def _joined(name: str, what: str) -> Finding:
    return fine("channels", f"{what} {name} can be written to.")


def _no_channel(name: str, what: str, error: str) -> Finding:
    return failure("channels", f"{what} {name} cannot be written to ({error}).", remedy(error))


def _unanswered(what: str, failed: Exception) -> Finding:
    return warning("slack", f"Slack did not answer about {what} ({type(failed).__name__}).", "Try again.")


def _header(headers: Mapping[str, Any], name: str) -> str | None:
    """A header, whatever its case; slack_sdk keeps some as lists."""
    for key, value in headers.items():
        if key.lower() == name:
            return str(value[0] if isinstance(value, list) else value)
    return None
