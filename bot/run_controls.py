"""The controls of a run: the requester, or ops, cancels it; the requester asks the same again."""

from approvals.lifecycle import RUN_ENDED, RunState
from approvals.models import Run
from approvals.outcomes import Outcome
from bot.asker import asker_of, tell
from bot.authority import owner, starter
from bot.deciding import START
from bot.deps import Deps
from bot.errors import Refused
from bot.ids import ActionId, read_id
from bot.language import say
from bot.payloads import Click
from bot.starts import run_id_for
from bot.whereabouts import where_it_stands


def cancel(deps: Deps, click: Click) -> None:
    """`run.cancel`: nothing more is started; what is at work is waited for."""
    run = _kept(deps, click.value)
    person = owner(deps, click.sender, run, ActionId.CANCEL)
    answer = deps.store.runs.cancel(run.id, by=person.user, name=person.name)
    deps.wake.set()
    if answer.outcome is Outcome.OK and answer.detail["state"] != RunState.STOPPED:
        ends = say("`{run}` ends as soon as what is at work has ended. Nothing more is started.", run=run.id)
        tell(deps, asker_of(click), ends)
    elif answer.outcome is Outcome.REPEATED:
        tell(deps, asker_of(click), say("This run was cancelled already."))
    elif not answer.ok:
        deps.store.outbox.owe("opening", run.id)
        tell(deps, asker_of(click), where_it_stands(deps, run))


def ask_again(deps: Deps, click: Click) -> None:
    """`run.ask_again`: the same request as a new run in the same thread, once for each run that it repeats."""
    run = _kept(deps, click.value)
    if run.canary:
        raise Refused(say("This was a test, so there is nothing to ask again."))
    if click.sender.user != run.requester:
        raise Refused(say("Only whoever asked may ask the same again here. You can ask the agent yourself."))
    starter(deps, click.sender, run.agent)
    again = run_id_for(f"again:{run.id}")
    newest = deps.store.runs.newest_in_thread(run.channel, run.thread_ts)
    before = deps.store.runs.load(again) or (newest if newest and newest.state not in RUN_ENDED else None)
    if before is not None:
        tell(deps, asker_of(click), where_it_stands(deps, before))
        return
    answer = deps.store.runs.start(
        again,
        request=run.request,
        requester=run.requester,
        channel=run.channel,
        thread_ts=run.thread_ts,
        agent=run.agent,
        parent=run.id,
        barrier=run.barrier,
    )
    if answer.outcome is Outcome.OK:
        deps.wake.set()
        deps.nudge(START, again)


def _kept(deps: Deps, value: str) -> Run:
    run = deps.store.runs.load(read_id(value))
    if run is None:
        raise Refused(say("This run is no longer kept. Ask the agent anew if it is still needed."))
    return run
