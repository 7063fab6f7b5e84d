"""Whether those who want a call undone may have it undone: the law now, and who they are now."""

from approvals.models import Call, Run
from policies.authority import may_undo
from policies.person import Person
from policies.requirement import STRICTEST_TIER, Requirement
from policies.risk import Mode
from worker.deps import Deps
from worker.door import Door
from worker.gate import judge_again
from worker.judging import stored
from worker.recheck import FRESH_MS, Authority, Standing


def undo_authority(deps: Deps, run: Run, call: Call, door: Door) -> Authority:
    """As `recheck.authority`, for an undo. Stale means wait, never allow.

    Raises:
        ArgumentsRefused: the stored call does not fit its tool (any more).
    """
    looked = stored(call.key, door, call.content, requester=run.requester)
    need = held_to(call.content.requirement, judge_again(deps, run, call, looked, vetoes={}))
    people: list[Person] = []
    now = deps.store.now()
    for user in deps.store.undos.voters(call.key):
        person = deps.store.people.get(user)
        if person is None or now - person.fetched_at > FRESH_MS:
            return Authority(Standing.STALE)
        refusal = may_undo(
            deps.people(), need, person, requester=run.requester, clicker_team=person.team, escalated=True
        )
        if refusal is not None:
            return Authority(
                Standing.LOST, sentence=f"{person.name} may not take this back any more ({refusal.cause})."
            )
        people.append(person)
    if len(people) < needed(need):
        return Authority(
            Standing.LOST, sentence=f"By now it needs {needed(need)} people, and {len(people)} asked for it."
        )
    return Authority(Standing.ENTITLED, tuple(people))


def held_to(decided: Requirement, need: Requirement) -> Requirement:
    """The stricter of what was asked then and is asked now. What is forbidden now may still be taken back.

    As many people as were asked then the store has counted already.
    """
    if need.mode is not Mode.HUMAN:
        return decided
    if decided.mode is not Mode.HUMAN:
        return need
    tier = STRICTEST_TIER if decided.tier == STRICTEST_TIER else need.tier
    return need.model_copy(update={"tier": tier})


def needed(need: Requirement) -> int:
    """How many people must want it back: as many as had to approve it."""
    return need.reviewers if need.mode is Mode.HUMAN else 1
