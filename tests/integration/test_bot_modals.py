import json
from typing import Any

import pytest

from approvals.lifecycle import Cause, State
from bot_office import BRUNO, CHANNEL, GUS, OLGA, RITA, Office, a_refund, readable
from policies.rules.refunds import RefundFacts

FIRST, SECOND, THIRD = (f"call_{number:012d}" for number in (1, 2, 3))


def facts(*amounts: int) -> str:
    names = [f"pay_{at:04d}" for at in range(1, len(amounts) + 1)]
    charged = {name: {"minor": minor, "currency": "EUR"} for name, minor in zip(names, amounts, strict=True)}
    return RefundFacts.model_validate_json(
        json.dumps({"customer_of": {name: f"cus_{name}" for name in names}, "charged": charged})
    ).model_dump_json()


def paused(office: Office, *amounts: int, **changes: Any) -> str:
    run, _ = office.start()
    batch = office.pause(run, a_refund(*amounts, facts=facts(*amounts), **changes))
    office.card_with(batch, "decide by")
    return batch


def test_a_rejection_asks_for_its_reason_and_shows_it(office: Office) -> None:
    batch = paused(office, 31240)
    office.press(BRUNO, batch, "call.reject")
    office.modal(BRUNO)
    assert set(office.slack.submit(BRUNO, {})["errors"]) == {"common"}, "no reason is chosen for anybody"
    refused = office.slack.submit(BRUNO, {"common": {"value": "own"}})
    assert "Say why" in refused["errors"]["reason"]

    done = office.slack.submit(BRUNO, {"common": {"value": "own"}, "reason": {"value": "wrong customer <!channel>"}})

    assert done["ok"]
    call = office.state(FIRST, State.REJECTED)
    assert call.cause is Cause.PERSON
    assert call.decisions[-1].correction is False
    office.card_with(batch, "Rejected by Bruno Billing")
    assert office.slack.view(BRUNO) is None
    assert office.store.vetoes.of_thread(CHANNEL, office.store.runs.load(call.run).thread_ts)


def test_a_correction_is_no_veto(office: Office) -> None:
    batch = paused(office, 31240)
    office.press(BRUNO, batch, "call.reject")
    office.modal(BRUNO)
    office.slack.submit(
        BRUNO, {"common": {"value": "own"}, "reason": {"value": "too much"}, "kind": {"value": "correction"}}
    )
    call = office.state(FIRST, State.REJECTED)
    assert call.decisions[-1].correction is True
    assert office.store.vetoes.of_thread(CHANNEL, office.store.runs.load(call.run).thread_ts) == {}


def test_closing_the_modal_decides_nothing_and_the_card_stays_clickable(office: Office) -> None:
    batch = paused(office, 31240)
    office.press(BRUNO, batch, "call.reject")
    office.modal(BRUNO)
    office.slack.close_view(BRUNO)
    assert office.call(FIRST).state is State.PENDING_REVIEW
    office.press(BRUNO, batch, "call.approve")
    office.state(FIRST, State.APPROVED)


def test_all_are_rejected_with_one_reason(office: Office) -> None:
    run, _ = office.start()
    batch = office.pause(run, a_refund(1000, number=1), a_refund(2000, number=2))
    office.card_with(batch, "decide by")
    office.press(BRUNO, batch, "batch.reject_all")
    office.modal(BRUNO)
    office.slack.submit(BRUNO, {"common": {"value": "2"}})
    for key in (FIRST, SECOND):
        assert office.state(key, State.REJECTED).reason == "Already done"


def test_an_edit_makes_the_next_version_and_waits_for_the_worker(office: Office) -> None:
    batch = paused(office, 31240)
    office.press(BRUNO, batch, "call.edit")
    view = office.modal(BRUNO)
    assert "arg:/lines/0/amount" in [block["block_id"] for block in view["blocks"]]

    done = office.slack.submit(BRUNO, {"arg:/lines/0/amount": {"value": "250.00"}})

    assert done["ok"], done
    call = office.call(FIRST)
    assert (call.version, call.refreshing, call.state) == (2, True, State.PENDING_REVIEW)
    assert json.loads(call.content.arguments)["lines"][0]["amount"]["minor"] == 25000
    assert "312.40 EUR -> 250.00 EUR" in call.content.previous[0]
    assert json.loads(call.content.requested)["lines"][0]["amount"]["minor"] == 31240
    shown = office.card_with(batch, "An edit is being checked")
    assert "call.approve" not in readable(shown)
    assert "call.reject" in readable(shown)


