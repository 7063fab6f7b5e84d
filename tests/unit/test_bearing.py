"""Refusals and siblings bear on a call by what it touches; where nobody knows that, they bear on it all the same."""

from typing import Any

import pytest

from lawbook import a_law_of, a_rule, asked, judged
from policies.arguments import Arguments
from policies.requirement import STRICTEST_TIER, Requirement
from policies.risk import Mode


class Touch(Arguments):
    """Touch something."""

    thing: str


def always(ask: Any, so_far: Any) -> Requirement:
    need = Requirement(radius="things", resources=(ask.args.thing,))
    return need.auto_when(True, "Always.").needs("billing")


def raises(ask: Any, so_far: Any) -> Requirement:
    raise KeyError(ask.args.thing)


LAW = a_law_of(a_rule("send", Touch, always), a_rule("drop", Touch, always), a_rule("odd", Touch, raises))
CUP, POT = Touch(thing="cup"), Touch(thing="pot")
UNKNOWN = "Nobody knows what it touches, so it may follow a refusal: "


def test_two_tools_that_touch_one_thing_in_a_turn_are_shown_to_a_person() -> None:
    needs = judged(LAW, asked("send", CUP), asked("drop", CUP), asked("drop", POT))
    assert [need.mode for need in needs] == [Mode.HUMAN, Mode.HUMAN, Mode.AUTO]
    assert needs[0].reasons == ("Another call of this turn touches cup too.",)


@pytest.mark.parametrize("before", [{"vetoes": {"odd|cup": "Olga: no"}}, {"corrections": {"odd|cup": "Olga: no"}}])
def test_a_call_that_could_not_be_judged_follows_what_was_refused_to_its_tool(before: Any) -> None:
    (raised,) = judged(LAW, asked("odd", CUP), **before)
    (failed,) = judged(LAW, asked("odd", CUP, problem="The check failed.", kind="facts"), **before)
    for need, why in ((raised, "Its rule failed (KeyError), so the strictest tier decides."), (failed, "The check f")):
        assert (need.mode, need.tier, need.follows) == (Mode.HUMAN, STRICTEST_TIER, (f"{UNKNOWN}Olga: no",))
        assert need.reasons[0].startswith(why)
        assert need.reasons[1] == f"{UNKNOWN}Olga: no"


def test_a_call_nobody_knows_about_names_the_refusals_of_its_thread_its_own_tools_first() -> None:
    vetoes = {"drop|cup": "Olga: not the cup", "odd|pot": "Ben: not the pot"}
    (need,) = judged(LAW, asked("odd", CUP), vetoes=vetoes)
    assert need.follows == (f"{UNKNOWN}Ben: not the pot (this thread has 1 more)",)
    (need,) = judged(LAW, asked("mystery", None), vetoes=vetoes)
    assert (need.tier, need.follows) == (STRICTEST_TIER, (f"{UNKNOWN}Olga: not the cup (this thread has 1 more)",))
    assert judged(LAW, asked("mystery", None))[0].follows == ()


@pytest.mark.parametrize("before", [{"vetoes": {"send|*": "Olga: no"}}, {"corrections": {"send|*": "Olga: no"}}])
def test_a_call_follows_the_refusal_of_one_that_nobody_could_check(before: Any) -> None:
    (need,) = judged(LAW, asked("send", CUP), **before)
    assert (need.mode, need.tier) == (Mode.HUMAN, STRICTEST_TIER)
    assert need.follows == ("It may follow the refusal of a call of which nobody knew what it touches: Olga: no",)
    assert judged(LAW, asked("drop", CUP), **before)[0].mode is Mode.AUTO


def test_the_one_corrected_proposal_of_a_tool_that_names_no_resources_is_told_as_such() -> None:
    (need,) = judged(LAW, asked("mystery", None), corrections={"mystery|*": "Olga: less"})
    assert need.follows == ("It is the one corrected proposal after a rejection: Olga: less",)
