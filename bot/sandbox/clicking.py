"""People who press buttons and choose options, on messages, in modals and in the app home."""

from dataclasses import dataclass
from typing import Any

from bot.sandbox import payloads
from bot.sandbox.echo import echoed
from bot.sandbox.errors import SandboxError
from bot.sandbox.model import Actor, Json, Message
from bot.sandbox.office import Office
from bot.sandbox.validate_blocks import Block, controls_of, walk
from bot.sandbox.values import filled, initial, state_of
from bot.sandbox.view_stacks import View

_SILENCE = "This app responded with an error or not at all. Slack shows this when no acknowledgement came within 3 s."


@dataclass(frozen=True)
class Press:
    """Which control, and what is chosen with it.

    `value` tells buttons with the same action id apart; `chosen` is what a select, checkbox or text input now holds.
    `stale` presses a control that an older version of the message showed, as an out-of-date client would.
    """

    action_id: str
    block_id: str | None = None
    value: str | None = None
    chosen: Any = None
    stale: bool = False


async def click_message(office: Office, actor: Actor, channel: str, ts: str, press: Press) -> Json:
    """Press a control of a message.

    Raises:
        SandboxError: no such message or control, or not for this person.
    """
    world = office.world
    place = world.channel(channel)
    message = place.messages.get(ts)
    if message is None or (message.only_for and message.only_for != actor.id):
        raise SandboxError(f"There is no message {ts} in {place.id} that {actor.id} can see.")
    block, element = _on_message(message, actor, press)
    draft = world.drafts.setdefault((actor.id, place.id, ts), {})
    action = _action(office, block, element, press, draft)
    container: Json = {
        "type": "message",
        "message_ts": ts,
        "channel_id": place.id,
        "is_ephemeral": message.only_for is not None,
    }
    if message.thread_ts:
        container["thread_ts"] = message.thread_ts
    fields: Json = {
        "container": container,
        "trigger_id": office.triggers.issue(actor),
        "channel": {"id": place.id, "name": place.name if place.im_with is None else "directmessage"},
        "message": _echo(world.told(place, message)),
        "state": {"values": _kept_state(message.blocks or [], draft)},
        "response_url": office.response_urls.issue(actor, place.id, ts, message.thread_ts),
        "actions": [action],
    }
    return await _send(office, actor, fields)


async def click_view(office: Office, actor: Actor, press: Press, *, home: bool = False) -> Json:
    """Press a control in the open modal, or in the app home.

    Raises:
        SandboxError: nothing is open, or no such control.
    """
    view = office.views.home(actor) if home else office.views.top(actor)
    if view is None:
        raise SandboxError(f"{actor.id} has no {'app home' if home else 'modal'} open.")
    block, element = _only_match(view.body["blocks"], actor, press)
    action = _action(office, block, element, press, view.state)
    fields: Json = {
        "container": {"type": "view", "view_id": view.id},
        "trigger_id": office.triggers.issue(actor, None if home else view.id),
        "view": told_view(view),
        "actions": [action],
    }
    return await _send(office, actor, fields)


def _echo(told: Json) -> Json:
    return {**told, "blocks": echoed(told["blocks"])} if "blocks" in told else told


def told_view(view: View) -> Json:
    """A view with what its inputs hold now."""
    return view.to_slack(state_of(view.body["blocks"], view.state))


async def _send(office: Office, actor: Actor, fields: Json) -> Json:
    payload = payloads.interaction(
        "block_actions", actor, office.world.users.get(actor.id), office.world.settings, **fields
    )
    delivery = await office.courier.interaction("interactive", "block_actions", payload)
    if not delivery.acked:
        office.world.notice(actor, _SILENCE)
    return {
        "acked": delivery.acked,
        "delivery": delivery.id,
        "attempts": delivery.attempts,
        "trigger_id": fields["trigger_id"],
        "response_url": fields.get("response_url"),
        "action": fields["actions"][0],
    }


def _on_message(message: Message, actor: Actor, press: Press) -> tuple[Block, Json]:
    shown: list[list[Block]] = [message.blocks or []]
    if press.stale:
        shown.extend(version["blocks"] or [] for version in reversed(message.versions))
    for blocks in shown[:-1]:
        if _matches(blocks, press):
            return _only_match(blocks, actor, press)
    return _only_match(shown[-1], actor, press)


def _matches(blocks: list[Block], press: Press) -> list[tuple[Block, Json]]:
    return [
        (block, element)
        for block in walk(blocks)
        for element in controls_of(block)
        if element.get("action_id") == press.action_id
        and press.block_id in (None, block["block_id"])
        and (press.value is None or element.get("value") == press.value)
    ]


def _only_match(blocks: list[Block], actor: Actor, press: Press) -> tuple[Block, Json]:
    found = _matches(blocks, press)
    if not found:
        present = [f"{b['block_id']}/{e['action_id']}" for b in walk(blocks) for e in controls_of(b)]
        raise SandboxError(f"There is no control {press.action_id} there. Present: {', '.join(present) or 'none'}.")
    if len(found) > 1:
        blocks_named = ", ".join(block["block_id"] for block, _ in found)
        raise SandboxError(f"Several controls are called {press.action_id}; name a block_id: {blocks_named}.")
    seen_by = found[0][1].get("visible_to_user_ids")
    if seen_by and actor.id not in seen_by:
        raise SandboxError(f"{actor.id} does not see the control {press.action_id}.")
    return found[0]


def _action(office: Office, block: Block, element: Json, press: Press, draft: Json) -> Json:
    state: Json | None = None
    if initial(element) is not None:
        state = filled(element, press.chosen)
        draft.setdefault(block["block_id"], {})[element["action_id"]] = state
    elif element["type"] == "overflow":
        chosen = [one for one in element["options"] if one.get("value") == press.chosen]
        if not chosen:
            raise SandboxError(f"{press.chosen!r} is not in the menu {press.action_id}.")
        state = {"selected_option": chosen[0]}
    return payloads.action(element, block["block_id"], state, office.world.ts())


def _kept_state(blocks: list[Block], draft: Json) -> Json:
    """State of what is still there; an update may have taken inputs away."""
    present = {(b["block_id"], e["action_id"]) for b in walk(blocks) for e in controls_of(b)}
    kept: Json = {}
    for block_id, entered in draft.items():
        for action_id, value in entered.items():
            if (block_id, action_id) in present:
                kept.setdefault(block_id, {})[action_id] = value
    return state_of(blocks, kept)
