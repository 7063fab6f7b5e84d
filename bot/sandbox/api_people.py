"""auth.*, team.*, users.*, usergroups.*, apps.*: who is who."""

from bot.sandbox.api_call import Call, page
from bot.sandbox.errors import SlackError
from bot.sandbox.installing import uninstall
from bot.sandbox.model import Json, Usergroup
from bot.sandbox.seed import BOT_ID, BOT_USER


async def auth_test(call: Call) -> Json:
    """auth.test."""
    return {
        "url": f"{call.office.world.base_url}/",
        "team": call.office.world.settings.team_name,
        "user": "vobo",
        "team_id": call.office.world.home_team,
        "user_id": BOT_USER,
        "bot_id": BOT_ID,
        "is_enterprise_install": False,
    }


async def auth_revoke(call: Call) -> Json:
    """auth.revoke: the token that asks opens nothing any more."""
    call.office.world.oauth.revoke(call.token)
    return {"revoked": True}


async def oauth_access(call: Call) -> Json:
    """oauth.v2.access: a code or a refresh token for a token."""
    granted = call.office.world.oauth.exchange(call.args)
    call.office.world.bot_tokens.add(granted["access_token"])
    return granted


async def uninstall_app(call: Call) -> Json:
    """apps.uninstall: the app removes itself from the workspace."""
    call.office.world.oauth.check_app(call.args)
    uninstall(call.office)
    return {}


async def open_connection(call: Call) -> Json:
    """apps.connections.open."""
    return {"url": call.office.sockets.invite()}


async def team_info(call: Call) -> Json:
    """team.info."""
    own = {"id": call.office.world.home_team, "name": call.office.world.settings.team_name}
    return {"team": {**own, "domain": call.office.world.settings.team_domain, "email_domain": "example.test"}}


async def user_info(call: Call) -> Json:
    """users.info."""
    user = call.office.world.users.get(str(call.need("user", "user_not_found")))
    if user is None:
        raise SlackError("user_not_found")
    return {"user": user.to_slack(include_locale=call.flag("include_locale"))}


async def list_users(call: Call) -> Json:
    """users.list: the home team and the strangers it shares channels with."""
    found, more = page([user.to_slack() for user in call.office.world.users.values()], call)
    return {"members": found, "response_metadata": more}


async def list_usergroups(call: Call) -> Json:
    """usergroups.list."""
    found = []
    for group in call.office.world.usergroups.values():
        told = group.to_slack(call.office.world.home_team)
        found.append(told | {"users": _active(call, group)} if call.flag("include_users") else told)
    return {"usergroups": found}


async def list_usergroup_users(call: Call) -> Json:
    """usergroups.users.list: deactivated people only with include_disabled."""
    group = call.office.world.usergroups.get(str(call.need("usergroup", "no_such_subteam")))
    if group is None:
        raise SlackError("no_such_subteam")
    return {"users": list(group.users) if call.flag("include_disabled") else _active(call, group)}


def _active(call: Call, group: Usergroup) -> list[str]:
    people = call.office.world.users
    return [user for user in group.users if user in people and not people[user].deleted]


METHODS = {
    "auth.test": auth_test,
    "auth.revoke": auth_revoke,
    "oauth.v2.access": oauth_access,
    "apps.connections.open": open_connection,
    "apps.uninstall": uninstall_app,
    "team.info": team_info,
    "users.info": user_info,
    "users.list": list_users,
    "usergroups.list": list_usergroups,
    "usergroups.users.list": list_usergroup_users,
}