@pytest.mark.parametrize(
    "typed", ["4,120.00", "1.250", "1_000", "\uff12\uff15\uff10", "+250", "0", "250 EUR", "1e2", "312.41"]
)
def test_an_amount_that_can_be_misread_is_refused_at_its_field_repeating_it(office: Office, typed: str) -> None:
    batch = paused(office, 31240)
    office.press(BRUNO, batch, "call.edit")
    office.modal(BRUNO)
    done = office.slack.submit(BRUNO, {"arg:/lines/0/amount": {"value": typed}})
    assert not done["ok"]
    assert typed.removesuffix(" EUR") in done["errors"]["arg:/lines/0/amount"]
    assert office.call(FIRST).version == 1


def test_a_reviewers_own_limit_holds_for_what_they_edited_to(office: Office) -> None:
    reviewers = office.bot.deps.law.reviewers
    bruno = reviewers.people[BRUNO].model_copy(update={"limits": {"EUR": "250.00"}})
    strict = reviewers.model_copy(update={"people": {**reviewers.people, BRUNO: bruno}})
    object.__setattr__(office.bot.deps.law, "reviewers", strict)
    batch = paused(office, 48000)
    office.press(BRUNO, batch, "call.approve")
    office.told(BRUNO, "your limit is 250.00 EUR")

    office.press(BRUNO, batch, "call.edit")
    office.modal(BRUNO)
    over = office.slack.submit(BRUNO, {"arg:/lines/0/amount": {"value": "300"}})
    assert "your limit is 250.00 EUR" in over["errors"]["arg:/lines/0/amount"]
    assert office.slack.submit(BRUNO, {"arg:/lines/0/amount": {"value": " 250.00 "}})["ok"]
    assert office.call(FIRST).version == 2


def test_lines_are_dropped_by_choosing_those_that_stay(office: Office) -> None:
    batch = paused(office, *([1000] * 38))
    office.press(BRUNO, batch, "call.edit")
    view = office.modal(BRUNO)
    assert [block["block_id"] for block in view["blocks"] if block["type"] == "input"] == ["arg:/lines", "arg:/reason"]
    done = office.slack.submit(BRUNO, {"arg:/lines": {"value": ["0", "36"]}})
    assert done["ok"], done
    lines = json.loads(office.call(FIRST).content.arguments)["lines"]
    assert [line["payment_id"] for line in lines] == ["pay_0001", "pay_0037"]


def choose(office: Office, line: str) -> dict[str, Any]:
    """Choose the value to change in the open edit dialog; the dialog with its input."""
    view = office.modal(BRUNO)
    select = next(block["accessory"] for block in view["blocks"] if block["block_id"].startswith("line:"))
    value = next(one["value"] for one in select["options"] if line in one["text"]["text"])
    office.slack.click_view(BRUNO, "edit.line", chosen=value)
    return office.until(lambda: now if (now := office.modal(BRUNO))["hash"] != view["hash"] else None, "an input more")


def test_of_many_lines_two_are_chosen_and_changed_one_after_the_other(office: Office) -> None:
    batch = paused(office, *([1000] * 38))
    office.press(BRUNO, batch, "call.edit")
    choose(office, "pay_0009")
    choose(office, "pay_0021")
    wrong = office.slack.submit(
        BRUNO, {"arg:/lines/8/amount": {"value": "9,00"}, "arg:/lines/20/amount": {"value": "7.00"}}
    )
    assert list(wrong["errors"]) == ["arg:/lines/8/amount"]
    done = office.slack.submit(BRUNO, {"arg:/lines/8/amount": {"value": "9.00"}})
    assert done["ok"], done
    lines = json.loads(office.call(FIRST).content.arguments)["lines"]
    changed = {line["payment_id"]: line["amount"]["minor"] for line in lines if line["amount"]["minor"] != 1000}
    assert changed == {"pay_0009": 900, "pay_0021": 700}, "what was typed before stayed in the window"
    office.card_with(batch, "pay_0009: 10.00 EUR -> 9.00 EUR; pay_0021: 10.00 EUR -> 7.00 EUR")


