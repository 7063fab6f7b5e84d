"""views.*: modals and app homes."""

from bot.sandbox.api_call import Call
from bot.sandbox.clicking import told_view
from bot.sandbox.errors import SlackError
from bot.sandbox.model import Actor, Json
from bot.sandbox.validate_view import checked_view
from bot.sandbox.view_stacks import View


async def open_view(call: Call) -> Json:
    """views.open."""
    actor, _ = call.office.triggers.exchange(_trigger(call))
    view = checked_view(call.need("view"), "modal")
    return {"view": told_view(call.office.views.open(actor, view))}


async def push_view(call: Call) -> Json:
    """views.push: only with a trigger born in a modal."""
    actor, born_in = call.office.triggers.exchange(_trigger(call))
    view = checked_view(call.need("view"), "modal")
    stack = call.office.views.stack(actor)
    if born_in is None or born_in not in {one.id for one in stack}:
        raise SlackError("not_found")
    return {"view": told_view(call.office.views.push(actor, view))}


async def update_view(call: Call) -> Json:
    """views.update."""
    shown = call.office.views.find(call.args.get("view_id"), call.args.get("external_id"))
    view = checked_view(call.need("view"), "modal" if shown.body["type"] == "modal" else "home")
    expected = call.args.get("hash")
    updated = call.office.views.replace(shown, view, None if expected is None else str(expected))
    return {"view": told_view(updated)}


async def publish_view(call: Call) -> Json:
    """views.publish."""
    user = str(call.need("user_id", "user_not_found"))
    if user not in call.office.world.users:
        raise SlackError("user_not_found")
    view = checked_view(call.need("view"), "home")
    expected = call.args.get("hash")
    made: View = call.office.views.publish(user, view, None if expected is None else str(expected))
    return {"view": told_view(made)}


def _trigger(call: Call) -> str:
    trigger = call.args.get("trigger_id") or call.args.get("interactivity_pointer")
    if not trigger:
        raise SlackError("invalid_trigger_id")
    return str(trigger)


def actor_key(actor: Actor) -> str:
    """How the state dump names a person: the bare id at home, `team/id` for others."""
    return actor.id if actor.team_id.endswith("HOME") else f"{actor.team_id}/{actor.id}"


METHODS = {
    "views.open": open_view,
    "views.push": push_view,
    "views.update": update_view,
    "views.publish": publish_view,
}
