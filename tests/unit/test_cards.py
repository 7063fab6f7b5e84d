import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from approvals.lifecycle import Cause, State
from approvals.models import Call
from block_rules import all_text, assert_message, controls, every, mentioned, parsed_text
from bot.cards import render_card
from bot.ids import ActionId, read_batch_ref, read_call_ref
from bot_builders import NOW, AnyLaw, a_call, a_content, a_decision, a_preview, a_requirement, a_run, a_view, decided

LAW = AnyLaw()
TOKENS = "<!channel> <@U0001> <https://evil.example|Approve in portal> *bold* `code` &lt;!here&gt;"


def names(blocks: list[dict[str, object]]) -> list[str]:
    return [str(one["action_id"]) for one in controls(blocks)]


def test_a_card_says_what_how_much_for_whom_until_when_and_who_decides() -> None:
    card = render_card(a_view(a_call()), LAW)
    assert_message(card)
    text = json.dumps(card.blocks, ensure_ascii=False)
    for words in (
        "To decide: Refund 1 payment, 312.40 EUR",
        "<@U0005> asked: “refund yesterday's failed payments” · run `run_1`",
        f"<!date^{(NOW + 900_000) // 1000}^",
        "1 customer",
        "Cannot be undone",
        "Runs only while true: pay_0009 has failed",
        "Asked because: over 250.00: two different reviewers",
        "The agent's own words, not checked:",
        "To decide: billing: Bruno or Olga.",
        "seal `0101-0101`",
    ):
        assert words in text
    assert names(card.blocks) == ["call.approve", "call.reject", "call.edit", "call.details", "batch.on_it"]


def test_controls_stand_in_the_block_of_their_call_and_name_its_version() -> None:
    call = a_call(version=4)
    card = render_card(a_view(call), LAW)
    (block,) = [block for block in card.blocks if block.get("block_id") == f"call:{call.key}"]
    assert {read_call_ref(one["value"]) for one in block["elements"]} == {(call.key, 4)}


def test_only_those_who_may_decide_are_mentioned_and_never_the_requester() -> None:
    run = a_run(requester="U0002")
    card = render_card(a_view(a_call(), run=run), LAW)
    assert mentioned(card.blocks) == {"U0001", "S_BILLING"}
    assert card.text.endswith("For <@U0001> <!subteam^S_BILLING>")


def test_a_decided_call_loses_its_buttons_and_its_siblings_keep_theirs() -> None:
    calls = [a_call(number) for number in range(1, 4)]
    calls[0] = decided(calls[0], State.APPROVED, a_decision(calls[0]))
    card = render_card(a_view(*calls), LAW)
    assert_message(card)
    blocks = {str(block.get("block_id")) for block in card.blocks}
    assert f"call:{calls[0].key}" not in blocks
    assert {f"call:{calls[1].key}", f"call:{calls[2].key}"} <= blocks
    assert "Approved by Bruno Billing" in all_text(card.blocks)


def test_one_of_two_approvals_is_told_and_the_buttons_stay() -> None:
    call = a_call(content=a_content(requirement=a_requirement(reviewers=2)), needed=2)
    call = call.model_copy(update={"decisions": (a_decision(call),)})
    card = render_card(a_view(call), LAW)
    assert "Approved by Bruno Billing; one more approval needed, by somebody else." in all_text(card.blocks)
    assert "call.approve" in names(card.blocks)


def test_an_approved_edit_shows_what_was_changed() -> None:
    call = a_call(content=a_content(previous=("pay_0009: 312.40 EUR -> 250.00 EUR",)), version=2)
    call = decided(call, State.SUCCEEDED, a_decision(call), ended_at=NOW)
    text = all_text(render_card(a_view(call), LAW).blocks)
    assert "Approved by Bruno Billing" in text
    assert "312.40 EUR -> 250.00 EUR" in text.replace("-&gt;", "->")


@pytest.mark.parametrize(
    ("cause", "words"),
    [
        (Cause.PERSON, "Rejected by Bruno Billing: wrong customer"),
        (Cause.POLICY, "Refused by policy: wrong customer"),
        (Cause.CAP, "a limit is reached: wrong customer"),
        (Cause.WITHDRAWN, "Withdrawn: wrong customer"),
    ],
)
def test_a_refusal_names_who_or_what_refused(cause: Cause, words: str) -> None:
    call = a_call()
    no = a_decision(call, "reject", reason="wrong customer")
    call = decided(
        call, State.REJECTED, *((no,) if cause is Cause.PERSON else ()), cause=cause, reason="wrong customer"
    )
    card = render_card(a_view(call), LAW)
    assert words in all_text(card.blocks)


def test_silence_is_told_as_nobodys_refusal() -> None:
    card = render_card(a_view(decided(a_call(), State.EXPIRED, cause=Cause.NOBODY)), LAW)
    assert "nobody decided in time" in all_text(card.blocks)
    assert "Rejected" not in all_text(card.blocks)