def test_who_lost_the_right_meanwhile_chooses_no_line(office: Office) -> None:
    batch = paused(office, *([1000] * 38))
    office.press(BRUNO, batch, "call.edit")
    before = office.modal(BRUNO)
    office.slack.set_user(BRUNO, is_restricted=True)
    office.slack.click_view(BRUNO, "edit.line", chosen="1")
    office.told(BRUNO, "Guests may not")
    assert office.modal(BRUNO)["hash"] == before["hash"]


def test_a_rejection_says_what_would_not_run_and_offers_reasons(office: Office) -> None:
    batch = paused(office, 31240)
    office.press(BRUNO, batch, "call.reject")
    assert "Refund 1 payments, 312.40 EUR" in str(office.modal(BRUNO)["blocks"])
    assert office.slack.submit(BRUNO, {"common": {"value": "0"}})["ok"]
    assert office.state(FIRST, State.REJECTED).reason == "The amount is wrong"


def test_the_details_tell_the_requesters_words_and_when_our_data_was_looked_up(office: Office) -> None:
    run, _ = office.start("refund the failed payments <!channel>")
    batch = office.pause(run, a_refund(31240, facts=facts(31240)))
    office.card_with(batch, "decide by")
    office.press(RITA, batch, "call.details")
    text = str(office.modal(RITA)["blocks"])
    assert "refund the failed payments" in text
    assert "Our data as it was just before the card was posted" in text


def test_what_the_law_forbids_is_refused_at_the_field(office: Office) -> None:
    run, _ = office.start()
    batch = office.pause(run, a_refund(90000, facts=facts(90000)))
    office.card_with(batch, "decide by")
    office.press(BRUNO, batch, "call.edit")
    office.modal(BRUNO)
    done = office.slack.submit(BRUNO, {"arg:/lines/0/amount": {"value": "800"}})
    assert "one customer may get 600.00 EUR a day" in done["errors"]["arg:/lines/0/amount"]


def test_the_same_edit_submitted_twice_is_one_edit(office: Office) -> None:
    batch = paused(office, 31240)
    office.press(BRUNO, batch, "call.edit")
    office.modal(BRUNO)
    office.slack.duplicate_next()
    office.slack.submit(BRUNO, {"arg:/lines/0/amount": {"value": "250.00"}})
    office.until(lambda: office.call(FIRST).version == 2, "the edit is kept")
    events = [event["type"] for _, event in office.store.ledger.read(1000)]
    assert events.count("edited") == 1


def test_a_modal_opened_before_somebody_decided_changes_nothing(office: Office) -> None:
    batch = paused(office, 31240)
    office.press(BRUNO, batch, "call.edit")
    office.modal(BRUNO)
    office.press(OLGA, batch, "call.approve")
    office.state(FIRST, State.APPROVED)
    done = office.slack.submit(BRUNO, {"arg:/lines/0/amount": {"value": "250.00"}})
    assert "Already approved by Olga Opslead" in done["errors"]["arg:/lines/0/amount"]
    assert office.call(FIRST).version == 1


def test_each_call_of_a_card_is_decided_in_one_window(office: Office) -> None:
    run, _ = office.start()
    batch = office.pause(run, *(a_refund(1000, number=number) for number in (1, 2, 3)))
    office.card_with(batch, "decide by")
    office.press(BRUNO, batch, "batch.review")
    office.modal(BRUNO)
    values = {f"verdict:{FIRST}": {"value": "approve"}, f"verdict:{SECOND}": {"value": "reject"}}
    refused = office.slack.submit(BRUNO, values)
    assert "Say why" in refused["errors"][f"reason:{SECOND}"]
    done = office.slack.submit(BRUNO, {**values, f"reason:{SECOND}": {"value": "no"}})
    assert done["ok"], done
    office.state(FIRST, State.APPROVED)
    assert office.state(SECOND, State.REJECTED).reason == "no"
    assert office.call(THIRD).state is State.PENDING_REVIEW


