"""A number that could be neither sealed nor written out is refused by name, and alone."""

import pytest

from approvals.lifecycle import RunState, State
from workshop import Workshop, function_call, saying, shipping

ENDLESS = {
    "a long number": "9" * 1_234,
    "a number of Python's": "9" * 5_000,
    "a negative one": f"-{'9' * 1_300}",
    "long decimals": f"0.{'1' * 3_000}",
    "noughts": f"1.{'0' * 1_000}",
    "a large exponent": "1e9999",
    "not a number": "NaN",
}


@pytest.mark.parametrize("number", ENDLESS.values(), ids=ENDLESS)
def test_a_number_without_bounds_refuses_its_own_call_and_nothing_else(workshop: Workshop, number: str) -> None:
    endless = f'{{"lines":[{{"item":"cup","count":{number}}}]}}'
    bad = function_call("ship", {}, call_id="c2").model_copy(update={"arguments": endless})
    workshop.script.extend([[shipping(("pot", 3)), bad], [saying("I see.")]])
    workshop.start()
    pot, cup = workshop.calls()
    assert (workshop.run().state, pot.state, cup.state) == (RunState.PAUSED, State.PENDING_REVIEW, State.REJECTED)
    assert cup.reason is not None
    assert cup.reason.startswith("/lines/0/count ")
    assert workshop.decide(pot).ok
    workshop.execute()
    workshop.advance()
    assert [told["status"] for told in workshop.told()] == ["executed", "refused"]
