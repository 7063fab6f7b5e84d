"""Every control pressed by people in Chromium, between the sandbox, the real bot and a real store."""

import json
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import pytest
from playwright.sync_api import Browser, expect

from approvals.lifecycle import RunState, State
from approvals.outcomes import Outcome
from at_the_browser import Seat, seat
from bot_office import BRUNO, GUS, OLGA, OMAR, OPS, RITA, ROSA, XENA, Office, a_refund
from browser import browsing
from builders import move
from policies.rules.refunds import RefundFacts
from tests.integration.test_dead_letters import an_unknown

FIRST, SECOND = (f"call_{number:012d}" for number in (1, 2))
ELSEWHERE = "T0000OTHER"


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with browsing() as opened:
        yield opened


class Case:
    """A card in a thread, and the people who look at it."""

    def __init__(self, browser: Browser, office: Office, stack: ExitStack) -> None:
        self.browser, self.office, self.stack = browser, office, stack
        self.run, self.thread = office.start()

    def posted(self, *calls: Any) -> str:
        batch = self.office.pause(self.run, *calls)
        self.office.card_with(batch, "decide by")
        return batch

    def at(self, user: str, **where: str) -> Seat:
        where = where if "channel" in where else {"thread": self.thread, **where}
        return self.stack.enter_context(seat(self.browser, self.office, user, **where))


@pytest.fixture
def case(browser: Browser, office: Office) -> Iterator[Case]:
    with ExitStack() as stack:
        yield Case(browser, office, stack)


def a_call(*amounts: int, number: int = 1, confirm: bool = False, **changes: Any) -> Any:
    """A refund that can be edited, on request one that asks twice."""
    names = [f"pay_{at:04d}" for at in range(1, len(amounts) + 1)]
    charged = {name: {"minor": minor, "currency": "EUR"} for name, minor in zip(names, amounts, strict=True)}
    facts = {"customer_of": {name: f"cus_{name}" for name in names}, "charged": charged}
    known = RefundFacts.model_validate_json(json.dumps(facts)).model_dump_json()
    call = a_refund(*amounts, number=number, facts=known, **changes)
    asking = call.content.requirement.model_copy(update={"confirm": confirm})
    return call.model_copy(update={"content": call.content.model_copy(update={"requirement": asking})})


def test_approve_asks_twice_and_going_back_decides_nothing(case: Case) -> None:
    case.posted(a_call(31240, confirm=True))
    bruno = case.at(BRUNO)
    bruno.press("call.approve", sure=False)
    expect(bruno.control("call.approve")).to_be_visible()
    assert case.office.call(FIRST).state is State.PENDING_REVIEW
    assert case.office.slack.deliveries("block_actions") == []
    bruno.press("call.approve", sure=True)
    bruno.reads("Approved by Bruno Billing")
    expect(bruno.page.get_by_test_id("call.approve")).to_have_count(0)
    assert case.office.call(FIRST).state is State.APPROVED


def test_a_cancelled_rejection_leaves_the_card_alive_and_a_rejection_needs_a_reason(case: Case) -> None:
    case.posted(a_call(31240))
    bruno = case.at(BRUNO)
    bruno.press("call.reject")
    expect(bruno.field("reason")).to_be_visible()
    bruno.close()
    assert case.office.call(FIRST).state is State.PENDING_REVIEW
    bruno.press("call.reject")
    bruno.field("common").get_by_label("Another reason").check()
    bruno.submit()
    bruno.refused_at("reason", "Say why")
    bruno.field("reason").fill("wrong customer")
    bruno.submit()
    bruno.reads("Rejected by Bruno Billing")
    expect(bruno.modal).to_have_count(0)
    assert case.office.call(FIRST).decisions[-1].reason == "wrong customer"


