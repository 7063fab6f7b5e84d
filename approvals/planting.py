"""Plants a canary: what its card says is invented by `reviewers.toml`, whom it asks is real, and nothing ever runs."""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import NamedTuple

from approvals.canaries import AGENT, Planted
from approvals.errors import ApprovalsError
from approvals.models import CallContent
from approvals.outcomes import Outcome
from approvals.preview import Preview
from approvals.seal import digest
from approvals.sealing import Subject, sealed
from approvals.store import Store
from policies.canaries import Canaries, CanaryCall
from policies.law import Law
from policies.notices import nobody_ever, to_notify
from policies.requirement import Requirement
from policies.reviewers import Reviewers
from policies.strict_json import write_json

#: As long as the versions and schema digests that real calls bear.
_VERSION = 12


class NoCanaries(ApprovalsError):
    """The team has not opted in to canaries."""


class Tried(NamedTuple):
    """What became of planting one: its run, or why nobody was asked."""

    run: str | None
    why: str = ""


def plant(store: Store, law: Law, draw: int) -> Tried:
    """Plant one of the calls of `[canaries]`, which the draw chooses; nobody is asked who could not be asked anything.

    Raises:
        NoCanaries: there is no such table.
    """
    asked = law.reviewers.canaries
    if asked is None:
        raise NoCanaries("reviewers.toml has no [canaries], so there are none. docs/policies.md shows how to opt in.")
    now = datetime.fromtimestamp(store.now() / 1000, UTC)
    one = asked.calls[draw % len(asked.calls)]
    need = one.requirement(law=law.version, deadlines=law.deadlines, now=now)
    notify, why = _whom(store, law, law.people_at(now), need, one, asked.requester)
    if why:
        return Tried(None, why)
    written = _written(store, asked, one, need, notify)
    answer = store.canaries.plant(written, interruptions=law.budgets.interruptions_per_hour)
    if answer.outcome is Outcome.CAP_REACHED:
        return Tried(None, "Somebody was just asked as often as people may be within an hour.")
    return Tried(written.run)


def _whom(  # noqa: PLR0917 - one question and everything it rests on
    store: Store, law: Law, people: Reviewers, need: Requirement, one: CanaryCall, requester: str
) -> tuple[tuple[str, ...], str]:
    """Whom the card notifies, or why it is not the time for a test."""
    if store.switches.frozen() is not None:
        return (), "Everything is frozen; people have other things to do."
    never = nobody_ever(people, need, requester=requester)
    if never is not None:
        return (), never
    if one.tool in store.attention.withdrawn():
        return (), f"{one.tool} is withdrawn for an hour, because people were asked too often."
    told = people.opened(store.people.known_members(people.usergroups()))
    heard = store.attention.heard(_everybody(told))
    notice = to_notify(told, law.budgets, need, requester=requester, heard=heard)
    if not notice:
        return (), "Too few of those who may decide it can be asked again within this hour."
    if notice.quiet:
        return (), "Too few of those who may decide it are awake."
    return notice.ids, ""


def _written(store: Store, asked: Canaries, one: CanaryCall, need: Requirement, notify: tuple[str, ...]) -> Planted:
    run, key = store.new_id("run"), store.new_id("call")
    arguments = write_json(one.arguments)
    content = CallContent(
        requested=arguments,
        arguments=arguments,
        requirement=need,
        preview=Preview(headline=one.headline, impact=one.impact),
        agent_version=digest({"agent": one.agent})[:_VERSION],
        tool_schema=digest({"tool": one.tool}),
        reason=one.reason,
    )
    subject = Subject(tenant=store.tenant, run=run, requester=asked.requester, key=key, agent=AGENT, tool=one.tool)
    return Planted(
        run=run,
        batch=store.new_id("batch"),
        call=key,
        sdk_id=store.new_id("sdk").removeprefix("sdk_"),
        tool=one.tool,
        content=content,
        seal=sealed(subject, content, version=1),
        request=one.request,
        requester=asked.requester,
        channel=asked.channel,
        started_as=one.started_as,
        notify=notify,
    )


def _everybody(people: Reviewers) -> Iterator[str]:
    for tier in people.tiers.values():
        yield from (*tier.users, *tier.usergroups)