def asking(office: Office, *needed: int) -> tuple[str, tuple[str, ...]]:
    """A card with a call for each of these numbers of reviewers, each of which the card asks twice about."""
    run, _ = office.start()
    calls = []
    for number, reviewers in enumerate(needed, 1):
        call = a_refund(1000 * number, number=number, reviewers=reviewers)
        need = call.content.requirement.model_copy(update={"confirm": True})
        calls.append(call.model_copy(update={"content": call.content.model_copy(update={"requirement": need})}))
    batch = office.pause(run, *calls)
    office.card_with(batch, "decide by")
    return batch, tuple(call.key for call in calls)


def choose_in_review(office: Office, batch: str, user: str = BRUNO, **choices: str) -> dict[str, Any]:
    office.press(user, batch, "batch.review")
    office.modal(user)
    keys = {"first": FIRST, "second": SECOND, "third": THIRD}
    values = {f"verdict:{keys[name]}": {"value": verdict} for name, verdict in choices.items()}
    values |= {f"reason:{keys[name]}": {"value": "no"} for name, verdict in choices.items() if verdict == "reject"}
    return office.slack.submit(user, values)


def test_the_review_approves_nothing_the_card_asks_twice_about_before_it_has_asked(office: Office) -> None:
    batch, _ = asking(office, 1, 1, 1)
    assert choose_in_review(office, batch, first="approve", second="reject")["ok"]
    assert {office.call(key).state for key in (FIRST, SECOND, THIRD)} == {State.PENDING_REVIEW}
    view = office.modal(BRUNO)
    assert view["callback_id"] == "review_sure"
    assert "Refund 1 payments, 10.00 EUR" in str(view["blocks"])

    office.slack.close_view(BRUNO)
    assert office.modal(BRUNO)["callback_id"] == "review", "going back decides nothing and keeps the choices"
    assert {office.call(key).state for key in (FIRST, SECOND)} == {State.PENDING_REVIEW}

    assert office.slack.submit(BRUNO, {})["ok"]
    done = office.slack.submit(BRUNO, {})
    assert done["ok"], done
    office.state(FIRST, State.APPROVED)
    assert office.state(SECOND, State.REJECTED).reason == "no"
    assert office.call(THIRD).state is State.PENDING_REVIEW
    assert office.slack.view(BRUNO) is None, "both windows are closed"
    office.told(BRUNO, "2 of 2 decided as you said.")


def test_the_review_rejects_at_once_what_needs_no_second_question(office: Office) -> None:
    batch, _ = asking(office, 1, 1)
    assert choose_in_review(office, batch, first="reject")["ok"]
    office.state(FIRST, State.REJECTED)
    assert office.slack.view(BRUNO) is None


def test_who_lost_the_right_between_the_question_and_the_answer_reads_so_in_the_window(office: Office) -> None:
    batch, _ = asking(office, 1, 1)
    choose_in_review(office, batch, first="approve")
    office.slack.set_user(BRUNO, is_restricted=True)
    office.bot.deps.desk.ask(BRUNO)
    office.slack.submit(BRUNO, {})
    assert "Guests may not" in str(office.modal(BRUNO)["blocks"])
    assert office.call(FIRST).state is State.PENDING_REVIEW


def test_who_may_not_approve_is_told_at_the_choice_and_not_asked_whether_they_are_sure(office: Office) -> None:
    batch, _ = asking(office, 1, 1)
    office.press(BRUNO, batch, "batch.review")
    office.modal(BRUNO)
    office.slack.set_user(BRUNO, is_restricted=True)
    office.bot.deps.desk.ask(BRUNO)
    refused = office.slack.submit(BRUNO, {f"verdict:{FIRST}": {"value": "approve"}})
    assert "Guests may not" in refused["errors"][f"verdict:{FIRST}"]
    assert office.modal(BRUNO)["callback_id"] == "review"