@pytest.mark.parametrize("state", [State.SUCCEEDED, State.FAILED, State.UNKNOWN, State.REJECTED, State.EXPIRED])
def test_a_settled_card_is_folded_and_decides_nothing(state: State) -> None:
    card = render_card(a_view(*(decided(a_call(number), state) for number in (1, 2, 3))), LAW)
    assert_message(card)
    asking_again = {"run.ask_again"} if state is State.EXPIRED else set()
    assert set(names(card.blocks)) == {"call.details"} | asking_again
    assert not any(str(block.get("block_id")).startswith("call:") for block in card.blocks)
    assert len(card.blocks) == 5 + len(asking_again)
    assert "<@" not in card.text


def test_personal_fields_are_masked_on_the_card_and_in_the_notification() -> None:
    card = render_card(a_view(a_call()), LAW)
    assert "anna@example.test" not in json.dumps(card)
    assert "a•••" in all_text(card.blocks)


def test_the_footer_binds_to_what_the_card_showed_and_its_question_names_number_sum_and_radius() -> None:
    calls = [a_call(1, version=2), a_call(2), a_call(3)]
    card = render_card(a_view(*calls), LAW)
    (approve_all,) = [one for one in controls(card.blocks) if one["action_id"] == ActionId.APPROVE_ALL]
    assert read_batch_ref(approve_all["value"]) == ("batch_a", 3, (2, 1, 1))
    question = approve_all["confirm"]
    assert question["title"]["text"] == "Approve 3 calls: refunds in EUR?"
    assert question["text"]["text"] == (
        "Refund 1 payment, 312.40 EUR; Refund 1 payment, 312.40 EUR; Refund 1 payment, 312.40 EUR."
        " Together 937.20 EUR. All of it runs at once. Cannot be undone."
    )
    assert question["style"] == "danger"


def test_while_an_edit_is_checked_only_a_rejection_is_offered() -> None:
    card = render_card(a_view(a_call(refreshing=True), a_call(2)), LAW)
    (block,) = [block for block in card.blocks if block.get("block_id") == "call:call_000000000001"]
    assert [one["action_id"] for one in block["elements"]] == ["call.reject", "call.details"]
    assert "batch.approve_all" not in names(card.blocks)


def test_nothing_that_cannot_be_read_in_full_can_be_approved() -> None:
    endless = a_content(arguments=json.dumps({"note": "x" * 400_000}))
    card = render_card(a_view(a_call(content=endless), a_call(2)), LAW)
    (block,) = [block for block in card.blocks if block.get("block_id") == "call:call_000000000001"]
    assert "call.approve" not in [one["action_id"] for one in block["elements"]]
    assert "batch.approve_all" not in names(card.blocks)
    assert "cannot be approved" in all_text(card.blocks)


def test_a_shortened_call_says_so_and_shows_the_tail() -> None:
    call = a_call(content=a_content(preview=a_preview(body="A" * 4000 + " ; ALSO DELETE cus_0001")))
    card = render_card(a_view(call), LAW)
    text = all_text(card.blocks)
    assert "ALSO DELETE cus_0001" in text
    assert "Shortened; Details shows all of it." in text
    assert "Details (more)" in text


def test_a_call_that_must_be_confirmed_asks_twice() -> None:
    card = render_card(a_view(a_call(content=a_content(requirement=a_requirement(confirm=True)))), LAW)
    (approve,) = [one for one in controls(card.blocks) if one["action_id"] == "call.approve"]
    assert approve["confirm"]["title"]["text"] == "Approve: Refund 1 payment, 312.40 EUR?"
    assert approve["confirm"]["text"]["text"] == "Cannot be undone · It runs at once · 1 customer · 0 already disputed"
    assert approve["confirm"]["style"] == "danger"


def asked(*calls: Call, **run: object) -> list[str]:
    """What the card asks before the approval of each of these."""
    view = a_view(*calls, run=a_run(**run))
    found = [one for one in controls(render_card(view, LAW).blocks) if one["action_id"] == "call.approve"]
    return [one["confirm"]["text"]["text"] for one in found if "confirm" in one]


def test_the_question_before_an_approval_says_whether_it_is_the_last_and_when_the_call_runs() -> None:
    need = a_requirement(confirm=True, reviewers=2)
    call = a_call(content=a_content(requirement=need))
    once = call.model_copy(update={"decisions": (a_decision(call),)})
    assert "Approval 1 of 2: nothing runs until another person approves" in asked(call)[0]
    assert "Last approval: it runs at once" in asked(once)[0]
    assert "Last approval: it runs once the calls beside it are decided or expire" in asked(once, a_call(2))[0]
    alone = a_call(content=a_content(requirement=a_requirement(confirm=True)))
    assert "It runs once the calls beside it are decided" in asked(alone, barrier="pause")[0]


