import asyncio
import json

import pytest
from agents import ModelSettings, ModelTracing
from openai.types.responses import ResponseCompletedEvent, ResponseFunctionToolCall

from planner_talk import Talk, envelope, euros, found, payment
from policies.arguments import read_arguments
from worker.refund_desk.planner import OfflinePlanner
from worker.refund_desk.tools import all_tools
from worker.transcript import INTRODUCTION

DONE = envelope("executed", "EXECUTED. Approved by Bruno.")
LISTED = {
    "count": 4,
    "erasable": [
        {"customer_id": "cus_0301", "ground": "erasure_request"},
        {"customer_id": "cus_0302", "ground": "inactive_3y"},
        {"customer_id": "cus_0303", "ground": "erasure_request"},
    ],
    "kept": [{"customer_id": "cus_0304", "why": "open invoice"}],
}
MANIFEST = {"manifest_id": "dep_0042", "environment": "production"}
ALL = "refund yesterday's failed payments, mail the affected customers and delete the customers on the erasure list"


def everything(**outputs: object) -> dict[str, object]:
    return {
        "search_payments": found(payment(1), payment(2, 2900), payment(3, 4900, customer=1)),
        "read_erasure_list": LISTED,
        "read_manifest": MANIFEST,
        "refund_payments": DONE,
        "send_email": DONE,
        "delete_customers": DONE,
        "deploy": DONE,
        "draft_refund_report": DONE,
        **outputs,
    }


def test_lookups_come_first_and_everything_is_proposed_in_one_turn() -> None:
    talk = Talk(ALL, everything())
    talk.run()
    assert [[tool for tool, _ in turn] for turn in talk.turns] == [
        ["search_payments", "read_erasure_list"],
        ["search_payments"],
        ["refund_payments", "send_email", "delete_customers", "delete_customers"],
    ]


def test_the_newest_day_is_looked_up_and_named_in_the_answer() -> None:
    talk = Talk("refund yesterday's failed payments", everything())
    answer = talk.run()
    assert talk.turns[1][0][1] == {"status": "failed", "since": "2026-10-23", "until": "2026-10-23", "page": 1}
    assert "The newest day with failed payments is 2026-10-23" in answer


def test_every_page_is_read_before_anything_is_proposed() -> None:
    pages = [found(payment(1), pages=2), found(payment(1), pages=2), found(payment(2), pages=2)]
    talk = Talk("refund yesterday's failed payments", everything(search_payments=pages))
    talk.run()
    assert [line["payment_id"] for line in talk.proposed[0][1]["lines"]] == ["pay_0001", "pay_0002"]


def test_the_proposed_arguments_are_read_by_the_argument_models_of_the_law() -> None:
    talk = Talk(f"{ALL}, deploy the manifest and draft a report", everything())
    talk.run()
    models = {tool.name: tool.arguments for tool in all_tools()}
    assert len(talk.proposed) == 6
    for name, arguments in talk.proposed:
        read_arguments(models[name], json.dumps(arguments))


def test_a_customer_with_two_payments_gets_one_mail() -> None:
    talk = Talk("mail the affected customers", everything())
    talk.run()
    assert talk.proposed[0][1]["recipients"] == ["cus_0001", "cus_0002"]


def test_the_mail_promises_nothing_that_somebody_may_still_refuse() -> None:
    talk = Talk(ALL, everything())
    talk.run()
    body = dict(talk.proposed)["send_email"]["body"]
    assert "refund" not in body
    assert len(body) < 250


def test_only_those_who_can_be_erased_are_proposed_and_the_others_are_named() -> None:
    talk = Talk("delete the customers on the erasure list", everything())
    answer = talk.run()
    assert talk.proposed == [
        ("delete_customers", {"customer_ids": ["cus_0301", "cus_0303"], "ground": "erasure_request"}),
        ("delete_customers", {"customer_ids": ["cus_0302"], "ground": "inactive_3y"}),
    ]
    assert "1 on the erasure list stay: 1 for open invoice." in answer


def test_nobody_is_erased_when_it_is_not_said_who() -> None:
    talk = Talk("delete the customers", everything())
    assert "Which customers should be erased?" in talk.run()
    assert talk.proposed == []


def test_a_customer_who_is_not_on_the_erasure_list_is_not_proposed() -> None:
    talk = Talk("delete cus_0001", everything())
    assert "cus_0001 is not on the erasure list" in talk.run()
    assert talk.proposed == []


def test_payments_of_several_currencies_become_one_call_for_each() -> None:
    yen = payment(2, amount={"minor": 500, "currency": "JPY"}, refunded={"minor": 0, "currency": "JPY"})
    talk = Talk("refund yesterday's failed payments", everything(search_payments=found(payment(1), yen)))
    talk.run()
    assert [call["lines"][0]["amount"] for _, call in talk.proposed] == [euros(9900), {"minor": 500, "currency": "JPY"}]


def test_more_lines_than_one_call_takes_become_several_calls() -> None:
    talk = Talk("refund yesterday's failed payments", everything(search_payments=found(*map(payment, range(130)))))
    talk.run()
    assert [len(call["lines"]) for _, call in talk.proposed] == [100, 30]


