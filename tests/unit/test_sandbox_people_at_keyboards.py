"""What a Slack client does by itself: escaping, initial values, checks before sending."""

from typing import Any

import pytest

from bot.sandbox.clock import Clock
from bot.sandbox.echo import echoed
from bot.sandbox.errors import SandboxError, SlackError
from bot.sandbox.faults import Fault, Faults
from bot.sandbox.settings import Settings
from bot.sandbox.signed_http import signature
from bot.sandbox.triggers import Triggers
from bot.sandbox.typed import typed
from bot.sandbox.values import REQUIRED, client_errors, state_of
from bot.sandbox.world import World

PLAIN = {"type": "plain_text", "text": "L"}


def field(block_id: str, element: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"type": "input", "block_id": block_id, "label": PLAIN, "element": {"action_id": "value", **element}, **more}


AMOUNT = field(
    "amount",
    {"type": "number_input", "is_decimal_allowed": True, "initial_value": "5", "min_value": "1", "max_value": "9"},
)
CHOICE = field(
    "kind",
    {"type": "radio_buttons", "options": [{"text": PLAIN, "value": "a"}, {"text": PLAIN, "value": "b"}]},
)
REASON = field("reason", {"type": "plain_text_input", "max_length": 5}, optional=True)


def test_typed_text_is_escaped_and_names_become_mentions() -> None:
    world = World(Settings())
    assert typed(world, "@vobo a <b> & @bruno, @billing, x@vobo.test") == (
        "<@UBOT> a &lt;b&gt; &amp; <@U0001>, <!subteam^S_BILLING>, x@vobo.test"
    )
    assert typed(world, "<@U0001> 1 < 2 <!nonsense|x>") == "<@U0001> 1 &lt; 2 &lt;!nonsense|x&gt;"


def test_untouched_inputs_submit_their_initial_value_and_empty_text_is_null() -> None:
    values = state_of([AMOUNT, CHOICE, REASON], {"reason": {"value": ""}})
    assert values["amount"]["value"] == {"type": "number_input", "value": "5"}
    assert values["kind"]["value"] == {"type": "radio_buttons", "selected_option": None}
    assert values["reason"]["value"] == {"type": "plain_text_input", "value": None}


@pytest.mark.parametrize(
    ("block", "entered", "problem"),
    [
        (AMOUNT, "10", "Please enter a number of at most 9."),
        (AMOUNT, "0", "Please enter a number of at least 1."),
        (AMOUNT, "ten", "Please enter a number."),
        (AMOUNT, "", REQUIRED),
        (AMOUNT, "2.5", None),
        (CHOICE, None, REQUIRED),
        (CHOICE, "b", None),
        (REASON, "", None),
        (REASON, "too long", "Please enter at most 5 characters."),
    ],
)
def test_the_client_checks_before_it_sends(block: dict[str, Any], entered: Any, problem: str | None) -> None:
    errors = client_errors([block], state_of([block], {block["block_id"]: {"value": entered}}))
    assert errors.get(block["block_id"]) == problem


def test_a_value_that_is_not_offered_or_not_there_cannot_be_entered() -> None:
    with pytest.raises(SandboxError, match="is not offered"):
        state_of([CHOICE], {"kind": {"value": "c"}})
    with pytest.raises(SandboxError, match="no input value in block other"):
        state_of([CHOICE], {"other": {"value": "c"}})


def test_a_trigger_is_for_one_use_within_three_seconds() -> None:
    world = World(Settings())
    triggers = Triggers(world)
    actor = world.actor("U0001")
    first = triggers.issue(actor)
    assert triggers.exchange(first) == (actor, None)
    with pytest.raises(SlackError, match="exchanged_trigger_id"):
        triggers.exchange(first)
    late = triggers.issue(actor)
    world.clock.advance(3.01)
    with pytest.raises(SlackError, match="expired_trigger_id"):
        triggers.exchange(late)
    with pytest.raises(SlackError, match="invalid_trigger_id"):
        triggers.exchange("1.2.3")


def test_message_timestamps_never_repeat_even_when_the_clock_stands_still() -> None:
    world = World(Settings(), clock=Clock(lambda: 1_700_000_000.0))
    stamps = [world.ts() for _ in range(100)]
    assert stamps == sorted(set(stamps))


def test_faults_are_spent_in_order_after_those_that_are_skipped() -> None:
    faults = Faults()
    faults.plan(Fault("chat.update", "error", count=1, error="fatal_error", skip=1))
    assert faults.next_for("chat.postMessage") is None
    assert faults.next_for("chat.update") is None
    assert (faults.next_for("chat.update") or Fault("", "")).error == "fatal_error"
    assert faults.next_for("chat.update") is None
    with pytest.raises(SandboxError, match="Unknown fault kind"):
        faults.plan(Fault("x", "explode"))


def test_the_signature_is_the_one_in_slacks_documentation() -> None:
    body = (
        "token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow&channel_id=G8PSS9T3V"
        "&channel_name=foobar&user_id=U2CERLKJA&user_name=roadrunner&command=%2Fwebhook-collect&text="
        "&response_url=https%3A%2F%2Fhooks.slack.com%2Fcommands%2FT1DC2JH3J%2F397700885554"
        "%2F96rGlfmibIGlgcZRskXaIFfN&trigger_id=398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c"
    )
    assert signature("8f742231b10e8888abcd99yyyzzz85a5", "1531420618", body) == (
        "v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503"
    )


def test_the_blocks_of_a_click_come_back_escaped_once_more_so_that_reuse_shows() -> None:
    blocks = [
        {"type": "header", "text": {"type": "plain_text", "text": "a & <b>"}},
        {"type": "section", "text": {"type": "mrkdwn", "text": "a & b &amp; <@U0001>"}},
        {"type": "rich_text", "elements": [{"type": "text", "text": "a & <b>"}]},
    ]
    header, section, rich = echoed(blocks)
    assert header["text"]["text"] == "a &amp; &lt;b&gt;"
    assert section["text"]["text"] == "a &amp; b &amp; <@U0001>"
    assert rich == blocks[2]
