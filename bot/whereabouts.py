"""Where a run stands, in a sentence with links to the cards that wait."""

from typing import Any, assert_never

from slack_sdk.errors import SlackClientError

from approvals.lifecycle import RunState, State
from approvals.models import Run
from bot.deps import Deps
from bot.language import say, say_count
from bot.radius import radius_on
from bot.state_words import canceller, run_is
from bot.text import inert


def where_it_stands(deps: Deps, run: Run) -> str:
    """For somebody who asks again while a run is on its way."""
    match run.state:
        case RunState.QUEUED:
            return say("`{run}` waits for a worker. It starts by itself.", run=run.id)
        case RunState.RUNNING | RunState.RESUMING | RunState.READY:
            return say(
                "I am working on `{run}`. Ask for the next thing when it has ended, or in a new thread.", run=run.id
            )
        case RunState.PAUSED:
            links = card_links(deps, run)
            if not links:
                return say("`{run}` carries out what was approved.", run=run.id)
            return say_count(
                len(links),
                "`{run}` waits for a decision on {number} card: {links}",
                "`{run}` waits for a decision on {number} cards: {links}",
                run=run.id,
                links=" ".join(links),
            )
        case RunState.STOPPED if run.cancelled_by:
            return say("`{run}` has ended: cancelled by {name}.", run=run.id, name=canceller(run))
        case RunState.COMPLETED | RunState.STOPPED | RunState.FAILED:
            ended = say("`{run}` has ended: {state}.", run=run.id, state=run_is(run.state))
            return f"{ended} {inert(run.reason or '', 500)}".strip()
        case _:
            assert_never(run.state)


def card_links(deps: Deps, run: Run) -> list[str]:
    """Links to the cards of a run that wait for a decision."""
    view = deps.store.runs.pause_view(run.id, run.pause) if run.pause else None
    waiting = [call.batch for call in view.calls if call.state is State.PENDING_REVIEW] if view else []
    links = []
    for batch_id in dict.fromkeys(batch for batch in waiting if batch):
        batch = deps.store.batches.view(batch_id)
        if batch and batch.batch.ts and batch.batch.channel:
            links.append(_link(deps, batch.batch.channel, batch.batch.ts, radius_on(batch)))
    return links


def _link(deps: Deps, channel: str, ts: str, radius: str) -> str:
    try:
        found: Any = deps.client.chat_getPermalink(channel=channel, message_ts=ts)
        return f"<{found['permalink']}|{say('Card: {radius}', radius=inert(radius, 150))}>"
    except (SlackClientError, OSError):
        return say("the card on {radius} in this thread", radius=inert(radius, 150))
