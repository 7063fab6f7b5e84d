"""What a tired person sees first, once, and truthfully."""

import json

import pytest

from approvals.lifecycle import State
from approvals.models import Call
from approvals.preview import Precondition
from block_rules import all_text, assert_message, controls
from bot.card_text import limits_of, together
from bot.cards import render_card
from bot.details import Around, detail_pages
from bot.text import hidden_warning
from bot_builders import NOW, AnyLaw, a_call, a_content, a_decision, a_preview, a_requirement, a_run, a_view, decided
from policies.money import Money

LAW = AnyLaw()
CYRILLIC_A = "\u0430"


class NextLaw(AnyLaw):
    """The law after a change."""

    version = "law2"


def eur(minor: int) -> Money:
    return Money(minor=minor, currency="EUR")


def headlined(headline: str, minor: int, number: int = 1) -> Call:
    need = a_requirement(amount=eur(minor))
    return a_call(number, content=a_content(preview=a_preview(headline=headline), requirement=need))


def before_buttons(card: list[dict[str, object]]) -> str:
    """Everything above the first row of controls."""
    at = next(at for at, block in enumerate(card) if block["type"] == "actions")
    return all_text(card[:at])


def test_above_the_buttons_stand_what_how_much_undo_numbers_and_limits_and_below_them_who_said_what() -> None:
    need = a_requirement().spending("refunds per run", {"run": eur(31240)}, limit=eur(500000), window="run")
    card = render_card(a_view(a_call(content=a_content(requirement=need))), LAW)
    above = before_buttons(card.blocks)
    for words in (
        "Refund 1 payment, 312.40 EUR",
        "Cannot be undone",
        "1 customer",
        "Limit: 312.40 EUR of 5,000.00 EUR",
    ):
        assert words in above
    for words in ("The customer paid twice.", "refund yesterday's failed payments", "seal"):
        assert words not in above
        assert words in all_text(card.blocks)


def test_the_headline_stands_once_unless_it_is_too_long_for_a_heading() -> None:
    assert all_text(render_card(a_view(a_call()), LAW).blocks).count("Refund 1 payment, 312.40 EUR\n") == 1
    endless = headlined(f"Refund {'x' * 150} AND DELETE", 100)
    assert "AND DELETE" in before_buttons(render_card(a_view(endless), LAW).blocks)


def test_words_that_are_the_same_beside_every_call_stand_once() -> None:
    text = all_text(render_card(a_view(a_call(1), a_call(2), a_call(3)), LAW).blocks)
    assert text.count("The customer paid twice.") == 1
    assert text.count("To decide: billing: Bruno or Olga.") == 1
    assert text.count("refund yesterday's failed payments") == 1
    apart = a_view(a_call(1), a_call(2, content=a_content(reason="Another reason.")))
    text = all_text(render_card(apart, LAW).blocks)
    assert text.count("The agent's own words, not checked:") == 2
    assert "Another reason." in text


def test_the_requesters_words_are_marked_clipped_and_not_live() -> None:
    run = a_run(request="<!channel> *now* " + "please " * 200 + "and DELETE everything")
    card = render_card(a_view(a_call(), run=run), LAW)
    assert_message(card)
    (asked,) = [block for block in card.blocks if "asked:" in json.dumps(block)]
    said = asked["elements"][0]["text"]
    assert said.startswith("<@U0005> asked: “&lt;!channel&gt; \u2217now\u2217")
    assert "DELETE everything" in said, "both ends are kept"
    assert len(said) < 500
    whole = json.dumps(detail_pages(a_call(), Around(request=run.request)), ensure_ascii=False)
    assert "please please" in whole


def test_more_than_three_rows_are_one_line_and_a_count() -> None:
    rows = tuple({"payment": f"pay_{at:04d}", "why": "w" * 30, "amount": "99.00 EUR"} for at in range(38))
    call = a_call(
        content=a_content(preview=a_preview(sample=rows[:5], rows=rows, columns=("payment", "why", "amount")))
    )
    text = all_text(render_card(a_view(call), LAW).blocks)
    assert "38 rows in Details, such as:" in text
    assert "pay_0000\n" in text, "whole values only, as many as fit one line of a phone"
    assert "pay_0001" not in text
    assert "pay_0037" in json.dumps(detail_pages(call))


def test_the_two_tightest_limits_are_shown_and_all_of_them_in_the_details() -> None:
    need = (
        a_requirement()
        .spending("refunds per run", {"run": eur(100000)}, limit=eur(500000), window="run")
        .spending("refunds per customer and day", {"c1": eur(48000), "c2": eur(52000)}, limit=eur(60000))
    )
    assert limits_of(need) == (
        "Limit: up to 520.00 EUR of 600.00 EUR, refunds per customer and day;"
        " 1,000.00 EUR of 5,000.00 EUR, refunds per run"
    )
    details = json.dumps(detail_pages(a_call(content=a_content(requirement=need))), ensure_ascii=False)
    assert "1,000.00 EUR of 5,000.00 EUR, refunds per run" in details
    assert "and 1 more" in limits_of(need, 1)
    assert limits_of(a_requirement()) == "", "nothing is said about what there is not"