def test_approving_all_says_when_nothing_runs_yet() -> None:
    two = a_content(requirement=a_requirement(reviewers=2))
    cards = [a_view(a_call(1, content=two), a_call(2, content=two)), a_view(a_call(1, content=two), a_call(2))]
    told = [
        one["confirm"]["text"]["text"]
        for view in cards
        for one in controls(render_card(view, LAW).blocks)
        if one["action_id"] == "batch.approve_all"
    ]
    assert "Nothing runs until another person approves" in told[0]
    assert "1 call needs another approval, and nothing runs before" in told[1]


def test_what_a_screen_reader_says_begins_with_what_is_written_on_the_button() -> None:
    for number in (1, 2, 8):
        card = render_card(a_view(*(a_call(at) for at in range(1, number + 1))), LAW)
        for one in controls(card.blocks):
            assert one.get("accessibility_label", one["text"]["text"]).startswith(one["text"]["text"])
    (approve, *_) = controls(render_card(a_view(a_call()), LAW).blocks)
    assert approve["accessibility_label"] == "Approve: Refund 1 payment, 312.40 EUR"


def test_the_lines_of_a_mail_stay_lines_unless_they_are_many() -> None:
    body = a_preview(body="Subject: News\n\nDear customer,\nall is well.")
    card = render_card(a_view(a_call(content=a_content(preview=body))), LAW)
    assert "Subject: News\nDear customer,\nall is well." in all_text(card.blocks)
    many = a_preview(body="line\n" * 30)
    text = all_text(render_card(a_view(a_call(content=a_content(preview=many))), LAW).blocks)
    assert "line\nline" not in text, "the buttons stay within reach"


def test_long_words_of_the_agent_end_where_a_sentence_ends() -> None:
    reason = "The customers paid and got nothing, as the list of yesterday shows. Customers on the list are next " * 3
    text = all_text(render_card(a_view(a_call(content=a_content(reason=reason))), LAW).blocks)
    assert "as the list of yesterday shows. …”" in text


def test_equal_views_give_equal_cards() -> None:
    assert render_card(a_view(a_call()), LAW) == render_card(a_view(a_call()), LAW)


def hostile(text: str, number: int, state: State = State.PENDING_REVIEW) -> Call:
    row = {text[:40] or "x": text, "customer": text}
    preview = a_preview(
        headline=text or "-",
        impact=(text,) * 4,
        columns=(),
        sample=(row,) * 5,
        rows=(row,) * 50,
        body=text,
        personal=("customer",),
    )
    content = a_content(
        requested=text,
        arguments=text,
        preview=preview,
        reason=text,
        problem=text,
        previous=(text,) * 3,
        requirement=a_requirement(radius=text or "-", reasons=(text,) * 5, undo=text, confirm=True),
    )
    call = a_call(number, content=content, reason=text, cause=Cause.PERSON, agent=text, tool=text or "t")
    return decided(call, state, a_decision(call, "reject", reason=text, name=text or "n"))


@pytest.mark.parametrize("text", [TOKENS, "&" * 3000, "\u202e" * 500, "A" * 20_000, "😀" * 2000, "\n" * 400, ""])
@pytest.mark.parametrize("state", [State.PENDING_REVIEW, State.APPROVED, State.REJECTED, State.UNKNOWN, State.FAILED])
def test_eight_hostile_calls_still_make_a_card_that_slack_takes(text: str, state: State) -> None:
    view = a_view(*(hostile(text, number, state) for number in range(1, 9)), radius=text or "-")
    card = render_card(view, LAW)
    assert_message(card)
    assert_inert(card.text, card.blocks)


@settings(max_examples=60, deadline=None)
@given(st.text(max_size=200), st.sampled_from(list(State)))
def test_no_text_of_strangers_is_live_whatever_it_is(text: str, state: State) -> None:
    view = a_view(*(hostile(text, number, state) for number in (1, 2)), radius=text or "-")
    card = render_card(view, LAW)
    assert_message(card)
    assert_inert(card.text, card.blocks)


def assert_inert(text: str, blocks: list[dict[str, object]]) -> None:
    """Only our own tokens open with `<`: the requester, the date, those who may decide."""
    ours = ("<@U0005>", "<!date^", "<@U0001>", "<@U0002>", "<!subteam^S_BILLING>")
    live = f"{text}\n{parsed_text(blocks)}"
    for token in ours:
        live = live.replace(token, "")
    assert "<" not in live
    assert mentioned(blocks) <= {"U0001", "U0002", "S_BILLING"}
    assert not any(one.get("type") == "link" for one in every(blocks))
    assert all(one.get("verbatim") for one in every(blocks) if one.get("type") == "mrkdwn")


def test_a_folded_call_keeps_the_time_of_its_decision_and_of_its_end() -> None:
    call = a_call()
    call = decided(call, State.SUCCEEDED, a_decision(call), ended_at=NOW + 60_000)
    (block,) = [one for one in render_card(a_view(call), LAW).blocks if one["type"] == "section"]
    said = block["text"]["text"]
    assert f"Approved by Bruno Billing, <!date^{NOW // 1000}^{{time}}|" in said
    assert f"Done at <!date^{NOW // 1000 + 60}^{{time}}|" in said