def test_a_card_that_changed_after_the_question_is_not_decided_by_its_answer(office: Office) -> None:
    batch, _ = asking(office, 1, 1)
    choose_in_review(office, batch, first="approve")
    office.press(OLGA, batch, "call.approve", FIRST)
    office.state(FIRST, State.APPROVED)
    office.slack.submit(BRUNO, {})
    assert len(office.call(FIRST).decisions) == 1
    view = office.modal(BRUNO)
    assert view["title"]["text"] == "Nothing was decided"
    assert "Already approved by Olga Opslead" in str(view["blocks"])
    office.slack.close_view(BRUNO)
    assert office.slack.view(BRUNO) is None


@pytest.mark.parametrize("control", ["call.reject", "call.edit"])
def test_who_approved_is_told_in_the_window_that_it_stays_and_who_can_stop_it(office: Office, control: str) -> None:
    batch = paused(office, 31240, reviewers=2)
    office.press(BRUNO, batch, "call.approve")
    told = office.told(BRUNO, "1 more needed")
    assert "from Olga by " in told
    assert "else nothing runs." in told
    office.press(BRUNO, batch, control)
    view = office.modal(BRUNO)
    assert "You approved this, and that cannot be taken back. Ask Olga to reject it" in str(view["blocks"])
    assert "Rosa Requester to cancel the run." in str(view["blocks"])
    assert "submit" not in view or not view["submit"]


def test_who_approved_every_call_is_not_offered_to_reject_all(office: Office) -> None:
    batch, keys = asking(office, 2, 2)
    office.press(BRUNO, batch, "batch.approve_all")
    for key in keys:
        office.until(lambda key=key: office.call(key).decisions, "it is approved once")
    office.press(BRUNO, batch, "batch.reject_all")
    assert "You approved this" in str(office.modal(BRUNO)["blocks"])


def test_the_details_show_what_is_masked_on_the_card(office: Office) -> None:
    batch = paused(office, 31240)
    assert "anna@example.test" not in readable(office.card(batch))
    office.press(RITA, batch, "call.details")
    assert "anna@example.test" in str(office.modal(RITA)["blocks"])


def test_a_guest_does_not_read_the_details(office: Office) -> None:
    batch = paused(office, 31240)
    office.press(GUS, batch, "call.details")
    office.told(GUS, "Only full members of this workspace may read the details.")
    view = office.modal(GUS)
    assert "Only full members of this workspace may read the details." in str(view["blocks"]), "it hides the thread"
    assert "anna@example.test" not in str(view)


def test_long_details_are_turned_page_by_page(office: Office) -> None:
    batch = paused(office, 31240, reason="x" * 300_000 + "THE TAIL")
    office.press(BRUNO, batch, "call.details")
    first = office.modal(BRUNO)
    seen = str(first["blocks"])
    for _ in range(6):
        if "details.page_next" not in str(office.slack.view(BRUNO)):
            break
        hash_before = office.slack.view(BRUNO)["hash"]
        office.slack.click_view(BRUNO, "details.page_next")
        office.until(lambda: office.slack.view(BRUNO)["hash"] != hash_before, "the page is turned")  # noqa: B023
        seen += str(office.slack.view(BRUNO)["blocks"])
    assert "THE TAIL" in seen


def test_a_window_that_slack_opens_too_late_is_explained(office: Office) -> None:
    batch = paused(office, 31240)
    office.slack.fault("views.open", "error", error="expired_trigger_id")
    pressed = office.press(BRUNO, batch, "call.edit")
    assert pressed["acked"]
    office.told(BRUNO, "Press the button again")
    office.press(BRUNO, batch, "call.edit")
    office.modal(BRUNO)


def test_who_may_not_decide_cannot_submit_either(office: Office) -> None:
    batch = paused(office, 31240)
    office.press(BRUNO, batch, "call.reject")
    office.modal(BRUNO)
    office.slack.set_user(BRUNO, is_restricted=True)
    done = office.slack.submit(BRUNO, {"common": {"value": "own"}, "reason": {"value": "no"}})
    assert "Guests may not" in str(done["errors"])
    assert office.call(FIRST).state is State.PENDING_REVIEW
