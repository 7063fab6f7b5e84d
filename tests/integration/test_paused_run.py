"""One paused run with 41 calls of four kinds: always the same cards, and a clear refusal of what is beyond them."""

import contextlib
import json
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
import redis
from agents import Model
from agents.testing import ScriptedModel

from approvals.lifecycle import Cause
from approvals.models import Run
from builders import a_content, a_store, start_run
from policies import rules
from policies.evaluate import Proposal, evaluate
from policies.law import Law, load_law
from policies.requirement import Requirement
from policies.reread import reread
from policies.risk import Mode
from worker.deps import Deps
from worker.placing import OVER_BUDGET, Placed, place

PAUSED = json.loads((Path(__file__).parents[1] / "data" / "paused_run.json").read_text(encoding="utf-8"))
LAW = load_law(["policies.rules"], Path(rules.__path__[0], "reviewers.toml").read_text(encoding="utf-8"))


def facts(tool: str, arguments: Any) -> dict[str, Any]:
    """What the shop would say: everything is as the agent believes."""
    if tool == "refund_payments":
        lines = arguments["lines"]
        return {
            "customer_of": {line["payment_id"]: f"cus_{line['payment_id'][4:]}" for line in lines},
            "charged": {line["payment_id"]: line["amount"] for line in lines},
        }
    if tool == "send_email":
        return {"address_of": {name: f"{name}@mail.example" for name in arguments["recipients"]}}
    if tool == "delete_customers":
        standing = {"open_invoices": 0, "draft_invoices": 0, "legal_hold": False}
        return {"customers": dict.fromkeys(arguments["customer_ids"], standing)}
    return {"digests": {"shop": f"sha256:{'ab' * 32}"}}


def proposals(law: Law, pending: Sequence[dict[str, str]]) -> list[Proposal]:
    return [
        reread(
            law,
            call["call_id"],
            call["tool"],
            call["agent"],
            call["arguments"],
            json.dumps(facts(call["tool"], json.loads(call["arguments"]))),
        )
        for call in pending
    ]


def judged(pending: Sequence[dict[str, str]]) -> dict[str, Requirement]:
    now = datetime.fromisoformat(PAUSED["interrupted_at"])
    calls = proposals(LAW, pending)
    needs = evaluate(LAW, calls, requester=PAUSED["requester"], spent={}, vetoes={}, now=now)
    return {call.key: need for call, need in zip(calls, needs, strict=True)}


def in_one_call(pending: Sequence[dict[str, str]]) -> list[dict[str, str]]:
    """The same wishes as an agent that follows its protocol proposes them: all refunds in one call."""
    refunds = [call for call in pending if call["tool"] == "refund_payments"]
    lines = [json.loads(call["arguments"])["lines"][0] for call in refunds]
    text = json.dumps({"lines": lines, "reason": "failed_capture"})
    return [{**refunds[0], "arguments": text}, *(call for call in pending if call not in refunds)]


@pytest.fixture
def deps(redis_client: redis.Redis) -> Deps:
    @contextlib.asynccontextmanager
    async def model() -> AsyncIterator[Model]:
        yield ScriptedModel([])

    store = a_store(redis_client)
    assert start_run(store, requester=PAUSED["requester"]).ok
    return Deps(store, LAW, {}, model)


def placed(deps: Deps, pending: Sequence[dict[str, str]]) -> Placed:
    contents = {key: a_content(requirement=need) for key, need in judged(pending).items()}
    run = deps.store.runs.load("run_1")
    assert isinstance(run, Run)
    return place(deps, run, contents, {call["call_id"]: call["tool"] for call in pending}, cards=0)


def cards(found: Placed) -> list[tuple[str, tuple[str, ...], tuple[str, ...]]]:
    return [(batch.radius, batch.calls, batch.notify) for batch in found.batches]


def test_41_calls_become_three_full_cards_and_a_clear_refusal_of_the_rest(deps: Deps) -> None:
    found = placed(deps, PAUSED["pending"])
    assert [(batch.radius, len(batch.calls)) for batch in found.batches] == [("refunds in EUR", 8)] * 3
    first = [f"call_r{at:02d}" for at in range(1, 25)]
    assert [key for batch in found.batches for key in batch.calls] == first
    assert {batch.notify for batch in found.batches} == {("U0001", "U0002", "S_BILLING")}
    assert Counter(found.refused.values()) == {(Cause.BUDGET, OVER_BUDGET): 17}
    assert found.spent
    assert list(found.alerts) == ["budget:run_1"]


def test_the_same_wishes_in_one_call_each_fit_on_three_cards_and_the_fourth_is_refused(deps: Deps) -> None:
    found = placed(deps, in_one_call(PAUSED["pending"]))
    assert [(batch.radius, batch.calls) for batch in found.batches] == [
        ("refunds in EUR", ("call_r01",)),
        ("mail to mail.example", ("call_e01",)),
        ("deletion of customers", ("call_d01",)),
    ]
    assert found.refused == {"call_p01": (Cause.BUDGET, OVER_BUDGET)}


@pytest.mark.parametrize("shape", [list, in_one_call])
def test_the_cards_are_the_same_every_time(deps: Deps, redis_client: redis.Redis, shape: Any) -> None:
    once, again = placed(deps, shape(PAUSED["pending"])), placed(deps, shape(PAUSED["pending"]))
    assert cards(once) == cards(again)
    assert once.refused == again.refused


def test_every_call_of_the_run_says_why_somebody_is_asked() -> None:
    needs = judged(PAUSED["pending"])
    assert {need.mode for need in needs.values()} == {Mode.HUMAN}
    assert {need.reasons for key, need in needs.items() if key.startswith("call_r")} == {
        ("This run refunds 4,120.00 EUR, over 250.00 EUR: two different reviewers.",)
    }
    assert needs["call_e01"].reasons == ("Mail to 2 people.",)
    assert needs["call_d01"].reasons == ("2 customers are erased for good.",)
    assert needs["call_p01"].reasons == ("Production: two different reviewers.",)
