"""What reviewers edited before in the same line of runs, so that a later proposal on it says so."""

from collections.abc import Iterator

from approvals.lifecycle import State
from approvals.models import Call, Run
from approvals.store import Store
from policies.arguments import ArgumentsRefused, read_arguments
from policies.edit_trail import changed_resources
from policies.law import Law

#: How far back is looked: runs that this one follows, and pauses of each.
MOST_RUNS = 4
MOST_PAUSES = 12
#: An edit that came to nothing is followed by nothing.
_CAME_TO_NOTHING = frozenset({State.REJECTED, State.EXPIRED, State.FAILED})


def earlier_edits(store: Store, law: Law, run: Run) -> dict[str, str]:
    """Resource -> the sentence of the newest edit about it."""
    found: dict[str, str] = {}
    for call in _before(store, run):
        edits = [decision for decision in call.decisions if decision.verdict == "edit"]
        if not edits or call.state in _CAME_TO_NOTHING:
            continue
        for resource, change in _changed(law, call).items():
            found[resource] = f"{edits[-1].name} edited {call.tool} before: {change}"
    return found


def _before(store: Store, run: Run) -> Iterator[Call]:
    """The calls of the run and of those it follows, oldest first."""
    runs, parent = [run], run.parent
    while parent is not None and len(runs) < MOST_RUNS:
        earlier = store.runs.load(parent)
        if earlier is None:  # closed runs leave the store after a week
            break
        runs.append(earlier)
        parent = earlier.parent
    for one in reversed(runs):
        for pause in range(max(1, one.pause - MOST_PAUSES + 1), one.pause + 1):
            yield from store.calls.of_pause(one.id, pause)


def _changed(law: Law, call: Call) -> dict[str, str]:
    rule = law.rules.get(call.tool)
    if rule is None:
        return {}
    try:
        proposed = read_arguments(rule.arguments, call.content.requested)
        edited = read_arguments(rule.arguments, call.content.arguments)
    except ArgumentsRefused:  # a later law reads them in another way; nothing can be said about them then
        return {}
    return changed_resources(proposed, edited, call.content.requirement.resources)
