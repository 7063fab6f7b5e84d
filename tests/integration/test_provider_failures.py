import httpx2
import openai
import pytest
from agents.testing import ModelStep

from approvals.lifecycle import RunState, State
from builders import events, owed
from workshop import ANA, LEA, Workshop, saying, shipping

_REQUEST = httpx2.Request("POST", "https://model.example/v1/chat/completions")


def refused(kind: type[openai.APIStatusError], status: int, words: str) -> Exception:
    return kind(words, response=httpx2.Response(status, request=_REQUEST), body=None)


FAILURES = {
    "down": openai.APIConnectionError(request=_REQUEST),
    "too many requests": refused(openai.RateLimitError, 429, "rate limit reached"),
    "overloaded": refused(openai.InternalServerError, 503, "try again"),
    "context too long": refused(openai.BadRequestError, 400, "context_length_exceeded"),
}


def wait_ms(workshop: Workshop, job: str) -> float:
    """How far in the future the run is woken again."""
    at = workshop.client.zscore(workshop.store.keys.wakeups, f"{job}:run_1")
    assert at is not None
    return float(at) - workshop.store.now()


@pytest.mark.parametrize("failure", FAILURES.values(), ids=FAILURES.keys())
def test_a_provider_that_fails_is_asked_again_with_growing_pauses_then_ops_is_told_and_can_requeue(
    workshop: Workshop, failure: Exception
) -> None:
    workshop.retry_delays_ms = (5_000, 20_000)
    workshop.script.extend([ModelStep.raise_error(failure)] * 2 + [[saying("Better now.")]])
    with pytest.raises(type(failure)):
        workshop.start()
    assert 3_000 < wait_ms(workshop, "start_run") <= 5_000
    with pytest.raises(type(failure)):
        workshop.advance()
    assert 15_000 < wait_ms(workshop, "start_run") <= 20_000
    assert "alert:run:run_1" not in owed(workshop.store)
    workshop.advance()
    assert workshop.run().state is RunState.FAILED
    assert "alert:run:run_1" in owed(workshop.store)
    assert "answer:run_1" in owed(workshop.store)
    workshop.advance()
    assert workshop.run().state is RunState.FAILED

    assert workshop.store.runs.requeue("run_1", by=LEA).ok
    workshop.advance()
    assert (workshop.run().state, workshop.run().answer) == (RunState.COMPLETED, "Better now.")
    assert events(workshop.store).count("requeued") == 1


def test_a_run_that_fails_after_its_effect_is_requeued_without_a_second_effect(workshop: Workshop) -> None:
    workshop.retry_delays_ms = (0,)
    failure = FAILURES["down"]
    workshop.script.extend([[shipping(("cup", 3))], *[ModelStep.raise_error(failure)] * 2, [saying("Shipped.")]])
    workshop.start()
    (call,) = workshop.calls()
    assert workshop.decide(call, by=ANA).ok
    workshop.execute()
    for _ in range(2):  # the answers of the pause were taken in before the first failure: that is progress
        with pytest.raises(type(failure)):
            workshop.advance()
    workshop.advance()
    assert workshop.run().state is RunState.FAILED
    assert workshop.store.runs.requeue("run_1", by=LEA).ok
    workshop.execute()
    workshop.advance()
    assert workshop.run().answer == "Shipped."
    assert len(workshop.shop.done) == 1
    assert workshop.calls()[0].state is State.SUCCEEDED


def test_the_model_of_a_cancelled_run_is_not_called_again(workshop: Workshop) -> None:
    workshop.script.extend([[shipping(("cup", 3))], [saying("Never said.")]])
    workshop.start()
    assert workshop.store.runs.cancel("run_1", by="U0REQ", name="Rosa").ok
    asked = len(workshop.script.calls)
    workshop.execute()
    workshop.advance()
    assert len(workshop.script.calls) == asked
    assert workshop.shop.done == []
    assert (workshop.run().state, workshop.run().answer) == (RunState.STOPPED, None)


def test_a_cancelled_run_ends_after_the_effect_that_was_at_work(workshop: Workshop) -> None:
    workshop.script.extend([[shipping(("cup", 3))], [saying("Never said.")]])
    workshop.shop.before_effect = lambda: workshop.store.runs.cancel("run_1", by="U0REQ", name="Rosa") and None
    workshop.start()
    (call,) = workshop.calls()
    assert workshop.decide(call, by=ANA).ok
    workshop.execute()
    assert len(workshop.shop.done) == 1
    assert workshop.calls()[0].state is State.SUCCEEDED
    workshop.advance()
    assert (workshop.run().state, workshop.run().reason) == (RunState.STOPPED, "cancelled by @Rosa")
    assert "outcome:run_1:1" in owed(workshop.store)
