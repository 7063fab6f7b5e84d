"""How runs start: a mention, or the slash command. A redelivery, or an edit of the request, starts nothing new."""

import hashlib
import html
import re
from collections.abc import Sequence
from typing import Any

from slack_sdk.errors import SlackApiError

from approvals.lifecycle import RUN_ENDED
from approvals.models import Run
from approvals.outcomes import Outcome
from bot.asker import asker_of, tell
from bot.authority import starter
from bot.deciding import START
from bot.deps import Deps
from bot.freezing import asks_to_freeze, freezing
from bot.language import say
from bot.past import asks_for_history, history
from bot.payloads import Mention, Slash, Typed
from bot.text import inert
from bot.whereabouts import card_links, where_it_stands

_MENTION = re.compile(r"<@[UW][A-Za-z0-9_]+(?:\|[^>]*)?>")
_YES_OR_NO = (
    "ok okay k yes y yep yeah sure approve approved approves lgtm go ahead ship it shipit confirm confirmed "
    "accept accepted allow no n nope reject rejected deny denied stop cancel vale dale si sí adelante +1 :+1: "
    "👍 :thumbsup: ✅ :white_check_mark: 👎 :-1: ja nein oui non visto-bueno please thanks do"
)
_NOT_THERE = frozenset({"not_in_channel", "channel_not_found"})
_PHRASES = frozenset(
    {"go ahead", "ship it", "do it", "looks good", "visto bueno", "all good", "sounds good", "of course"}
)
_WORDS = frozenset(_YES_OR_NO.split(" "))
_LONGEST_ANSWER = 40
#: A run is kept for as long at least, from its start (approvals/scripts/end_run.lua).
_RUNS_KEPT_S = 7 * 86_400
#: One word in Latin letters.
_WORD = re.compile(r"/?[A-Za-z\u00c0-\u024f][A-Za-z\u00c0-\u024f-]{0,30}[.!?]?")


def mention(deps: Deps, said: Mention) -> None:
    """`@vobo …`: help, a new run, or where the running one stands."""
    request = request_in(said.text, deps.bot_user)
    if request.lower() in {"", "help", "?"}:
        tell(deps, asker_of(said), _help())
        return
    run_id = run_id_for(f"{said.channel}:{said.ts}")  # an edit is an event of its own, about the same message
    if deps.store.runs.load(run_id) is not None or _edited_late(said):
        if said.edited and deps.store.deliveries.first("edited", run_id, said.sender.user):
            tell(deps, asker_of(said), say("Editing a message does not change or repeat its run; write a new one."))
        return
    newest = deps.store.runs.newest_in_thread(said.channel, said.thread_ts)
    agent, request = addressed_agent(deps.agents, request, newest)
    starter(deps, said.sender, agent)
    if newest is not None and newest.state not in RUN_ENDED:
        tell(deps, asker_of(said), where_it_stands(deps, newest))
        return
    _start(deps, run_id, agent, request, said.sender.user, said.channel, said.thread_ts, newest)


def _edited_late(said: Mention) -> bool:
    """Whether the run of this message may have been forgotten by the time it was edited."""
    return bool(said.edited) and float(said.edited) - float(said.ts) > _RUNS_KEPT_S


def slash(deps: Deps, said: Slash) -> None:
    """`/vobo …`: a new run, whose opening message becomes its thread; or the operators' freeze."""
    request = html.unescape(said.text).strip()
    if request.lower() in {"", "help", "?"}:
        tell(deps, asker_of(said), _help())
        return
    if asks_to_freeze(request):
        freezing(deps, said, request)
        return
    if asks_for_history(request):
        history(deps, said, request)
        return
    if is_one_word(request):
        unknown = say("There is no command `{word}`.", word=inert(request, 40))
        tell(deps, asker_of(said), f"{unknown} {_help()}")
        return
    agent, request = addressed_agent(deps.agents, request, None)
    starter(deps, said.sender, agent)
    if instead := _elsewhere(deps, said):
        tell(deps, asker_of(said), instead)
        return
    _start(deps, run_id_for(said.trigger_id), agent, request, said.sender.user, said.channel, "", None)