def test_an_edit_is_refused_at_the_field_and_then_taken(case: Case) -> None:
    case.posted(a_call(31240))
    bruno = case.at(BRUNO)
    bruno.press("call.edit")
    amount = "arg:/lines/0/amount"
    expect(bruno.field(amount)).to_have_value("312.40")
    for typed in ("4.120", "400.00"):
        bruno.field(amount).fill(typed)
        bruno.submit()
        bruno.refused_at(amount, typed)
    assert case.office.call(FIRST).version == 1
    bruno.field(amount).fill("250.00")
    bruno.submit()
    expect(bruno.modal).to_have_count(0)
    bruno.reads("An edit is being checked")
    expect(bruno.page.get_by_test_id("call.approve")).to_have_count(0)
    assert json.loads(case.office.call(FIRST).content.arguments)["lines"][0]["amount"]["minor"] == 25000


def test_an_edit_can_be_cancelled(case: Case) -> None:
    case.posted(a_call(31240))
    bruno = case.at(BRUNO)
    bruno.press("call.edit")
    bruno.field("arg:/lines/0/amount").fill("1.00")
    bruno.close()
    assert (case.office.call(FIRST).version, case.office.call(FIRST).decisions) == (1, ())
    expect(bruno.control("call.approve")).to_be_visible()


def test_details_are_read_page_by_page_in_one_window(case: Case) -> None:
    case.posted(a_call(31240, reason="word " * 60_000 + "THE END"))
    bruno = case.at(BRUNO)
    bruno.press("call.details")
    expect(bruno.modal).to_contain_text("Page 1 of")
    pages = 1
    while bruno.modal.get_by_test_id("details.page_next").count():
        bruno.modal.get_by_test_id("details.page_next").click()
        pages += 1
        expect(bruno.modal).to_contain_text(f"Page {pages} of")
    assert pages > 2
    expect(bruno.modal).to_contain_text("THE END")
    bruno.modal.get_by_test_id("details.page_back").click()
    expect(bruno.modal).to_contain_text(f"Page {pages - 1} of")
    bruno.close()
    assert case.office.call(FIRST).state is State.PENDING_REVIEW


def test_approve_all_asks_with_number_sum_and_radius_and_going_back_decides_nothing(case: Case) -> None:
    case.posted(a_call(1000), a_call(2000, number=2))
    bruno = case.at(BRUNO)
    bruno.control("batch.approve_all").click()
    for words in ("2 calls", "30.00 EUR", "refunds in EUR"):
        expect(bruno.page.get_by_test_id("confirm")).to_contain_text(words, ignore_case=True)
    bruno.page.get_by_test_id("confirm-deny").click()
    assert case.office.slack.deliveries("block_actions") == []
    bruno.press("batch.approve_all", sure=True)
    bruno.reads("Approved by Bruno Billing")
    assert {case.office.call(key).state for key in (FIRST, SECOND)} == {State.APPROVED}


def test_reject_all_takes_one_reason_for_all(case: Case) -> None:
    case.posted(a_call(1000), a_call(2000, number=2))
    bruno = case.at(BRUNO)
    bruno.press("batch.reject_all")
    bruno.field("common").get_by_label("Another reason").check()
    bruno.field("reason").fill("not this week")
    bruno.submit()
    bruno.reads("Rejected by Bruno Billing")
    assert {case.office.call(key).reason for key in (FIRST, SECOND)} == {"not this week"}


def test_every_call_is_decided_in_one_window_with_errors_at_its_field(case: Case) -> None:
    case.posted(a_call(1000), a_call(2000, number=2))
    bruno = case.at(BRUNO)
    bruno.press("batch.review")
    first, second = (bruno.field(f"verdict:{key}") for key in (FIRST, SECOND))
    first.get_by_label("Approve").check()
    second.get_by_label("Reject").check()
    bruno.submit()
    bruno.refused_at(f"reason:{SECOND}", "Say why")
    assert case.office.call(FIRST).state is State.PENDING_REVIEW
    bruno.field(f"reason:{SECOND}").fill("paid already")
    bruno.submit()
    bruno.reads("Rejected by Bruno Billing")
    case.office.state(FIRST, State.APPROVED)  # one decision after the other, and the card may show the first alone
    case.office.state(SECOND, State.REJECTED)