def test_who_edited_what_stands_above_all_and_before_the_precondition_it_seems_to_contradict() -> None:
    preview = a_preview(precondition=Precondition(sentence="38 failed payments, 4,120.00 EUR charged", rows={}))
    call = a_call(version=2, content=a_content(previous=("pay_0009: 312.40 EUR -> 250.00 EUR",), preview=preview))
    call = call.model_copy(update={"decisions": (a_decision(call, "edit", version=1), a_decision(call, version=2))})
    above = before_buttons(render_card(a_view(call), LAW).blocks)
    assert "Edited by Bruno Billing: pay_0009: 312.40 EUR -> 250.00 EUR" in above
    assert "Runs only while true: 38 failed payments, 4,120.00 EUR charged" in above
    came_back = call.model_copy(update={"version": 3})
    assert "Changed: pay_0009" in all_text(render_card(a_view(came_back), LAW).blocks)


def test_a_law_that_changed_since_is_told_on_the_card_and_in_the_details() -> None:
    call = a_call(content=a_content(requirement=a_requirement(law="law1")))
    told = "The rules have changed since this was asked; it will be judged again before it runs."
    assert told in before_buttons(render_card(a_view(call), NextLaw()).blocks)
    assert told in json.dumps(detail_pages(call, Around(law="law2")))
    same = a_call(content=a_content(requirement=a_requirement(law="law2")))
    assert told not in json.dumps(render_card(a_view(same), NextLaw()).blocks)
    assert told not in json.dumps(detail_pages(same, Around(law="law2")))
    assert told not in json.dumps(render_card(a_view(call), LAW).blocks), "nobody knows the law in force"


def test_an_address_that_imitates_another_is_marked_without_naming_the_person() -> None:
    row = {"payment": "pay_0009", "customer": f"anna@m{CYRILLIC_A}il.example"}
    call = a_call(content=a_content(preview=a_preview(sample=(row,), rows=(row,), columns=("payment", "customer"))))
    card = json.dumps(render_card(a_view(call), LAW).blocks, ensure_ascii=False)
    assert "1 address or link has unusual letters and may imitate another." in card
    assert "xn--mil-6cd.example, looks like mail.example" in card
    assert "anna" not in card
    details = json.dumps(detail_pages(call), ensure_ascii=False)
    assert (
        f"anna@m{CYRILLIC_A}il.example · xn--mil-6cd.example · cyrillic+latin · looks like anna@mail.example" in details
    )


def test_hidden_characters_are_counted() -> None:
    assert hidden_warning(["a\u200bb", "\u202ec"]).startswith("Contains 2 characters")
    assert hidden_warning(["a\u200bb"]).startswith("Contains 1 character ")
    assert hidden_warning(["plain"]) == ""


@pytest.mark.parametrize(
    ("headlines", "told"),
    [
        (("Delete 21 customers: asked", "Delete 29 customers: inactive"),
         "Delete 50 customers: 21 asked, 29 inactive, 200.00 EUR"),
        (("Refund 1 payment, 1.00 EUR", "Refund 1,300 payments, 2.00 EUR"), "Refund 1,301 payments, 200.00 EUR"),
        (("Refund 2 payments", "Delete 2 customers"), "Refund 2 payments; Delete 2 customers. Together 200.00 EUR"),
        (("Deploy dep_1 to production", "Deploy dep_2 to production"),
         "Deploy dep_1 to production; Deploy dep_2 to production. Together 200.00 EUR"),
    ],
)  # fmt: skip
def test_approving_all_says_in_words_what_happens(headlines: tuple[str, ...], told: str) -> None:
    calls = [headlined(headline, 10000, at) for at, headline in enumerate(headlines, 1)]
    assert together(calls, 200) == told
    card = render_card(a_view(*calls, radius="deletion of customers"), LAW)
    (question,) = [one["confirm"] for one in controls(card.blocks) if one["action_id"] == "batch.approve_all"]
    assert question["text"]["text"].startswith(told)
    assert question["text"]["text"].endswith("Cannot be undone.")
    assert question["title"]["text"].startswith("Approve 2 calls: ")


def test_what_can_be_undone_says_so_and_asks_in_another_colour() -> None:
    need = a_requirement(undo="refund back", confirm=True)
    card = render_card(a_view(a_call(content=a_content(requirement=need))), LAW)
    assert "Can be undone: refund back" in before_buttons(card.blocks)
    (approve,) = [one for one in controls(card.blocks) if one["action_id"] == "call.approve"]
    assert approve["confirm"]["style"] == "primary"
    assert "Cannot be undone" not in card.text


def test_a_notification_says_what_and_that_it_cannot_be_undone() -> None:
    card = render_card(a_view(a_call()), LAW)
    said = "To decide: Refund 1 payment, 312.40 EUR. refunds in EUR. Cannot be undone."
    assert card.text == f"{said} For <@U0001> <@U0002> <!subteam^S_BILLING>"


def test_a_partly_decided_card_counts_what_is_left() -> None:
    first = decided(a_call(1), State.APPROVED, a_decision(a_call(1)))
    card = render_card(a_view(first, a_call(2)), LAW)
    assert card.blocks[0]["text"]["text"] == "1 of 2 calls to decide: refunds in EUR, 312.40 EUR"


def test_a_call_of_another_agent_than_the_runs_names_it() -> None:
    assert "asked by agent helper" in all_text(render_card(a_view(a_call(agent="helper")), LAW).blocks)
    assert "asked by agent" not in all_text(render_card(a_view(a_call(agent="desk")), LAW).blocks)


def test_the_details_say_when_our_data_was_looked_up() -> None:
    first = json.dumps(detail_pages(a_call(), Around(posted_at=NOW)))
    assert "Our data as it was just before the card was posted" in first
    assert f'"timestamp": {NOW // 1000}' in first
    assert "as it was when version 2 was made" in json.dumps(detail_pages(a_call(version=2), Around(posted_at=NOW)))
