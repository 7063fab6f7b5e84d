"""A card, an edit of its text, and data that grew meanwhile: nothing runs that nobody saw."""

import asyncio
from collections.abc import Callable
from typing import Annotated, Any

import pytest
from agents import Agent

from approvals.lifecycle import State
from approvals.models import Call, Decision
from approvals.readable import MOST_CHARACTERS
from block_rules import all_text, assert_message
from bot.cards import render_card
from bot.details import fully_readable
from bot_builders import AnyLaw
from policies.arguments import Arguments, canonical_text
from policies.edits import Text, difference
from policies.requirement import STRICTEST_TIER, Requirement
from policies.risk import Risk
from policies.rule import Ask, Facts, Spend, rule
from worker import batches
from worker.actions import ActionContext, Preview, action
from workshop import ANA, LEA, Line, Ship, Workshop, a_law, function_call, saying, shipping


class Announce(Arguments):
    """Mail everybody of a segment."""

    segment: str
    text: Annotated[str, Text(max=200)]


class Listed(Facts):
    recipients: list[str]


class Addressed(Facts):
    address_of: dict[str, str]


def listed(members: list[str]) -> Facts:
    return Listed(recipients=list(members))


def addressed(members: list[str]) -> Facts:
    return Addressed(address_of={name: f"{name}@example.com" for name in members})


BEFORE, AFTER = Announce(segment="vip", text="helo"), Announce(segment="vip", text="hello")


class Mailing:
    """An agent that mails a segment, and who is in the segment right now."""

    def __init__(self, workshop: Workshop, facts: Callable[[list[str]], Facts]) -> None:
        self.workshop, self.facts = workshop, facts
        self.members, self.mailed = ["ann"], list[str]()
        self.body = ""
        workshop.law = a_law([self._rule()])
        tool = self._tool()
        workshop.build = lambda model: Agent(name="desk", instructions="Mail.", model=model, tools=[tool])
        call = function_call("announce", {"segment": "vip", "text": "helo"}, call_id="c1")
        workshop.script.extend([[call], [saying()]])
        workshop.start()
        workshop.post_cards()

    def _rule(self) -> Any:
        @rule(Announce, type(self.facts([])), risk=Risk.IRREVERSIBLE)
        def announce(ask: Ask[Announce, Any], so_far: Spend) -> Requirement:
            return Requirement(radius="mail", resources=(ask.args.segment,)).needs("desk", because="It is mail.")

        return announce

    def _tool(self) -> Any:
        async def check(args: Announce) -> Facts:
            return self.facts(self.members)

        async def preview(ask: Ask[Announce, Any]) -> Preview:
            return Preview(headline=f"Mail {len(self.members)} people", body=self.body)

        @action(Announce, check=check, preview=preview)
        async def announce(ctx: ActionContext, args: Announce) -> None:
            """Mail everybody of a segment."""
            self.mailed += self.members

        return announce

    @property
    def call(self) -> Call:
        (found,) = self.workshop.calls()
        return found

    def edit(self) -> None:
        """Ana mends a typing error of the text."""
        call = self.call
        changed = {"arguments": canonical_text(AFTER), "previous": difference(BEFORE, AFTER)}
        word = Decision(call=call.key, version=call.version, verdict="edit", reviewer=ANA, name="Ana")
        answer = self.workshop.store.calls.edit(
            call.key,
            version=call.version,
            decision=word,
            person=self.workshop.see(ANA),
            content=call.content.model_copy(update=changed),
        )
        assert answer.ok, answer

    def card(self) -> str:
        """Everything on the call's card as it is now, which Slack would take."""
        view = self.workshop.store.batches.view(self.call.batch or "")
        assert view is not None
        made = render_card(view, AnyLaw())
        assert_message(made)
        return all_text(made.blocks)

    def checked_and_tried(self) -> Call:
        """The edit is checked, then every batch is tried."""
        self.workshop.refresh(self.call)
        self.workshop.execute()
        return self.call


@pytest.mark.parametrize(
    ("facts", "line"), [(listed, "recipients: 4999 of 5000 entries are new"), (addressed, "address of m0: new")]
)
def test_an_edit_of_the_text_approves_no_recipients_that_came_meanwhile(
    workshop: Workshop, facts: Callable[[list[str]], Facts], line: str
) -> None:
    mailing = Mailing(workshop, facts)
    assert "Mail 1 people" in mailing.card()
    mailing.edit()
    mailing.members += [f"m{number}" for number in range(4_999)]

    call = mailing.checked_and_tried()

    assert mailing.mailed == []
    assert (call.state, call.version, call.refreshing) == (State.PENDING_REVIEW, 2, False)
    assert line in call.content.previous
    assert "Mail 5000 people" in mailing.card()
    assert line in mailing.card()
    assert workshop.decide(call).ok, "whoever sees it as it is now may approve it"
    workshop.execute()
    assert len(mailing.mailed) == 5_000


@pytest.mark.parametrize("facts", [listed, addressed])
def test_an_edit_over_data_that_is_as_it_was_or_less_needs_no_second_look(
    workshop: Workshop, facts: Callable[[list[str]], Facts]
) -> None:
    mailing = Mailing(workshop, facts)
    mailing.edit()
    call = mailing.checked_and_tried()
    assert (call.state, mailing.mailed) == (State.SUCCEEDED, ["ann"])


def test_an_edit_approves_nothing_that_became_too_long_to_be_read(workshop: Workshop) -> None:
    mailing = Mailing(workshop, listed)
    mailing.edit()
    mailing.body = "x" * MOST_CHARACTERS

    call = mailing.checked_and_tried()

    assert (call.state, mailing.mailed) == (State.PENDING_REVIEW, [])
    assert "It is too long to be read in full now, so nobody can approve it" in call.content.previous
    assert not fully_readable(call)
    assert "Too long to be read in full here" in mailing.card()


class Away(dict[str, int]):
    """The stock, whose database is down."""

    def __getitem__(self, item: str) -> int:
        raise ConnectionError(item)


def test_an_edit_of_the_strictest_tier_approves_nothing_whose_rows_could_not_be_looked_up(workshop: Workshop) -> None:
    workshop.script.extend([[shipping(("cup", 3))], [saying()]])
    workshop.start()
    (call,) = workshop.calls()
    workshop.shop.stock = Away()
    assert workshop.edit(call, Ship(lines=[Line(item="cup", count=2)]), by=LEA).ok
    workshop.refresh(call)
    asyncio.run(batches.execute(workshop.deps, call.batch or ""))
    (call,) = workshop.calls()
    assert (call.state, workshop.shop.done) == (State.PENDING_REVIEW, [])
    assert (call.content.requirement.tier, call.content.preview.generic) == (STRICTEST_TIER, True)
    assert call.content.previous == (
        "cup count: 3 -> 2",
        "What the call rests on can no longer be told",
        "There is no preview of it any more, only its arguments as they are",
    )