def test_the_review_asks_once_more_about_what_the_card_asks_twice_about(case: Case) -> None:
    case.posted(a_call(1000, confirm=True), a_call(2000, number=2, confirm=True))
    bruno = case.at(BRUNO)
    bruno.press("batch.review")
    bruno.field(f"verdict:{FIRST}").get_by_label("Approve").check()
    bruno.submit()
    expect(bruno.modal).to_contain_text("Approve 1 call?")
    expect(bruno.modal).to_contain_text("1 call stays open.")
    assert case.office.call(FIRST).state is State.PENDING_REVIEW
    bruno.modal.get_by_test_id("modal-close").click()
    expect(bruno.field(f"verdict:{FIRST}").get_by_label("Approve")).to_be_checked()
    bruno.submit()
    expect(bruno.modal).to_contain_text("Approve 1 call?")
    bruno.submit()
    bruno.reads("Approved by Bruno Billing")
    expect(bruno.modal).to_have_count(0)
    assert case.office.call(SECOND).state is State.PENDING_REVIEW


def test_saying_that_one_looks_is_shown_to_all_and_decides_nothing(case: Case) -> None:
    case.posted(a_call(31240))
    bruno, olga = case.at(BRUNO), case.at(OLGA)
    bruno.press("batch.on_it")
    olga.reads("Bruno Billing is on it")
    assert case.office.call(FIRST).decisions == ()


def test_whoever_asked_cancels_after_being_asked_twice(case: Case) -> None:
    case.posted(a_call(31240))
    rosa = case.at(ROSA)
    rosa.press("run.cancel", sure=False)
    assert case.office.call(FIRST).state is State.PENDING_REVIEW
    rosa.press("run.cancel", sure=True)
    case.office.state(FIRST, State.REJECTED)
    rosa.reads("Withdrawn")


def test_what_nobody_decided_is_asked_again_by_whoever_asked(case: Case) -> None:
    batch = case.posted(a_call(31240))
    store = case.office.store
    move(case.office.client, store.keys.batch(batch), decide_by=store.now() - 1)
    assert store.deadlines.apply(f"decide:{batch}").outcome is Outcome.OK
    lease = store.runs.lease(case.run, token="w", ttl_ms=60_000)
    assert lease
    store.runs.complete(lease, answer="Nobody decided.")
    case.office.bot.deps.wake.set()
    bruno, rosa = case.at(BRUNO), case.at(ROSA)
    bruno.press("run.ask_again")
    bruno.reads("Only whoever asked")
    rosa.press("run.ask_again")
    newest = case.office.until(lambda: _another(case), "a new run")
    assert newest.parent == case.run


def _another(case: Case) -> Any:
    newest = case.office.store.runs.newest_in_thread("C_REFUNDS", case.thread)
    return newest if newest and newest.id != case.run else None


def test_operators_settle_what_nobody_saw_with_how_they_know(case: Case) -> None:
    an_unknown(case.office)
    omar, bruno = case.at(OMAR, channel=OPS), case.at(BRUNO, channel=OPS)
    bruno.press("ops.mark_done", "Unknown outcome")
    bruno.reads("Only ops may do this")
    omar.press("ops.mark_done", "Unknown outcome")
    expect(omar.field("reason")).to_be_visible()
    omar.close()
    omar.press("ops.mark_done", "Unknown outcome")
    omar.submit()
    omar.refused_at("reason", "required field")
    assert case.office.call(FIRST).state is State.UNKNOWN
    omar.field("reason").fill("seen at the provider")
    omar.submit()
    case.office.state(FIRST, State.SUCCEEDED)
    omar.reads("Settled: it happened")
    omar.press("ops.close", "Unknown outcome")
    omar.reads("Seen by Omar Ops")


