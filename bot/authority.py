"""Who stands behind a click, and whether they may: asked anew for every decision."""

from typing import Literal

from approvals.models import Call, Person, Run
from bot.deps import Deps
from bot.errors import Refused
from bot.payloads import Sender
from bot.text import inert
from policies.authority import may_decide, may_operate, may_start
from policies.requirement import Requirement

Verdict = Literal["approve", "edit", "reject"]
ELSEWHERE = "Only members of the home workspace may do this; you are from another."


def reviewer(deps: Deps, sender: Sender, call: Call, verdict: Verdict) -> Person:
    """The person, when the law lets them give this verdict on this call.

    Raises:
        Refused: they may not; noted in the ledger.
        SlackUnavailable: nobody can tell who they are.
    """
    person = known(deps, sender, call)
    refuse_by_law(deps, sender, call, person, verdict, call.content.requirement)
    return person


def refuse_by_law(  # noqa: PLR0917 - who, what, how, in reading order
    deps: Deps, sender: Sender, call: Call, person: Person, verdict: Verdict, requirement: Requirement
) -> None:
    """Refuse when the law does not let this person decide on this requirement.

    Raises:
        Refused: with the sentence for the person; noted in the ledger.
    """
    run = deps.store.runs.load(call.run)
    requester = run.requester if run else person.user
    refusal = may_decide(
        deps.people(),
        requirement,
        person,
        requester=requester,
        clicker_team=sender.team,
        verdict=verdict,
        escalated=_escalated(deps, call),
    )
    if refusal:
        deps.store.calls.note(call.key, event="decision_refused", person=person, detail=f"{verdict}: {refusal.cause}")
        raise Refused(inert(refusal.sentence))


def _escalated(deps: Deps, call: Call) -> bool:
    """Whether the next tier was added, because most of the time was over and nobody was on it."""
    batch = deps.store.batches.load(call.batch) if call.batch else None
    return batch is not None and batch.escalated_at is not None


def known(deps: Deps, sender: Sender, call: Call) -> Person:
    """The person behind a click on a card, when they belong to the home workspace.

    Raises:
        Refused: they belong to another one; noted in the ledger under the signed identity.
        SlackUnavailable: Slack does not say who they are.
    """
    if sender.team != deps.home_team:
        stranger = Person(user=sender.user, name=f"{sender.user} of {sender.team}", team=sender.team, stranger=True)
        deps.store.calls.note(call.key, event="decision_refused", person=stranger, detail="from another workspace")
        raise Refused(ELSEWHERE)
    return deps.desk.ask(sender.user)


def reader(deps: Deps, sender: Sender, call: Call) -> Person:
    """The person, when they may read what is masked on the card: a full member of the home workspace.

    Raises:
        Refused: they are not.
        SlackUnavailable: nobody can tell who they are.
    """
    person = known(deps, sender, call)
    if person.guest or person.bot or person.deactivated or person.stranger or person.team != deps.home_team:
        deps.store.calls.note(call.key, event="details_refused", person=person, detail="not a full member")
        raise Refused("Only full members of this workspace may read the details.")
    return person


def starter(deps: Deps, sender: Sender) -> Person:
    """The person, when they may start runs.

    Raises:
        Refused: they may not.
        SlackUnavailable: nobody can tell who they are.
    """
    if sender.team != deps.home_team:
        raise Refused(ELSEWHERE)
    person = deps.desk.ask(sender.user)
    refusal = may_start(deps.law.reviewers, person, clicker_team=sender.team, agent=deps.agent)
    if refusal:
        raise Refused(inert(refusal.sentence))
    return person


def operator(deps: Deps, sender: Sender, control: str, subject: str) -> Person:
    """The person, when they may press the operators' controls.

    Raises:
        Refused: they may not; noted in the ledger.
        SlackUnavailable: nobody can tell who they are.
    """
    if sender.team != deps.home_team:
        person = Person(user=sender.user, name=f"{sender.user} of {sender.team}", team=sender.team, stranger=True)
        sentence: str | None = ELSEWHERE
    else:
        person = deps.desk.ask(sender.user)
        refusal = may_operate(deps.people(), person, clicker_team=sender.team)
        sentence = refusal.sentence if refusal else None
    if sentence:
        deps.store.operators.refused(control, subject, by=person, reason=sentence)
        raise Refused(inert(sentence))
    return person


def owner(deps: Deps, sender: Sender, run: Run, control: str) -> Person:
    """The person, when the run is theirs, or when they are an operator.

    Raises:
        Refused: they are neither; noted in the ledger.
        SlackUnavailable: nobody can tell who they are.
    """
    if sender.user == run.requester and sender.team == deps.home_team:
        return deps.desk.ask(sender.user)
    return operator(deps, sender, control, run.id)
