import pytest

from approvals.lifecycle import Cause, RunState, State
from approvals.outcomes import Answer, Outcome
from block_rules import all_text, assert_message, every, mentioned, parsed_text
from bot.alerts import expired_alert, failed_alert, slack_alert, unknown_alert
from bot.card_text import own_amount, sums, title
from bot.outcome import render_outcome
from bot.sentences import sentence
from bot.told import render_answer, render_notice, render_opening
from bot_builders import NOW, a_call, a_content, a_decision, a_pause, a_preview, a_requirement, a_run, a_view, decided
from policies.money import Money

TOKENS = "<!channel> <@U0001> <https://evil.example|Approve> *b* \u202e"


def test_sums_are_kept_apart_by_currency() -> None:
    amounts = [Money(minor=100, currency="EUR"), Money(minor=250, currency="USD"), Money(minor=1, currency="EUR")]
    assert sums([a_requirement(amount=amount) for amount in amounts]) == "1.01 EUR and 2.50 USD"
    assert sums([a_requirement(amount=None)]) == ""


def test_a_call_counts_for_itself_and_not_for_its_run() -> None:
    own = Money(minor=100, currency="EUR")
    assert own_amount(a_requirement(counts={"refunds": own}, amount=Money(minor=900, currency="EUR"))) == own


def test_the_title_counts_what_became_of_the_calls() -> None:
    calls = (decided(a_call(1), State.SUCCEEDED), decided(a_call(2), State.REJECTED, cause=Cause.PERSON))
    assert title(a_view(*calls)) == "Settled: refunds in EUR, 1 done, 1 not run"


@pytest.mark.parametrize("outcome", list(Outcome))
def test_every_outcome_of_the_store_has_one_sentence(outcome: Outcome) -> None:
    said = sentence(Answer(outcome, {}), verb="reject")
    assert said.endswith(".")
    assert "None" not in said


def test_who_was_first_is_named_to_who_came_late() -> None:
    detail = {"name": "Olga <!channel>", "verdict": "reject", "at": "1780000000000"}
    said = sentence(Answer(Outcome.ALREADY_DECIDED, detail))
    assert said == "Already rejected by Olga &lt;!channel&gt; at 20:26 UTC."


def test_an_approval_that_is_not_enough_says_how_many_are_missing() -> None:
    assert "1 more needed" in sentence(Answer(Outcome.OK, {"verdict": "pending", "missing": "1"}))


def outcome_calls() -> tuple:
    done = decided(a_call(1), State.SUCCEEDED, a_decision(a_call(1)), ended_at=NOW)
    no = a_decision(a_call(2), "reject", reason=TOKENS)
    rejected = decided(a_call(2), State.REJECTED, no, cause=Cause.PERSON, reason=TOKENS)
    return done, rejected, decided(a_call(3), State.EXPIRED, cause=Cause.NOBODY), decided(a_call(4), State.UNKNOWN)


def test_the_outcome_table_says_what_ran_and_why_the_rest_did_not() -> None:
    message = render_outcome(a_pause(*outcome_calls()))
    assert_message(message)
    assert message.text == "Outcome of `run_1`: 1 done, 1 unknown, 1 not run, 1 expired."
    text = all_text(message.blocks)
    for words in ("1. Refund", "Bruno Billing", "Done", "Rejected by Bruno Billing", "nobody decided in time"):
        assert words in text
    assert not mentioned(message.blocks)


def test_three_hundred_calls_fit_into_one_outcome() -> None:
    calls = tuple(decided(a_call(number), State.SUCCEEDED, ended_at=NOW) for number in range(1, 301))
    message = render_outcome(a_pause(*calls))
    assert_message(message)
    assert "and 260 more" in all_text(message.blocks)


def test_the_models_words_are_marked_as_its_own_and_are_not_live() -> None:
    message = render_answer(a_run(state=RunState.COMPLETED, answer=f"All refunded! {TOKENS}"))
    assert_message(message)
    assert "The agent's own words" in all_text(message.blocks)
    assert "⟨U+202E⟩" in all_text(message.blocks)
    assert "<" not in message.text + parsed_text(message.blocks)
    assert not mentioned(message.blocks)


@pytest.mark.parametrize(
    ("state", "words"), [(RunState.STOPPED, "Stopped: budget"), (RunState.FAILED, "Interrupted: budget")]
)
def test_an_end_without_an_answer_says_why(state: RunState, words: str) -> None:
    assert words in all_text(render_answer(a_run(state=state, reason="budget")).blocks)


def test_calls_that_did_not_run_are_counted_above_the_models_words_and_what_ran_or_may_have_is_not() -> None:
    run = a_run(state=RunState.COMPLETED, answer="All refunded!")
    message = render_answer(run, [*State, State.REJECTED])
    assert_message(message)
    assert message.text.startswith("Finished. 4 calls of this run did not run. The agent says:")
    assert all_text(message.blocks).startswith("Finished. 4 calls of this run did not run.\n")
    assert "did not run" not in render_answer(run, [State.SUCCEEDED, State.UNKNOWN]).text


def test_a_request_is_repeated_but_not_obeyed() -> None:
    for message in (render_opening(a_run(request=TOKENS)),):
        assert_message(message)
        assert "<" not in (message.text + parsed_text(message.blocks)).replace("<@U0005>", "")
        assert mentioned(message.blocks) == {"U0005"}


def test_an_editor_whose_data_changed_is_addressed() -> None:
    call = a_call(content=a_content(previous=("pay_0012 is gone",)))
    call = call.model_copy(update={"decisions": (a_decision(call, "edit"),)})
    message = render_notice(call)
    assert_message(message)
    assert mentioned(message.blocks) == {"U0001"}
    assert "pay_0012 is gone" in all_text(message.blocks)


def test_alerts_name_ids_and_a_remedy_but_no_data() -> None:
    secret = a_content(preview=a_preview(headline="Refund anna@example.test"))
    lost = decided(a_call(content=secret), State.EXPIRED, cause=Cause.NOBODY)
    unknown = decided(a_call(content=secret), State.UNKNOWN, reason="lease lost")
    alerts = [
        expired_alert(a_view(lost)),
        unknown_alert(unknown, a_run()),
        failed_alert(a_run(state=RunState.FAILED, reason=TOKENS)),
        slack_alert("a message", "C_OLD", "is_archived"),
    ]
    for alert in alerts:
        assert_message(alert)
        assert "anna" not in alert.text + all_text(alert.blocks)
        assert "<!channel>" not in alert.text + parsed_text(alert.blocks)
    assert "vobo-run_1-call_000000000001" in alerts[1].text
    assert "Unarchive" in all_text(alerts[3].blocks)
    assert not [one for one in every([alert.blocks for alert in alerts]) if one.get("type") == "link"]
