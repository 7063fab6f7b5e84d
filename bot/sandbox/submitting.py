"""People who submit or close a modal, and what the app's answer does to it."""

from typing import Any

from bot.sandbox import payloads
from bot.sandbox.clicking import told_view
from bot.sandbox.errors import SandboxError, SlackError
from bot.sandbox.model import Actor, Json
from bot.sandbox.office import Office
from bot.sandbox.validate_view import checked_view
from bot.sandbox.values import client_errors, state_of
from bot.sandbox.view_stacks import View

TROUBLE = "We had some trouble connecting. Try again?"


async def submit(office: Office, actor: Actor, typed: Json, *, force: bool = False) -> Json:
    """Submit the top modal with `typed` over its initial values.

    `force` skips what a Slack client checks by itself (required, length, number bounds), as a tampered client would.

    Raises:
        SandboxError: nothing to submit, or a value for an input that is not there.
    """
    view = _top(office, actor)
    if not view.body.get("submit"):
        raise SandboxError("This modal has no submit button.")
    for block_id, entered in typed.items():
        view.state.setdefault(block_id, {}).update(entered)
    try:
        values = state_of(view.body["blocks"], view.state)
    except SandboxError:
        for block_id in typed:
            view.state.pop(block_id, None)
        raise
    view.errors = {} if force else client_errors(view.body["blocks"], values)
    if view.errors:
        office.world.changed()
        return {"ok": False, "sent": False, "acked": False, "errors": view.errors}
    fields = {
        "trigger_id": office.triggers.issue(actor, view.id),
        "view": told_view(view),
        "response_urls": [],
    }
    payload = payloads.interaction(
        "view_submission", actor, office.world.users.get(actor.id), office.world.settings, **fields
    )
    delivery = await office.courier.interaction("interactive", "view_submission", payload)
    return _answered(office, actor, view, acked=delivery.acked, response=delivery.response)


def _answered(office: Office, actor: Actor, view: View, *, acked: bool, response: Any) -> Json:
    told: Json = {"ok": acked, "sent": True, "acked": acked, "errors": {}, "response": response}
    if view not in office.views.stack(actor):  # the app closed it meanwhile
        return told
    problem = "" if not acked else _obeyed(office, actor, view, response)
    if not acked or problem:
        view.errors = {"": TROUBLE}
        office.world.notice(actor, TROUBLE)
        return told | {"ok": False, "errors": view.errors, "problem": problem or "not acknowledged within 3 s"}
    return told | {"ok": not view.errors, "errors": view.errors}


def _obeyed(office: Office, actor: Actor, view: View, response: Any) -> str:
    """Do what the acknowledgement says; the text of the problem when Slack would not."""
    view.errors = {}
    if response is None or response == {}:
        _close(office, actor, view)
        return ""
    what = response.get("response_action") if isinstance(response, dict) else None
    try:
        if what == "errors":
            view.errors = _errors(view, response)
        elif what == "clear":
            office.views.clear(actor)
        elif what == "update":
            office.views.replace(view, checked_view(response.get("view"), "modal"))
        elif what == "push":
            office.views.push(actor, checked_view(response.get("view"), "modal"))
        else:
            return f"an acknowledgement Slack does not understand: {response!r}"
    except SlackError as refused:
        return f"{refused.code} {refused.extra or ''}".strip()
    office.world.changed()
    return ""


def _errors(view: View, response: Json) -> dict[str, str]:
    errors = response.get("errors")
    inputs = {block["block_id"] for block in view.body["blocks"] if block["type"] == "input"}
    if not isinstance(errors, dict) or not errors or not set(errors) <= inputs:
        raise SlackError("errors must name input blocks of the view", known=sorted(inputs))
    return {block_id: str(text) for block_id, text in errors.items()}


def _close(office: Office, actor: Actor, view: View) -> None:
    if view.body.get("clear_on_close"):
        office.views.clear(actor)
        return
    office.views.stack(actor).remove(view)
    office.world.changed()


async def close_view(office: Office, actor: Actor, *, everything: bool = False) -> Json:
    """Close the top modal, or all of them; the app hears of it where it asked to.

    Raises:
        SandboxError: nothing is open.
    """
    view = _top(office, actor)
    cleared = everything or bool(view.body.get("clear_on_close"))
    popped = office.views.clear(actor) if cleared else [office.views.pop(actor)]
    closed = [one for one in popped if one is not None]
    heard = []
    for one in closed:
        if one.body.get("notify_on_close"):
            fields: Json = {"view": told_view(one), "is_cleared": cleared}
            payload = payloads.interaction(
                "view_closed", actor, office.world.users.get(actor.id), office.world.settings, **fields
            )
            delivery = await office.courier.interaction("interactive", "view_closed", payload)
            heard.append(delivery.id)
    return {"closed": [one.id for one in closed], "deliveries": heard}


def _top(office: Office, actor: Actor) -> View:
    view = office.views.top(actor)
    if view is None:
        raise SandboxError(f"{actor.id} has no modal open.")
    return view
