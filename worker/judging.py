"""From a call's raw text to what it needs and what a reviewer reads: arguments, facts, law, preview."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from typing import Literal, TypeVar

from approvals.models import CallContent
from approvals.preview import Preview
from approvals.queue import JobTimeout
from approvals.storable import whole_text
from policies.arguments import ArgumentsRefused, canonical_text, personal_pointers, read_arguments
from policies.evaluate import Proposal, evaluate
from policies.law import Law
from policies.requirement import STRICTEST_TIER, Requirement
from policies.risk import Mode
from policies.rule import Ask, Facts, NoFacts, Rule
from worker.actions import NothingHappened
from worker.bounded import NoAnswer, Patience, bounded
from worker.door import Door, Reading
from worker.keeping import NotKept, keepable_facts, keepable_preview
from worker.previews import generic_preview, shows_everything

T = TypeVar("T")
Kind = Literal["arguments", "facts", "tool"]
Held = Callable[[Sequence[Requirement]], Mapping[tuple[str, str, str], int]]


@dataclass(frozen=True, slots=True)
class Looked:
    """A call after reading and checking. `problem` is a sentence when something went wrong, `kind` says what."""

    key: str
    door: Door
    raw: str
    requester: str
    reading: Reading | None = None
    facts: Facts = field(default_factory=NoFacts)
    problem: str | None = None
    kind: Kind | None = None

    def proposal(self) -> Proposal:
        """The call as the law judges it."""
        tool, agent = self.door.tool.name, self.door.agent.name
        args = self.reading.args if self.reading else None
        return Proposal(self.key, tool, agent, args, self.facts, self.problem, self.kind)


async def look(
    key: str, door: Door, asked: str | CallContent, *, requester: str, patience: Patience | None = None
) -> Looked:
    """Read the arguments strictly and fetch the facts. What goes wrong is said in `problem`, never raised.

    `asked` is the model's own text, or a stored call, whose arguments must be read as they were stored.
    A check that gives no answer while there is `patience` has failed; without it, the caller sees to that.
    """
    raw = asked if isinstance(asked, str) else asked.requested
    looked = Looked(key, door, raw, requester)
    try:
        looked = replace(looked, reading=door.read(asked) if isinstance(asked, str) else door.again(asked))
    except ArgumentsRefused as refused:
        return replace(looked, problem=refused.sentence, kind="arguments")
    except JobTimeout:
        raise
    # A boundary, as for the check below: a validator of the team's own may raise anything.
    except Exception as error:  # noqa: BLE001
        why = f"The arguments of {door.tool.name} could not be read ({type(error).__name__})."
        return replace(looked, problem=why, kind="arguments")
    if door.rule is None:
        return replace(looked, kind="tool")
    return await _with_facts(looked, door.rule, patience)


async def _with_facts(looked: Looked, rule: Rule, patience: Patience | None) -> Looked:
    """The call with the facts that its check finds, or the problem."""
    door = looked.door
    check = door.action.check if door.action else None
    if check is None:
        return looked
    try:
        args = looked.reading.args if looked.reading else None
        facts = keepable_facts(await _in_time(check(args), patience), rule.facts)
    except NothingHappened as refused:
        return replace(looked, problem=whole_text(str(refused)), kind="arguments")
    except NotKept as lost:
        why = f"The check of {door.tool.name} gave facts that cannot be kept: {lost}. So nobody knows them."
        return replace(looked, problem=why, kind="facts")
    except NoAnswer as late:
        why = f"The check of {door.tool.name} failed ({late}), so nobody knows the facts."
        return replace(looked, problem=why, kind="facts")
    except JobTimeout:
        raise
    # A boundary: the check is the team's code. Whatever it raises, a person decides, and is told.
    except Exception as error:  # noqa: BLE001
        why = f"The check of {door.tool.name} failed ({type(error).__name__}), so nobody knows the facts."
        return replace(looked, problem=why, kind="facts")
    return replace(looked, facts=facts)


def stored(key: str, door: Door, content: CallContent, *, requester: str) -> Looked:
    """A stored call as it was looked at then, without asking anybody's data again.

    Raises:
        ArgumentsRefused: the stored arguments or facts do not fit the tool (any more).
    """
    looked = Looked(key, door, content.requested, requester, reading=door.again(content))
    if door.rule is None:
        return replace(looked, kind="tool")
    if content.problem:
        return replace(looked, problem=content.problem, kind="facts")
    return replace(looked, facts=read_arguments(door.rule.facts, content.facts))


def sealed_facts(door: Door, content: CallContent) -> Facts | None:
    """What the check found, as it was sealed; None for a tool without a check, or whose rule is gone.

    Raises:
        ArgumentsRefused: the stored facts do not fit the rule any more.
    """
    if door.rule is None or door.action is None or door.action.check is None:
        return None
    return read_arguments(door.rule.facts, content.facts)


def judge(
    law: Law,
    turn: Sequence[Looked],
    *,
    requester: str,
    spent: Mapping[tuple[str, str], int],
    vetoes: Mapping[str, str],
    now_ms: int,
    corrections: Mapping[str, str] | None = None,
    edits: Mapping[str, str] | None = None,
    held: Held | None = None,
) -> tuple[Requirement, ...]:
    """What each call of a turn needs, judged together. `held` tells what other calls hold of the caps of these."""
    now = datetime.fromtimestamp(now_ms / 1000, UTC)
    proposals = [looked.proposal() for looked in turn]
    asked = partial(
        evaluate,
        law,
        proposals,
        requester=requester,
        spent=spent,
        vetoes=vetoes,
        corrections=corrections or {},
        edits=edits or {},
        now=now,
    )
    needs = asked()
    caps = held(needs) if held is not None else {}
    return asked(caps=caps) if caps else needs  # also where nothing is held: what a rule looks at is noted


async def described(
    looked: Looked, need: Requirement, *, agent_version: str, patience: Patience | None = None
) -> CallContent:
    """Everything that is sealed and shown about a call, its requirement made stricter where nothing can be shown.

    A preview that gives no answer while there is `patience` has failed; without it, the caller sees to that.
    """
    text = looked.reading.text if looked.reading else "{}"
    preview, failed = await _preview(looked, need, patience)
    if failed or (preview.generic and need.mode is Mode.HUMAN):
        need = _strictest(need, failed or "No preview was written for it, so the strictest tier decides.")
    if not shows_everything(preview) and need.mode is not Mode.FORBIDDEN:
        need = need.forbid_when(True, "It is too large to be shown to anybody, so nobody can approve it.")
    return CallContent(
        requested=looked.raw,
        arguments=text,
        facts=canonical_text(looked.facts),
        requirement=need,
        preview=preview,
        agent_version=agent_version,
        tool_schema=looked.door.schema,
        problem=looked.problem,
        personal=personal_pointers(looked.reading.args) if looked.reading and looked.reading.args else (),
    )


def preview_failed(looked: Looked, need: Requirement, content: CallContent) -> bool:
    """Whether `content`, which was described by `looked` and `need`, lacks the preview that its action has."""
    has_one = looked.door.action is not None and looked.door.action.preview is not None
    wanted = has_one and looked.problem is None and need.mode is not Mode.FORBIDDEN
    return wanted and content.preview.generic


async def _preview(looked: Looked, need: Requirement, patience: Patience | None) -> tuple[Preview, str | None]:
    """The preview, and a sentence when the team's own could not be made."""
    door, tool = looked.door, looked.door.tool.name
    generic = generic_preview(tool, looked.reading.text if looked.reading else "{}")
    preview = door.action.preview if door.action else None
    args = looked.reading.args if looked.reading else None
    if preview is None or args is None or looked.problem is not None or need.mode is Mode.FORBIDDEN:
        return generic, None
    ask = Ask(tool, door.agent.name, looked.requester, args, looked.facts)
    try:
        return keepable_preview(await _in_time(preview(ask), patience)), None
    except NotKept as lost:
        return generic, f"Its preview cannot be kept: {lost}. So the strictest tier decides."
    except NoAnswer as late:
        return generic, f"Its preview failed ({late}), so the strictest tier decides."
    except JobTimeout:
        raise
    # A boundary, as for the check: what cannot be shown is never automatic.
    except Exception as error:  # noqa: BLE001
        return generic, f"Its preview failed ({type(error).__name__}), so the strictest tier decides."


async def _in_time(work: Awaitable[T], patience: Patience | None) -> T:
    return await (work if patience is None else bounded(work, seconds=patience.seconds(), what="it"))


def _strictest(need: Requirement, why: str) -> Requirement:
    if need.mode is Mode.FORBIDDEN:
        return need
    reasons = (why,) if need.mode is Mode.AUTO else (*need.reasons, why)
    return need.model_copy(update={"mode": Mode.HUMAN, "tier": STRICTEST_TIER, "confirm": True, "reasons": reasons})