def _elsewhere(deps: Deps, said: Slash) -> str:
    """What to do instead where the bot is not; it hears of commands everywhere. Empty when Slack does not say.

    Whoever may read a channel is in it; the plain question (conversations.info) wants a scope that nothing else needs.

    Raises:
        SlackClientError, OSError: Slack does not answer; nothing is started.
    """
    try:
        if not said.channel.startswith("D"):
            deps.client.conversations_history(channel=said.channel, limit=1)
            return ""
        opened: Any = deps.client.conversations_open(users=said.sender.user)
    except SlackApiError as refused:
        there = refused.response.get("error") not in _NOT_THERE
        return "" if there else say("Invite me to this channel first; nothing was started.")
    if opened["channel"]["id"] == said.channel:
        return ""
    return say("Ask me in a direct message to me, or in a channel that I am in; nothing was started.")


def typed(deps: Deps, said: Typed) -> None:
    """A typed "ok" is no decision; whoever typed it is shown the card."""
    if not sounds_like_a_decision(said.text) or said.sender.user == deps.bot_user:
        return
    run = deps.store.runs.newest_in_thread(said.channel, said.thread_ts)
    links = card_links(deps, run) if run else []
    if links:
        no_words = say("Words in a thread decide nothing; only the buttons of the card do.")
        tell(deps, asker_of(said), f"{no_words} {' '.join(links)}")


def _help() -> str:
    said = say(
        "Tell me what to do, for example `@vobo refund yesterday's failed payments`. What could hurt is shown here as a"
        " card first, and runs only after somebody entitled has approved it there."
    )
    return f"{said} {say('`/vobo history` shows what was decided.')}"


def request_in(text: str, bot_user: str) -> str:
    """What was asked, without the mention of the bot, as the person typed it."""
    return html.unescape(re.sub(rf"<@{re.escape(bot_user)}(?:\|[^>]*)?>", " ", text)).strip()


def addressed_agent(agents: Sequence[str], request: str, newest: Run | None) -> tuple[str, str]:
    """Whose request it is, and the request without that name: `desk: refund pay_1`, if there is an agent `desk`.

    A request that names no agent goes to the one that the thread talks to, else to the first.
    """
    name, colon, rest = request.partition(":")
    named = next((agent for agent in agents if agent and agent.lower() == name.strip().lower()), None)
    if colon and named is not None and rest.strip():
        return named, rest.strip()
    return (newest.agent if newest and newest.agent in agents else agents[0]), request


def is_one_word(request: str) -> bool:
    """Whether this is a mistyped command rather than a request. Languages that write without spaces are spared."""
    return _WORD.fullmatch(request) is not None


def sounds_like_a_decision(text: str) -> bool:
    """Whether somebody may believe to have decided with these words. Errs on the side of answering."""
    words = _MENTION.sub(" ", text).strip().lower().rstrip(".!?")
    if len(words) > _LONGEST_ANSWER:
        return False
    return words in _PHRASES or (bool(words) and all(word.strip(",.!") in _WORDS for word in words.split()))


def run_id_for(origin: str) -> str:
    """The run that a message, or a command, starts: the same one, the same run."""
    return f"run_{hashlib.sha256(origin.encode()).hexdigest()[:12]}"


def _start(  # noqa: PLR0917 - a run's fields in their order
    deps: Deps, run_id: str, agent: str, request: str, user: str, channel: str, thread_ts: str, parent: Run | None
) -> None:
    answer = deps.store.runs.start(
        run_id,
        request=request,
        requester=user,
        channel=channel,
        thread_ts=thread_ts,
        agent=agent,
        parent=parent.id if parent else None,
    )
    if answer.outcome is Outcome.OK:
        deps.wake.set()
        deps.nudge(START, run_id)
