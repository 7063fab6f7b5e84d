"""An edit: what is pure is answered at the field; what needs the team's data is checked by the worker afterwards."""

from collections.abc import Mapping
from datetime import UTC, datetime

from approvals.models import Call, CallContent
from approvals.outcomes import Answer, Outcome
from bot.deps import Deps
from bot.errors import Refused
from bot.language import say
from bot.sentences import sentence
from policies.arguments import Arguments, ArgumentsRefused, canonical_text, read_arguments
from policies.edits import EditRefused, apply_edit, difference
from policies.evaluate import Proposal, evaluate
from policies.history import keeping
from policies.requirement import STRICTEST_TIER, Requirement
from policies.risk import Mode
from policies.rule import Facts


def editable(deps: Deps, call: Call, version: int) -> Arguments | None:
    """The arguments of a call, when the law knows its tool and can read them.

    Raises:
        Refused: the call is not, or no longer, in the version that was shown, or bot and worker have two laws.
    """
    if call.version != version:
        raise Refused(sentence(Answer(Outcome.STALE_VERSION)))
    if call.refreshing:
        raise Refused(sentence(Answer(Outcome.REFRESHING)))
    worker_law = deps.store.switches.worker_law()
    if worker_law is not None and worker_law != deps.law.version:
        # The form would be read by one law and checked by another.
        raise Refused(being_updated())
    rule = deps.law.rules.get(call.tool)
    if rule is None or call.content.problem or call.canary:
        return None
    try:
        return read_arguments(rule.arguments, call.content.arguments)
    except ArgumentsRefused:
        return None


def edited(
    deps: Deps, call: Call, args: Arguments, typed: Mapping[str, str | tuple[str, ...]]
) -> tuple[CallContent, Requirement]:
    """The content of version n+1, and what the law says about it.

    Raises:
        EditRefused: with a sentence for each input.
    """
    changed = apply_edit(args, typed)
    requirement = judged(deps, call, changed)
    if requirement.mode is Mode.FORBIDDEN:
        why = say("Not allowed: {reasons}", reasons="; ".join(requirement.reasons))
        raise EditRefused({first_changed(typed): why})
    content = call.content.model_copy(
        update={"arguments": canonical_text(changed), "previous": difference(args, changed)}
    )
    return content, requirement


def being_updated() -> str:
    """What somebody is told who edits while bot and worker have two laws."""
    return say("The policy is being updated, so nothing can be edited for a moment. Try again in a minute.")


def first_changed(typed: Mapping[str, str | tuple[str, ...]]) -> str:
    """Where a sentence about the whole belongs."""
    return next(iter(typed), "")


def judged(deps: Deps, call: Call, args: Arguments) -> Requirement:
    """What the law says about changed arguments, with the facts as they were sealed.

    A first answer for the person at the form: the worker judges again, with fresh facts.
    """
    facts, problem = _facts(deps, call)
    proposal = Proposal(
        key=call.key,
        tool=call.tool,
        agent=call.agent,
        args=args,
        facts=facts,
        problem=problem,
        kind="facts" if problem else None,
    )
    run = deps.store.runs.load(call.run)
    now = datetime.fromtimestamp(deps.store.now() / 1000, UTC)
    requester = run.requester if run else ""
    (requirement,) = evaluate(deps.law, [proposal], requester=requester, spent=_spent(deps, call), vetoes={}, now=now)
    frozen = call.content.requirement
    need = keeping(frozen, requirement)
    if frozen.tier == STRICTEST_TIER and need.mode is Mode.HUMAN:
        return need.model_copy(update={"tier": STRICTEST_TIER})  # whatever made it so is not looked at again here
    return need


def _facts(deps: Deps, call: Call) -> tuple[Facts | None, str | None]:
    rule = deps.law.rules[call.tool]
    try:
        return read_arguments(rule.facts, call.content.facts), None
    except ArgumentsRefused:
        return None, say("The facts of this call cannot be read any more.")


def _spent(deps: Deps, call: Call) -> dict[tuple[str, str], int]:
    """What the run takes up without this call."""
    spent = deps.store.runs.counts(call.run)
    for label, amount in call.content.requirement.counts.items():
        place = (label, amount.currency)
        spent[place] = max(0, spent.get(place, 0) - amount.minor)
    return spent