def test_operators_put_an_interrupted_run_back_after_being_asked_twice(case: Case) -> None:
    store = case.office.store
    lease = store.runs.lease(case.run, token="w", ttl_ms=60_000)
    assert lease
    assert store.runs.fail(lease, reason="the provider is away").ok
    case.office.bot.deps.wake.set()
    omar = case.at(OMAR, channel=OPS)
    omar.press("ops.requeue", "A run was interrupted", sure=False)
    found = store.runs.load(case.run)
    assert found
    assert found.state is RunState.FAILED
    omar.press("ops.requeue", "A run was interrupted", sure=True)
    omar.reads("It was taken up again")


def test_two_reviewers_at_once_make_one_decision_and_the_other_is_told(case: Case) -> None:
    case.posted(a_call(31240))
    seats = {BRUNO: case.at(BRUNO), OLGA: case.at(OLGA)}
    for one in seats.values():
        expect(one.control("call.approve")).to_be_visible()
    case.office.slack.fault("chat.update", "delay", seconds=3)  # both see the card as it was
    for one in seats.values():
        one.press("call.approve")
    case.office.until(lambda: len(case.office.slack.deliveries("block_actions")) == 2, "both have clicked")
    case.office.state(FIRST, State.APPROVED)
    (decision,) = case.office.call(FIRST).decisions
    late = seats[OLGA if decision.reviewer == BRUNO else BRUNO]
    late.reads(f"Already approved by {decision.name}")


def test_one_edits_while_another_decides_and_is_told_at_the_field(case: Case) -> None:
    case.posted(a_call(31240))
    bruno, olga = case.at(BRUNO), case.at(OLGA)
    bruno.press("call.edit")
    bruno.field("arg:/lines/0/amount").fill("250.00")
    olga.press("call.approve")
    case.office.state(FIRST, State.APPROVED)
    bruno.submit()
    bruno.refused_at("arg:/lines/0/amount", "by Olga Opslead")
    assert [one.verdict for one in case.office.call(FIRST).decisions] == ["approve"]


def test_two_reviewers_are_needed_where_the_rule_says_so_and_one_does_not_count_twice(case: Case) -> None:
    case.posted(a_call(31240, reviewers=2))
    bruno, olga = case.at(BRUNO), case.at(OLGA)
    bruno.press("call.approve")
    olga.reads("one more approval needed")
    bruno.press("call.approve")
    bruno.reads("You had decided this already")
    assert case.office.call(FIRST).state is State.PENDING_REVIEW
    olga.press("call.approve")
    olga.reads("Approved by Bruno Billing and Olga Opslead")


@pytest.mark.parametrize(
    ("user", "team", "words"),
    [
        (ROSA, "", "You started this run"),
        (RITA, "", "Only billing may decide this"),
        (GUS, "", "Guests"),
        (XENA, "", "you are from another"),
        (BRUNO, ELSEWHERE, "you are from another"),
    ],
    ids=["requester", "outsider", "guest", "stranger", "stranger with a reviewer's id"],
)
def test_whoever_may_not_decide_is_told_so_in_private_at_every_control(
    case: Case, user: str, team: str, words: str
) -> None:
    case.posted(a_call(1000), a_call(2000, number=2))
    olga = case.at(OLGA)
    other = case.at(user, team=team)
    for control, sure in (("call.approve", None), ("batch.approve_all", True), ("batch.on_it", None)):
        told = other.page.get_by_text(words).count()
        other.press(control, sure=sure)
        expect(other.page.get_by_text(words)).to_have_count(told + 1)
    for control in ("call.reject", "call.edit", "batch.reject_all", "batch.review"):
        other.press(control)
        expect(other.modal).to_contain_text(words)
        other.close()
    for key in (FIRST, SECOND):
        assert (case.office.call(key).state, case.office.call(key).decisions) == (State.PENDING_REVIEW, ())
    olga.never_reads(words)
    expect(olga.control("call.approve")).to_be_visible()
