"""What ops is told: one message per matter, updated in place, never with data of customers."""

from approvals.lifecycle import State
from approvals.models import BatchView, Call, Run
from bot.blocks import Block, Message, header, section
from bot.text import count, cut, inert

_OUTCOMES = {
    State.UNKNOWN: "Nobody can tell whether it happened",
    State.SUCCEEDED: "Settled: it happened",
    State.FAILED: "Settled: it did not happen",
}


def expired_alert(view: BatchView) -> Message:
    """Nobody decided in time, or the card could not be posted."""
    lost = [call for call in view.calls if call.state is State.EXPIRED]
    what = "could not be posted within an hour" if view.batch.posted_at is None else "was not decided in time"
    text = (
        f"The card on *{inert(view.batch.radius, 200)}* {what}: {count(len(lost), 'call')} expired. Nothing ran. "
        f"Run `{view.run.id}`, asked by <@{view.run.requester}> in <#{view.run.channel}>."
    )
    return _message("A card expired", text, "Look at who is entitled and reachable, then ask the agent again.")


def unknown_alert(call: Call, run: Run) -> Message:
    """An effect was begun and nobody knows how it ended."""
    said = _OUTCOMES.get(call.state, f"Now {call.state}")
    why = f" {inert(call.reason, 300)}." if call.reason else ""
    text = (
        f"*{said}*: call `{call.key}` of tool `{inert(call.tool, 100)}`, run `{run.id}` in <#{run.channel}>.{why} "
        f"Idempotency key `{call.idempotency_key}`."
    )
    fix = "Look it up at the provider by the idempotency key, then settle the call with the `vobo` command."
    return _message("Unknown outcome", text, fix if call.state is State.UNKNOWN else "Nothing is left to do.")


def failed_alert(run: Run) -> Message:
    """A run cannot go on by itself."""
    text = f"Run `{run.id}` in <#{run.channel}> is {run.state}: {inert(run.reason or 'no reason was given', 600)}."
    return _message("A run was interrupted", text, f"Its state is kept. `vobo show {run.id}` tells its story.")


def slack_alert(what: str, channel: str, error: str) -> Message:
    """Slack refuses something that is owed, and goes on refusing it."""
    place = f" in <#{channel}>" if channel else ""
    text = f"Slack refuses {inert(what, 200)}{place}: `{inert(error, 100)}`. It is tried again with growing pauses."
    return _message("A message cannot be delivered", text, remedy(error))


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


def _message(title: str, text: str, remedy_text: str) -> Message:
    blocks: list[Block] = [header(title), section(cut(f"{text}\n{remedy_text}", 2_900))]
    return Message(cut(f"{title}. {text}", 2_900), blocks)
