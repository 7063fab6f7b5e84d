"""A card names what is hurt as it is sealed now, not as it was when its calls were put together."""

import json

from approvals.lifecycle import State
from approvals.models import BatchView, Call
from bot.alerts import expired_alert, lapsed_alert
from bot.attention_alerts import quiet_alert
from bot.cards import render_card
from bot.radius import radius_of, radius_on
from bot.reminders import render_reminder
from bot_builders import AnyLaw, a_call, a_content, a_requirement, a_view

WAS, IS = "stock of ann", "stock of bob"


def hurting(radius: str, number: int = 1, **changes: object) -> Call:
    return a_call(number, content=a_content(requirement=a_requirement(radius=radius)), **changes)


def shown(view: BatchView) -> str:
    message = render_card(view, AnyLaw())
    return f"{message.text} {json.dumps(message.blocks)}"


def test_an_edited_call_shows_the_radius_that_is_sealed() -> None:
    said = shown(a_view(hurting(IS), radius=WAS))
    assert IS in said
    assert WAS not in said


def test_the_question_of_approve_all_names_every_radius_of_what_waits() -> None:
    view = a_view(hurting(IS), hurting(WAS, 2), hurting(IS, 3), radius=WAS)
    assert f"Approve 3 calls: {IS} and {WAS}?" in shown(view)
    assert render_card(view, AnyLaw()).blocks[0]["text"]["text"].startswith(f"3 calls to decide: {IS} and {WAS}")


def test_what_waits_counts_and_what_is_decided_does_not() -> None:
    view = a_view(hurting(IS), hurting(WAS, 2, state=State.SUCCEEDED), radius=WAS)
    assert radius_on(view) == IS
    assert WAS not in render_card(view, AnyLaw()).text


def test_a_settled_card_names_what_was_hurt() -> None:
    view = a_view(hurting(IS, state=State.SUCCEEDED), hurting(IS, 2, state=State.REJECTED), radius=WAS)
    assert IS in render_card(view, AnyLaw()).text
    assert WAS not in shown(view)


def test_reminders_and_alerts_name_it_too() -> None:
    waiting = a_view(hurting(IS), hurting(IS, 2), radius=WAS)
    lost = a_view(hurting(IS, state=State.EXPIRED), hurting(IS, 2, state=State.EXPIRED), radius=WAS)
    messages = [
        render_reminder(waiting, "half"),
        quiet_alert(waiting),
        expired_alert(lost),
        lapsed_alert(lost),
    ]
    for message in messages:
        assert message is not None
        assert IS in message.text
        assert WAS not in message.text


def test_equal_radii_are_named_once() -> None:
    assert radius_of([hurting(IS), hurting(IS, 2)]) == IS
