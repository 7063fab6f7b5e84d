"""Whether those who want a call undone may have it undone: the law now, and who they are now."""

from datetime import UTC, datetime
from typing import NamedTuple

from approvals.models import Call, Run
from policies.authority import may_undo
from policies.person import Person
from policies.undoing import people_needed, undo_requirement
from worker.deps import Deps
from worker.door import Door
from worker.judging import stored
from worker.recheck import FRESH_MS, Authority, Standing


class UndoAuthority(NamedTuple):
    """What a look at those who want it says, and how many of them it takes."""

    seen: Authority
    needed: int


def undo_authority(deps: Deps, run: Run, call: Call, door: Door) -> UndoAuthority:
    """As `recheck.authority`, for an undo. Stale means wait, never allow.

    Raises:
        ArgumentsRefused: the stored call does not fit its tool (any more).
    """
    proposal = stored(call.key, door, call.content, requester=run.requester).proposal()
    now, decided = deps.store.now(), call.content.requirement
    instant = datetime.fromtimestamp(now / 1000, UTC)
    need = undo_requirement(deps.law, decided, proposal, requester=run.requester, now=instant)
    needed, people = people_needed(need), list[Person]()
    for user in deps.store.undos.voters(call.key):
        person = deps.store.people.get(user)
        if person is None or not 0 <= now - person.fetched_at <= FRESH_MS:
            return UndoAuthority(Authority(Standing.STALE), needed)
        refusal = may_undo(
            deps.people(), need, person, requester=run.requester, clicker_team=person.team, escalated=True
        )
        if refusal is not None:
            sentence = f"{person.name} may not take this back any more ({refusal.cause})."
            return UndoAuthority(Authority(Standing.LOST, sentence=sentence), needed)
        people.append(person)
    if len(people) < needed:
        sentence = f"By now it needs {needed} people, and {len(people)} asked for it."
        return UndoAuthority(Authority(Standing.LOST, sentence=sentence), needed)
    return UndoAuthority(Authority(Standing.ENTITLED, tuple(people)), needed)
