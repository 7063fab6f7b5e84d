"""What ops is told: one message per matter, updated in place, with personal values of customers masked."""

from approvals.lifecycle import Cause, RunState, State
from approvals.models import BatchView, Call, Run
from bot.became_words import approvers, why_expired
from bot.blocks import Block, Message, dated, header, section, when
from bot.language import say, say_list
from bot.refusals import whole_minute
from bot.state_words import call_is, canceller, run_is
from bot.text import cut, inert
from bot.what_words import capital, full_stop, safe_headline, what_of

#: Different sentences about why the calls of one card expired.
_WHYS = 3


def expired_alert(view: BatchView, link: str | None = None) -> Message:
    """Nobody decided in time, or the card could not be posted: what expired, who had approved, where the card is."""
    lost = [call for call in view.calls if call.state is State.EXPIRED]
    what = inert(what_of(lost or view.calls), 400)
    if view.batch.posted_at is None:
        said = say("*{what}* could not be posted within an hour and expired; nothing ran.", what=what)
        again = ""
    else:
        missing = [f"{capital(why)}." for why in dict.fromkeys(map(why_expired, lost))]
        expired = say("*{what}* expired; nothing ran.", what=what)
        said = " ".join([expired, *(inert(why, 300) for why in missing[:_WHYS])])
        again = say("<@{requester}> can press *Ask again* on the card.", requester=view.run.requester)
    fix = say("Look at who is entitled and reachable.")
    return alert_message(
        say("A card expired"), " ".join([said, *_open(link), _whose(view.run)]), f"{fix} {again}".strip()
    )


def _open(link: str | None) -> list[str]:
    return [f"<{link}|{say('Open the card')}>"] if link else []


def _whose(run: Run) -> str:
    return say(
        "Run `{run}`, asked by <@{requester}> in <#{channel}>.",
        run=run.id,
        requester=run.requester,
        channel=run.channel,
    )


def lapsed_alert(view: BatchView, link: str | None = None) -> Message:
    """People said yes and it did not happen in time: nobody would notice otherwise."""
    lost = [call for call in view.calls if call.cause is Cause.LAPSED]
    said = say(
        "*{what}* was approved and did not run before the approval became too old; nothing of it happened.",
        what=inert(what_of(lost or view.calls), 400),
    )
    fix = say(
        "Find out what kept it from running: a freeze, no worker, no bot, or Slack, which must have said within a"
        " minute that whoever approved still may. Then ask the agent again."
    )
    return alert_message(say("An approval lapsed"), " ".join([said, *_open(link), _whose(view.run)]), fix)


def unknown_alert(
    call: Call,
    run: Run,
    marked: tuple[str, str] | None = None,
    *,
    link: str | None = None,
    answered_at: int | None = None,
    now: int | None = None,
) -> Message:
    """An effect was begun and nobody knows how it ended. `marked` is the first of two operators' words.

    `answered_at` is when the agent is told that nobody knows (ms); None when it has been told, or needs no telling.
    With `now` it says until when a worker may be at work on it, if that is still to come.
    """
    why = f" {inert(full_stop(capital(call.reason)), 300)}" if call.reason else ""
    told = f"*{_outcome(call.state)}*.{why}{_one_of_two(marked)}"
    text = "\n".join([begun(call, link), told, ids(call, run, call.idempotency_key)])
    if call.contradicted and call.state is not State.UNKNOWN:
        return alert_message(
            say("Unknown outcome"),
            f"*{_late(call.contradicted)}*\n{text}",
            say("Compare with the provider by the idempotency key, then mark this as seen. It is not tried again."),
        )
    if call.state is not State.UNKNOWN:
        return alert_message(say("Unknown outcome"), text, say("Nothing is left to do."))
    return alert_message(
        say("Unknown outcome"),
        text,
        say(
            "Ask the provider again, or look it up there by the idempotency key and mark the call as done or not done."
        ),
        certain=say("It was approved, and begun exactly once. It is never tried again, whatever is pressed here."),
        unclear=_unclear(answered_at) + at_work(call.at_work_until, now),
    )


def _late(proved: State) -> str:
    if proved is State.SUCCEEDED:
        return say("A receipt came late: it happened, whatever was said before.")
    return say("Its worker found late that it did not happen, whatever was said before.")


def begun(call: Call, link: str | None) -> str:
    """`Mail 36 people · approved by Bruno, begun at 11:18 · Open the card`; mrkdwn."""
    names = inert(say_list(approvers(call)), 200)
    parts = [say("approved by {names}", names=names) if names else say("approved by policy")]
    parts += [say("begun {time}", time=instant(call.claimed_at))] if call.claimed_at else []
    return " · ".join([f"*{inert(safe_headline(call), 300)}*", ", ".join(parts), *_open(link)])


def ids(call: Call, run: Run, key: str) -> str:
    """What one looks things up by; mrkdwn."""
    place = say(
        "Call `{call}` of tool `{tool}`, run `{run}` in <#{channel}>.",
        call=call.key,
        tool=inert(call.tool, 100),
        run=run.id,
        channel=run.channel,
    )
    return f"{place} {say('Idempotency key `{key}`.', key=key)}"


def instant(at_ms: int) -> str:
    """An instant in the reader's own time zone; mrkdwn."""
    return dated(when(at_ms, "{date_short_pretty} {time}"))


def at_work(until: int | None, now: int | None) -> str:
    """A further sentence while a worker may be at work on what nobody knows the end of; else empty. Mrkdwn."""
    if until is None or now is None or until <= now:
        return ""
    said = say(
        "A worker may still be at work on it until {time}; that it did not happen counts only then.",
        time=instant(whole_minute(until)),
    )
    return f" {said}"


def _unclear(answered_at: int | None) -> str:
    if answered_at is None:
        return say("Whether it took effect. The agent has been told that nobody knows.")
    return say(
        "Whether it took effect. The agent waits until this is settled, or until {time}, when it is told that nobody"
        " knows.",
        time=instant(answered_at),
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


def _one_of_two(marked: tuple[str, str] | None) -> str:
    if marked is None:
        return ""
    who = inert(marked[0], 80)
    if marked[1] == State.SUCCEEDED:
        return f" {say('{name} says: done; a second operator must say the same.', name=who)}"
    return f" {say('{name} says: not done; a second operator must say the same.', name=who)}"


def failed_alert(run: Run) -> Message:
    """A run cannot go on by itself, or what became of one that could not."""
    where = say("Run `{run}` in <#{channel}>: {state}.", run=run.id, channel=run.channel, state=run_is(run.state))
    if run.state is RunState.STOPPED and run.cancelled_by:
        reason = say("Cancelled by {name}.", name=canceller(run))
    else:
        reason = inert(full_stop(capital(run.reason or say("no reason was given"))), 600)
    title = say("A run was interrupted")
    if run.state is RunState.FAILED:
        return alert_message(
            title,
            f"{where} {reason}",
            say("Repair the cause, then put it back in the queue. `vobo show {run}` tells its story.", run=run.id),
            certain=say(
                "Its state is kept. What its calls did is recorded, and is not done again when it is taken up."
            ),
            unclear=say("Whether it would get any further now."),
        )
    if run.state is RunState.STOPPED:
        over = say("Nothing; it is over and does not go on. What its calls did is in its thread.")
        return alert_message(title, f"{where} {reason}", over)
    if run.state is RunState.COMPLETED:
        return alert_message(title, where, say("Nothing; it was taken up again and has come to its end."))
    return alert_message(title, where, say("It was taken up again; nothing is left to do."))


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
