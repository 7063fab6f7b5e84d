"""Who stands behind a click, and whether they may: asked anew for every decision."""

from collections.abc import Callable
from typing import Literal

from approvals.models import Call, Person, Run
from bot.deps import Deps
from bot.errors import Refused
from bot.language import say, switch_to
from bot.payloads import Sender
from bot.refusals import from_elsewhere, may_not_decide, may_not_operate, may_not_start
from policies.authority import Refusal, may_decide, may_operate, may_start
from policies.requirement import Requirement

Verdict = Literal["approve", "edit", "reject"]
#: As the ledger keeps it, whatever language the person reads.
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
    refusal = _refusal(deps, sender, call, person, verdict, requirement)
    if refusal:
        deps.store.calls.note(call.key, event="decision_refused", person=person, detail=f"{verdict}: {refusal.cause}")
        raise Refused(may_not_decide(refusal, requirement))


def entitled(deps: Deps, sender: Sender, call: Call, person: Person) -> bool:
    """Whether this person may give any verdict on this call. Asking is no attempt: nothing is noted."""
    return _refusal(deps, sender, call, person, "reject", call.content.requirement) is None


def _refusal(  # noqa: PLR0917 - as above
    deps: Deps, sender: Sender, call: Call, person: Person, verdict: Verdict, requirement: Requirement
) -> Refusal | None:
    run = deps.store.runs.load(call.run)
    return may_decide(
        deps.people(),
        requirement,
        person,
        requester=run.requester if run else person.user,
        clicker_team=sender.team,
        verdict=verdict,
        escalated=_escalated(deps, call),
    )


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
        deps.store.calls.note(
            call.key, event="decision_refused", person=_stranger(sender), detail="from another workspace"
        )
        raise Refused(from_elsewhere())
    return _asked(deps, sender)


def reader(deps: Deps, sender: Sender, call: Call) -> Person:
    """The person, when they may read what is masked on the card: a full member of the home workspace.

    Raises:
        Refused: they are not.
        SlackUnavailable: nobody can tell who they are.
    """
    person = known(deps, sender, call)
    if person.guest or person.bot or person.deactivated or person.stranger or person.team != deps.home_team:
        deps.store.calls.note(call.key, event="details_refused", person=person, detail="not a full member")
        raise Refused(say("Only full members of this workspace may read the details."))
    return person


def starter(deps: Deps, sender: Sender, agent: str) -> Person:
    """The person, when they may start runs of this agent.

    Raises:
        Refused: they may not.
        SlackUnavailable: nobody can tell who they are.
    """
    if sender.team != deps.home_team:
        raise Refused(from_elsewhere())
    person = _asked(deps, sender)
    refusal = may_start(deps.law.reviewers, person, clicker_team=sender.team, agent=agent)
    if refusal:
        raise Refused(may_not_start(refusal))
    return person


def operator(deps: Deps, sender: Sender, control: str, subject: str) -> Person:
    """The person, when they may press the operators' controls.

    Raises:
        Refused: they may not; noted in the ledger.
        SlackUnavailable: nobody can tell who they are.
    """

    def law(person: Person) -> Refusal | None:
        return may_operate(deps.people(), person, clicker_team=sender.team)

    return entitled_by(deps, sender, control, subject, law, may_not_operate)


def entitled_by(  # noqa: PLR0917 - who, for what, and by which law
    deps: Deps,
    sender: Sender,
    control: str,
    subject: str,
    law: Callable[[Person], Refusal | None],
    words: Callable[[Refusal], str],
) -> Person:
    """The person, when `law` has nothing against them; `words` says its refusal in the reader's language.

    Raises:
        Refused: they may not; noted in the ledger under the signed identity.
        SlackUnavailable: nobody can tell who they are.
    """
    if sender.team != deps.home_team:
        person, kept, told = _stranger(sender), ELSEWHERE, from_elsewhere()
    else:
        person = _asked(deps, sender)
        refusal = law(person)
        if refusal is None:
            return person
        kept, told = refusal.sentence, words(refusal)
    deps.store.operators.refused(control, subject, by=person, reason=kept)
    raise Refused(told)


def _stranger(sender: Sender) -> Person:
    """Somebody of another workspace, of whom Slack is not asked."""
    return Person(user=sender.user, name=f"{sender.user} of {sender.team}", team=sender.team, stranger=True)


def _asked(deps: Deps, sender: Sender) -> Person:
    """Who this is, as Slack says now. What is said to them from here on is in the language that Slack told."""
    person = deps.desk.ask(sender.user)
    switch_to(person.locale, person.tz)
    return person


def owner(deps: Deps, sender: Sender, run: Run, control: str) -> Person:
    """The person, when the run is theirs, or when they are an operator.

    Raises:
        Refused: they are neither; noted in the ledger.
        SlackUnavailable: nobody can tell who they are.
    """
    if sender.user == run.requester and sender.team == deps.home_team:
        return _asked(deps, sender)
    return operator(deps, sender, control, run.id)
