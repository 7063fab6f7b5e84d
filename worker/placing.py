"""Which calls share a card, whom each card notifies, and what is refused because people were asked often enough."""

from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime

from approvals.lifecycle import Cause
from approvals.models import CallContent, ProposedBatch, Run
from policies.blast_radius import Group, group
from policies.budgets import cards_left
from policies.notices import Heard, Notice, nobody_ever, to_notify
from policies.requirement import Requirement
from policies.reviewers import Reviewers
from policies.risk import Mode
from worker.deps import Deps

OVER_BUDGET = "Approval budget exhausted: this run has asked people as often as one run may, so nobody is asked."
ASKED_TOO_OFTEN = (
    "Approval budget exhausted: too few of those who may decide {tool} can be asked again within this hour,"
    " so the tool is withdrawn for an hour."
)
WITHDRAWN = "Approval budget exhausted: {tool} is withdrawn until {until} UTC, because people were asked too often."


@dataclass(slots=True)
class Placed:
    """Where policy put each call: its batch, or why it is refused at once. `spent`: the run may ask no more."""

    batches: list[ProposedBatch] = field(default_factory=list)
    refused: dict[str, tuple[Cause, str]] = field(default_factory=dict)
    alerts: dict[str, None] = field(default_factory=dict)
    withdrawn: dict[str, None] = field(default_factory=dict)
    spent: bool = False

    @property
    def held(self) -> bool:
        """Whether people are asked, so that everything else of the turn waits for them."""
        return any(batch.has_card for batch in self.batches)

    @property
    def batch_of(self) -> Mapping[str, str]:
        """Call -> batch."""
        return {key: batch.id for batch in self.batches for key in batch.calls}


def place(deps: Deps, run: Run, contents: Mapping[str, CallContent], tools: Mapping[str, str], *, cards: int) -> Placed:
    """Group the calls of one pause. `tools` names the tool of each call, `cards` is what the run has used before."""
    now = deps.store.now()
    needs = {key: content.requirement for key, content in contents.items()}
    found = Placed()
    people = deps.people()
    told = people.opened(deps.store.people.known_members(people.usergroups()))
    human = dict(_askable(deps, people, run, needs, tools, found))
    heard = deps.store.attention.heard(_everybody(told))
    waiting = deque(_groups(deps, told, run, human, heard))
    while waiting:
        each = waiting.popleft()
        if not cards_left(deps.law.budgets, cards + len(found.batches), 1):
            found.spent = True
            found.alerts[f"budget:{run.id}"] = None
            found.refused |= dict.fromkeys(each.keys, (Cause.BUDGET, OVER_BUDGET))
            continue
        ids, others = _card(deps, told, run, each, needs, tools, heard, found)
        heard = heard.also(ids, now)
        if others:
            waiting.appendleft(Group(each.radius, others))
    autos = tuple(key for key, need in needs.items() if need.mode is Mode.AUTO)
    if autos:
        found.batches.append(_batch(deps, len(found.batches) + 1, "runs unasked", autos, needs))
    return found


def _askable(  # noqa: PLR0917 - one pause and what is found in it
    deps: Deps,
    people: Reviewers,
    run: Run,
    needs: Mapping[str, Requirement],
    tools: Mapping[str, str],
    found: Placed,
) -> Iterator[tuple[str, Requirement]]:
    """The calls that somebody could be asked about now."""
    withdrawn = deps.store.attention.withdrawn()
    for key, need in needs.items():
        if need.mode is not Mode.HUMAN:
            continue
        never, until = nobody_ever(people, need, requester=run.requester), withdrawn.get(tools[key])
        if never is not None:
            found.refused[key] = (Cause.POLICY, never)
            found.alerts[f"tier:{people.tier_of(need)}"] = None
        elif until is not None:
            at = datetime.fromtimestamp(until / 1000, UTC)
            found.refused[key] = (Cause.BUDGET, WITHDRAWN.format(tool=tools[key], until=f"{at:%H:%M}"))
        else:
            yield key, need


def _groups(deps: Deps, people: Reviewers, run: Run, human: Mapping[str, Requirement], heard: Heard) -> Iterator[Group]:
    """Calls that somebody awake is told about first, then those whose reviewers all sleep: no card has both."""
    for quiet in (False, True):
        calls = [
            (key, need.radius)
            for key, need in human.items()
            if to_notify(people, deps.law.budgets, need, requester=run.requester, heard=heard).quiet is quiet
        ]
        yield from group(calls, limit=deps.law.budgets.calls_per_card)


def _card(  # noqa: PLR0917 - one card and what is found in it
    deps: Deps,
    people: Reviewers,
    run: Run,
    each: Group,
    needs: Mapping[str, Requirement],
    tools: Mapping[str, str],
    heard: Heard,
    found: Placed,
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Make one card of those calls for which enough people can still be notified.

    What nobody awake can be told about goes to the next tier at once, card by card: so a card has such calls only, or
    none. Returns whom the card notifies, and the calls that need another card, since an earlier card of this pause
    used up those who were awake for them.
    """
    told: dict[str, Notice] = {}
    for key in each.keys:
        notice = to_notify(people, deps.law.budgets, needs[key], requester=run.requester, heard=heard)
        if notice:
            told[key] = notice
        else:
            found.refused[key] = (Cause.BUDGET, ASKED_TOO_OFTEN.format(tool=tools[key]))
            found.withdrawn[tools[key]] = None
            found.alerts[f"budget:{run.id}"] = None
    if not told:
        return (), ()
    quiet = next(iter(told.values())).quiet
    kept = tuple(key for key, notice in told.items() if notice.quiet is quiet)
    ids = tuple(dict.fromkeys(name for key in kept for name in told[key].ids))
    batch = _batch(deps, len(found.batches) + 1, each.radius, kept, needs, has_card=True)
    found.batches.append(batch.model_copy(update={"notify": ids, "quiet": quiet}))
    if quiet:
        found.alerts[f"quiet:{batch.id}"] = None
    return ids, tuple(key for key in told if key not in kept)


def _batch(
    deps: Deps,
    number: int,
    radius: str,
    keys: tuple[str, ...],
    needs: Mapping[str, Requirement],
    *,
    has_card: bool = False,
) -> ProposedBatch:
    """The shortest time of any call counts for the whole card."""
    return ProposedBatch(
        id=deps.store.new_id("batch"),
        radius=radius,
        number=number,
        calls=keys,
        has_card=has_card,
        ttl_s=min(needs[key].ttl_s for key in keys),
        lapse_s=min(needs[key].lapse_s for key in keys),
    )


def _everybody(people: Reviewers) -> Iterator[str]:
    for tier in people.tiers.values():
        yield from (*tier.users, *tier.usergroups)
