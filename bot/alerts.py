"""What ops is told: one message per matter, updated in place, never with data of customers."""

from approvals.lifecycle import RunState, State
from approvals.models import BatchView, Call, Run
from bot.blocks import Block, Message, header, section
from bot.text import count, cut, inert

_OUTCOMES = {
    State.UNKNOWN: "Nobody can tell whether it happened",
    State.SUCCEEDED: "Settled: it happened",
    State.FAILED: "Settled: it did not happen",
}
_SAYS = {"succeeded": "done", "failed": "not done"}


def expired_alert(view: BatchView, link: str | None = None) -> Message:
    """Nobody decided in time, or the card could not be posted: one line, with a link where there is a card."""
    lost = [call for call in view.calls if call.state is State.EXPIRED]
    what = "could not be posted within an hour" if view.batch.posted_at is None else "was not decided in time"
    card = f"<{link}|The card>" if link else "The card"
    text = (
        f"{card} on *{inert(view.batch.radius, 200)}* {what}: {count(len(lost), 'call')} expired. Nothing of it ran. "
        f"Run `{view.run.id}`, asked by <@{view.run.requester}> in <#{view.run.channel}>."
    )
    return alert_message("A card expired", text, "Look at who is entitled and reachable, then ask the agent again.")


def unknown_alert(call: Call, run: Run, marked: tuple[str, str] | None = None) -> Message:
    """An effect was begun and nobody knows how it ended. `marked` is the first of two operators' words."""
    said = _OUTCOMES.get(call.state, f"Now {call.state}")
    why = f" {inert(call.reason, 300)}." if call.reason else ""
    text = (
        f"*{said}*: call `{call.key}` of tool `{inert(call.tool, 100)}`, run `{run.id}` in <#{run.channel}>.{why} "
        f"Idempotency key `{call.idempotency_key}`."
    )
    if call.state is not State.UNKNOWN:
        return alert_message("Unknown outcome", text, "Nothing is left to do.")
    half = f" {inert(marked[0], 80)} says: {_SAYS[marked[1]]}; a second operator must say the same." if marked else ""
    return alert_message(
        "Unknown outcome",
        f"{text}{half}",
        "Ask the provider again, or look it up there by the idempotency key and mark the call as done or not done.",
        certain="It was approved, and begun exactly once. It is never tried again, whatever is pressed here.",
        unclear="Whether it took effect. The agent is told nothing else until this is settled, or its time is over.",
    )


def failed_alert(run: Run) -> Message:
    """A run cannot go on by itself."""
    text = f"Run `{run.id}` in <#{run.channel}> is {run.state}: {inert(run.reason or 'no reason was given', 600)}."
    if run.state is not RunState.FAILED:
        return alert_message("A run was interrupted", text, "It was taken up again; nothing is left to do.")
    return alert_message(
        "A run was interrupted",
        text,
        f"Repair the cause, then put it back in the queue. `vobo show {run.id}` tells its story.",
        certain="Its state is kept. What its calls did is recorded, and is not done again when it is taken up.",
        unclear="Whether it would get any further now.",
    )


def slack_alert(what: str, channel: str, error: str) -> Message:
    """Slack refuses something that is owed, and goes on refusing it."""
    place = f" in <#{channel}>" if channel else ""
    text = f"Slack refuses {inert(what, 200)}{place}: `{inert(error, 100)}`. It is tried again with growing pauses."
    return alert_message("A message cannot be delivered", text, remedy(error))


def remedy(error: str) -> str:
    """What to do about an error of Slack's."""
    return {
        "is_archived": "Unarchive the channel; what waits is posted then, or expires after an hour.",
        "is_inactive": "Unarchive the channel; what waits is posted then, or expires after an hour.",
        "channel_not_found": "The channel is gone or private: invite the bot, or ask the agent somewhere else.",
        "not_in_channel": "Invite the bot to the channel.",
        "missing_scope": "Install the Slack app again with the scopes of bot/manifest.yaml.",
        "invalid_auth": "Put a valid SLACK_BOT_TOKEN into the bot's environment and restart it.",
        "token_revoked": "Install the Slack app again and put the new SLACK_BOT_TOKEN into the bot's environment.",
        "account_inactive": "Install the Slack app again and put the new SLACK_BOT_TOKEN into the bot's environment.",
    }.get(error, "See the bot's log.")


def alert_message(title: str, text: str, remedy_text: str, *, certain: str = "", unclear: str = "") -> Message:
    """A message of ops: what happened, what is certain and what is not where that is in question, and what to do."""
    parts = [text]
    parts += [f"*Certain:* {certain}"] if certain else []
    parts += [f"*Not certain:* {unclear}"] if unclear else []
    blocks: list[Block] = [header(title), section(cut("\n".join([*parts, f"*To do:* {remedy_text}"]), 2_900))]
    return Message(cut(f"{title}. {text}", 2_900), blocks)
