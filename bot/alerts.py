"""What ops is told: one message per matter, updated in place, never with data of customers."""

from approvals.lifecycle import RunState, State
from approvals.models import BatchView, Call, Run
from bot.blocks import Block, Message, header, section
from bot.language import say, say_count
from bot.state_words import call_is, run_is
from bot.text import cut, inert


def expired_alert(view: BatchView, link: str | None = None) -> Message:
    """Nobody decided in time, or the card could not be posted: one line, with a link where there is a card."""
    lost = [call for call in view.calls if call.state is State.EXPIRED]
    card = f"<{link}|{say('The card')}>" if link else say("The card")
    place = {"card": card, "radius": inert(view.batch.radius, 200)}
    if view.batch.posted_at is None:
        what = say_count(
            len(lost),
            "{card} on *{radius}* could not be posted within an hour: {number} call expired. Nothing of it ran.",
            "{card} on *{radius}* could not be posted within an hour: {number} calls expired. Nothing of it ran.",
            **place,
        )
    else:
        what = say_count(
            len(lost),
            "{card} on *{radius}* was not decided in time: {number} call expired. Nothing of it ran.",
            "{card} on *{radius}* was not decided in time: {number} calls expired. Nothing of it ran.",
            **place,
        )
    run = view.run
    whose = say(
        "Run `{run}`, asked by <@{requester}> in <#{channel}>.",
        run=run.id,
        requester=run.requester,
        channel=run.channel,
    )
    fix = say("Look at who is entitled and reachable, then ask the agent again.")
    return alert_message(say("A card expired"), f"{what} {whose}", fix)


def unknown_alert(call: Call, run: Run, marked: tuple[str, str] | None = None) -> Message:
    """An effect was begun and nobody knows how it ended. `marked` is the first of two operators' words."""
    what = say(
        "*{outcome}*: call `{call}` of tool `{tool}`, run `{run}` in <#{channel}>.",
        outcome=_outcome(call.state),
        call=call.key,
        tool=inert(call.tool, 100),
        run=run.id,
        channel=run.channel,
    )
    why = f" {inert(call.reason, 300)}." if call.reason else ""
    text = f"{what}{why} {say('Idempotency key `{key}`.', key=call.idempotency_key)}"
    if call.state is not State.UNKNOWN:
        return alert_message(say("Unknown outcome"), text, say("Nothing is left to do."))
    return alert_message(
        say("Unknown outcome"),
        f"{text} {_one_of_two(*marked)}" if marked else text,
        say(
            "Ask the provider again, or look it up there by the idempotency key and mark the call as done or not done."
        ),
        certain=say("It was approved, and begun exactly once. It is never tried again, whatever is pressed here."),
        unclear=say(
            "Whether it took effect. The agent is told nothing else until this is settled, or its time is over."
        ),
    )


def _outcome(state: State) -> str:
    match state:
        case State.UNKNOWN:
            return say("Nobody can tell whether it happened")
        case State.SUCCEEDED:
            return say("Settled: it happened")
        case State.FAILED:
            return say("Settled: it did not happen")
        case _:
            return say("Settled: {state}", state=call_is(state))


def _one_of_two(name: str, happened: str) -> str:
    who = inert(name, 80)
    if happened == State.SUCCEEDED:
        return say("{name} says: done; a second operator must say the same.", name=who)
    return say("{name} says: not done; a second operator must say the same.", name=who)


def failed_alert(run: Run) -> Message:
    """A run cannot go on by itself."""
    text = say(
        "Run `{run}` in <#{channel}>: {state}. {reason}.",
        run=run.id,
        channel=run.channel,
        state=run_is(run.state),
        reason=inert(run.reason or say("no reason was given"), 600),
    )
    title = say("A run was interrupted")
    if run.state is not RunState.FAILED:
        return alert_message(title, text, say("It was taken up again; nothing is left to do."))
    return alert_message(
        title,
        text,
        say("Repair the cause, then put it back in the queue. `vobo show {run}` tells its story.", run=run.id),
        certain=say("Its state is kept. What its calls did is recorded, and is not done again when it is taken up."),
        unclear=say("Whether it would get any further now."),
    )


def slack_alert(what: str, channel: str, error: str) -> Message:
    """Slack refuses something that is owed, and goes on refusing it."""
    said = {"message": inert(what, 200), "error": inert(error, 100)}
    if channel:
        text = say("Slack refuses {message} in <#{channel}>: `{error}`.", channel=channel, **said)
    else:
        text = say("Slack refuses {message}: `{error}`.", **said)
    again = say("It is tried again with growing pauses.")
    return alert_message(say("A message cannot be delivered"), f"{text} {again}", remedy(error))


def remedy(error: str) -> str:
    """What to do about an error of Slack's."""
    unarchive = say("Unarchive the channel; what waits is posted then, or expires after an hour.")
    new_token = say("Install the Slack app again and put the new SLACK_BOT_TOKEN into the bot's environment.")
    return {
        "is_archived": unarchive,
        "is_inactive": unarchive,
        "channel_not_found": say("The channel is gone or private: invite the bot, or ask the agent somewhere else."),
        "not_in_channel": say("Invite the bot to the channel."),
        "missing_scope": say("Install the Slack app again with the scopes of bot/manifest.yaml."),
        "invalid_auth": say("Put a valid SLACK_BOT_TOKEN into the bot's environment and restart it."),
        "token_revoked": new_token,
        "account_inactive": new_token,
    }.get(error, say("See the bot's log."))


def alert_message(title: str, text: str, remedy_text: str, *, certain: str = "", unclear: str = "") -> Message:
    """A message of ops: what happened, what is certain and what is not where that is in question, and what to do."""
    parts = [text]
    parts += [say("*Certain:* {what}", what=certain)] if certain else []
    parts += [say("*Not certain:* {what}", what=unclear)] if unclear else []
    parts.append(say("*To do:* {what}", what=remedy_text))
    blocks: list[Block] = [header(title), section(cut("\n".join(parts), 2_900))]
    return Message(cut(f"{title}. {text}", 2_900), blocks)
