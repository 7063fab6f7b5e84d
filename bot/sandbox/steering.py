"""Control verbs that change the weather: faults, channels, people, tokens, time; and the ones that look around."""

from collections.abc import Awaitable, Callable

from bot.sandbox.api_views import actor_key
from bot.sandbox.clicking import told_view
from bot.sandbox.errors import SandboxError
from bot.sandbox.faults import Fault
from bot.sandbox.installing import uninstall
from bot.sandbox.model import Channel, Json, Message, Usergroup
from bot.sandbox.office import Office
from bot.sandbox.seed import BOT_USER
from bot.sandbox.view_stacks import View

Verb = Callable[[Office, Json], Awaitable[Json]]
_USER_FLAGS = ("deleted", "is_restricted", "is_ultra_restricted", "is_bot", "is_stranger", "team_id", "real_name")
_USER_TRAITS = ("locale", "tz")


async def fault(office: Office, args: Json) -> Json:
    """Plan a misfortune of a Web API method."""
    office.faults.plan(Fault(**args))
    return office.faults.told()


async def deliveries_fault(office: Office, args: Json) -> Json:
    """Plan doubled, vanished or unacknowledged deliveries."""
    for kind in ("duplicate", "lose", "lose_acks"):
        setattr(office.faults, kind, int(args.get(kind, getattr(office.faults, kind))))
    return office.faults.told()


async def clear_faults(office: Office, _args: Json) -> Json:
    """Good weather."""
    office.faults.clear()
    return office.faults.told()


async def drop_connections(office: Office, args: Json) -> Json:
    """End all Socket Mode connections."""
    return {"dropped": await office.sockets.drop(politely=bool(args.get("politely")))}


async def deafen(office: Office, _args: Json) -> Json:
    """All Socket Mode connections stay open and go silent, until the app connects anew."""
    return {"deaf": office.sockets.deafen()}


async def channel(office: Office, args: Json) -> Json:
    """Archive a channel or bring it back; put the bot in or take it out."""
    place = office.world.channel(args["channel"])
    if "archived" in args:
        place.is_archived = bool(args["archived"])
    if "bot_is_member" in args:
        (place.members.add if args["bot_is_member"] else place.members.discard)(BOT_USER)
    office.world.changed()
    return place.to_slack(BOT_USER)


async def token(office: Office, args: Json) -> Json:
    """Revoke every token of the app, or give them back."""
    tokens = office.world.bot_tokens | office.world.app_tokens
    office.world.revoked_tokens = tokens if args.get("revoked") else set()
    return {"revoked": sorted(office.world.revoked_tokens)}


async def remove_app(office: Office, _args: Json) -> Json:
    """Somebody removes the app from the workspace."""
    return uninstall(office)


async def expire_tokens(office: Office, _args: Json) -> Json:
    """Twelve hours pass, for tokens alone."""
    office.world.oauth.expire()
    return {}


async def rate_limits(office: Office, args: Json) -> Json:
    """Switch rate limits on or off; `burst` and `per_second` concern chat.postMessage per channel."""
    settings = office.world.settings
    settings.rate_limits = bool(args.get("on", True))
    settings.post_burst = int(args.get("burst", settings.post_burst))
    settings.post_per_second = float(args.get("per_second", settings.post_per_second))
    return {"on": settings.rate_limits}


async def user(office: Office, args: Json) -> Json:
    """Change what Slack says about a person."""
    person = office.world.users.get(args["user"])
    if person is None:
        raise SandboxError(f"There is no user {args['user']}.")
    for flag in (*_USER_FLAGS, *_USER_TRAITS):
        if flag in args:
            setattr(person, flag, args[flag])
    office.world.changed()
    return person.to_slack()


async def usergroup(office: Office, args: Json) -> Json:
    """Set the members of a user group."""
    group: Usergroup | None = office.world.usergroups.get(args["usergroup"])
    if group is None:
        raise SandboxError(f"There is no user group {args['usergroup']}.")
    group.users = list(args["users"])
    return {"users": group.users}


async def advance(office: Office, args: Json) -> Json:
    """Let time pass for triggers, response URLs, rate limits and timestamps."""
    office.world.clock.advance(float(args["seconds"]))
    return {"now": office.world.clock.now()}


async def read(office: Office, args: Json) -> Json:
    """Note that a person has seen a channel up to a message."""
    office.world.reads[args["user"], args["channel"]] = args["ts"]
    office.world.changed()
    return {}


async def view(office: Office, args: Json) -> Json:
    """The modal a person sees, or null."""
    top = office.views.top(office.world.actor(args["user"], args.get("team_id")))
    return {"view": None if top is None else _dumped(top)}


async def home(office: Office, args: Json) -> Json:
    """The app home published for a person, or null."""
    shown = office.views.home(office.world.actor(args["user"], args.get("team_id")))
    return {"view": None if shown is None else _dumped(shown)}


async def deliveries(office: Office, args: Json) -> Json:
    """The log of deliveries, oldest first; `kind` narrows it."""
    kind = args.get("kind")
    return {"deliveries": [one.told() for one in office.courier.log if kind in (None, one.kind)]}


async def state(office: Office, _args: Json) -> Json:
    """Everything."""
    return {
        "channels": {place.id: dumped_channel(office, place) for place in office.world.channels.values()},
        "views": {actor_key(actor): [_dumped(v) for v in stack] for actor, stack in office.views.everything().items()},
        "homes": {who: _dumped(shown) for who, shown in office.views.homes.items()},
        "notices": office.world.notices,
        "faults": office.faults.told(),
        "connections": len(office.sockets),
    }


async def messages(office: Office, args: Json) -> Json:
    """The messages of one channel, oldest first, ephemeral ones included and marked."""
    return dumped_channel(office, office.world.channel(args["channel"]))


def dumped_channel(office: Office, place: Channel) -> Json:
    """A channel with all its messages and their earlier versions."""
    return {
        **place.to_slack(BOT_USER),
        "messages": [_dumped_message(office, place, one) for one in place.messages.values()],
    }


def _dumped_message(office: Office, place: Channel, message: Message) -> Json:
    return {
        **office.world.told(place, message),
        "only_for": message.only_for,
        "versions": message.versions,
        "arguments": message.arguments,
    }


def _dumped(shown: View) -> Json:
    return {**told_view(shown), "errors": shown.errors}


VERBS: dict[str, Verb] = {
    "fault": fault,
    "deliveries_fault": deliveries_fault,
    "clear_faults": clear_faults,
    "drop_connections": drop_connections,
    "deafen": deafen,
    "channel": channel,
    "token": token,
    "rate_limits": rate_limits,
    "uninstall": remove_app,
    "expire_tokens": expire_tokens,
    "user": user,
    "usergroup": usergroup,
    "advance": advance,
    "read": read,
    "view": view,
    "home": home,
    "deliveries": deliveries,
    "state": state,
    "messages": messages,
}