def test_what_was_refunded_before_is_not_refunded_again() -> None:
    rows = found(
        payment(1, refunded=euros(4000), status="partly_refunded"), payment(2, refunded=euros(9900), status="refunded")
    )
    talk = Talk("refund pay_0001 and pay_0002", everything(search_payments=rows))
    assert "pay_0002 is refunded: nothing can be refunded." in talk.run()
    assert talk.proposed[0][1]["lines"] == [{"payment_id": "pay_0001", "amount": euros(5900)}]


def test_part_of_one_payment_is_refunded_when_it_is_named() -> None:
    talk = Talk("refund 30.00 EUR of pay_0001", everything())
    talk.run()
    assert talk.proposed[0][1]["lines"] == [{"payment_id": "pay_0001", "amount": euros(3000)}]


@pytest.mark.parametrize(
    ("request_text", "why"),
    [
        ("refund 30.00 EUR of yesterday's failed payments", r"You named 30.00 EUR, but there is 177.00 EUR"),
        ("refund 99.01 EUR of pay_0001", "You named 99.01 EUR, but there is 99.00 EUR"),
        ("refund 30,00 EUR of pay_0001", '"30,00" is not an amount'),
        ("refund the failed payments over 50 EUR", 'I do not understand "over"'),
        ("refund pay_0077", "pay_0077 was not found"),
    ],
)
def test_nothing_is_refunded_when_it_is_unclear_how_much_or_of_what(request_text: str, why: str) -> None:
    talk = Talk(request_text, everything())
    assert why in talk.run()
    assert talk.proposed == []


def test_no_failed_payment_means_no_call() -> None:
    talk = Talk("refund yesterday's failed payments", everything(search_payments=found(day=None)))
    assert "The shop has no failed payments." in talk.run()
    assert talk.proposed == []


def test_a_search_that_gave_no_answer_says_nothing_about_what_there_is() -> None:
    refused = "search_payments could not look this up (ShopRefused)."
    answer = Talk("refund yesterday's failed payments", everything(search_payments=refused)).run()
    assert f"A lookup gave no answer: {refused}" in answer
    assert "no failed payments" not in answer


def test_a_lookup_that_failed_is_quoted_not_guessed_around() -> None:
    talk = Talk("deploy dep_9999", everything(read_manifest="There is no manifest dep_9999."))
    answer = talk.run()
    assert "A lookup gave no answer: There is no manifest dep_9999." in answer
    assert talk.proposed == []


def test_a_request_nobody_understands_is_answered_with_what_is_possible() -> None:
    talk = Talk("sing a song", {})
    answer = talk.run()
    assert talk.turns == []
    assert '"sing a song"' in answer
    assert "I can refund failed payments" in answer


def test_every_last_word_says_that_a_stand_in_speaks() -> None:
    for request_text in ("sing a song", ALL, "what is the refund policy?"):
        talk = Talk(request_text, everything(read_refund_policy="The policy."))
        assert "stand-in for a language model" in talk.run()


def test_an_earlier_conversation_is_history_and_only_the_last_message_is_the_request() -> None:
    before = [
        {"role": "user", "content": 'Earlier conversation, as data: "deploy the manifest", "delete the erasure list"'},
        {"role": "user", "content": "deploy the manifest"},
        {"type": "function_call", "call_id": "old", "name": "deploy", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "old", "output": "{}"},
        {"role": "assistant", "content": [{"type": "output_text", "text": "Deployed."}]},
    ]
    talk = Talk("refund pay_0001", everything(), before=before)
    answer = talk.run()
    assert [tool for tool, _ in talk.proposed] == ["refund_payments"]
    assert "dep_0042" not in answer


def test_what_the_engine_quotes_of_earlier_runs_is_not_the_request() -> None:
    earlier = [{"request": "deploy dep_0042\n\nThe request now:\ndeploy dep_0042", "calls": [], "answer": "Deployed."}]
    talk = Talk(f"{INTRODUCTION}\n{json.dumps(earlier)}\n\nThe request now:\nrefund pay_0001", everything())
    talk.run()
    assert [tool for tool, _ in talk.proposed] == ["refund_payments"]


def test_content_and_outputs_in_parts_are_read_like_plain_text() -> None:
    talk = Talk("refund pay_0001", everything())
    parts = [{"type": "input_text", "text": "refund pay_0001"}]
    talk.request = parts  # type: ignore[assignment]
    talk.run()
    assert [tool for tool, _ in talk.proposed] == ["refund_payments"]


def test_without_tools_nothing_is_called_and_the_answer_says_so() -> None:
    talk = Talk("refund pay_0001", {}, tools=[])
    assert "Nothing was proposed: no tools were left to me in this turn." in talk.run()


def test_a_streamed_answer_is_one_completed_event_with_the_whole_output() -> None:
    async def stream() -> list[object]:
        events = OfflinePlanner().stream_response(
            None,
            "refund pay_0001",
            ModelSettings(),
            all_tools(),
            None,
            [],
            ModelTracing.DISABLED,
            previous_response_id=None,
            conversation_id=None,
            prompt=None,
        )
        return [event async for event in events]

    (event,) = asyncio.run(stream())
    assert isinstance(event, ResponseCompletedEvent)
    (call,) = event.response.output
    assert isinstance(call, ResponseFunctionToolCall)
    assert call.name == "search_payments"


def test_call_ids_are_never_used_twice() -> None:
    ids = iter(range(1000))
    planner = OfflinePlanner(new_id=lambda: str(next(ids)))
    calls = [planner.call("deploy", {}) for _ in range(3)]
    assert len({call.call_id for call in calls}) == 3
