"""Where a run stands, in a sentence with links to the cards that wait."""

from typing import Any, assert_never

from slack_sdk.errors import SlackClientError

from approvals.lifecycle import RunState, State
from approvals.models import Run
from bot.deps import Deps
from bot.text import count, inert


def where_it_stands(deps: Deps, run: Run) -> str:
    """For somebody who asks again while a run is on its way."""
    match run.state:
        case RunState.QUEUED:
            return f"`{run.id}` waits for a worker. It starts by itself."
        case RunState.RUNNING | RunState.RESUMING | RunState.READY:
            return f"I am working on `{run.id}`. Ask for the next thing when it has ended, or in a new thread."
        case RunState.PAUSED:
            links = card_links(deps, run)
            if not links:
                return f"`{run.id}` carries out what was approved."
            return f"`{run.id}` waits for a decision on {count(len(links), 'card')}: {' '.join(links)}"
        case RunState.COMPLETED | RunState.STOPPED | RunState.FAILED:
            return f"`{run.id}` has ended ({run.state}). {inert(run.reason or '', 500)}".strip()
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
            links.append(_link(deps, batch.batch.channel, batch.batch.ts, batch.batch.radius))
    return links


def _link(deps: Deps, channel: str, ts: str, radius: str) -> str:
    try:
        found: Any = deps.client.chat_getPermalink(channel=channel, message_ts=ts)
        return f"<{found['permalink']}|Card: {inert(radius, 150)}>"
    except (SlackClientError, OSError):
        return f"the card on {inert(radius, 150)} in this thread"
