"""Every message of ops with its controls, from a real store into the sandbox, by both oracles (see `sent.py`)."""

from typing import Any

import pytest
from slack_sdk import WebClient
from slack_sdk.errors import SlackApiError
from slackblocks import InvalidUsageError

from bot.alarms import ALARMS
from bot.blocks import header
from bot.sandbox import Workspace
from bot_office import OPS, Office, a_refund, readable
from every_told import ABOUT
from sent import assert_all_sent_is_sound
from tests.integration.test_dead_letters import an_unknown, controls, letter

FIRST = "call_000000000001"
CLOSE = ["ops.close"]


def shown(office: Office, subject: str, words: str) -> list[str]:
    """The controls under what ops is told about a subject."""
    office.store.outbox.owe("alert", subject)
    office.bot.deps.wake.set()
    return controls(letter(office, words))


def test_every_matter_of_ops_has_a_message_with_the_controls_that_fit_it(office: Office) -> None:
    run, _ = office.start()
    batch = office.pause(run, a_refund(31240))
    office.card_with(batch, "decide by")
    assert shown(office, batch, "A card expired") == CLOSE
    assert shown(office, f"quiet:{batch}", "Everybody is asleep") == CLOSE
    assert shown(office, f"lapse:{batch}", "An approval lapsed") == CLOSE
    assert shown(office, f"budget:{run}", "Approval budget exhausted") == CLOSE
    assert shown(office, "tier:billing", "Nobody may approve") == CLOSE
    assert shown(office, "slack:C_OLD:is_archived", "A message cannot be delivered") == CLOSE
    assert shown(office, "outbox:card:gone", "a message of ours") == CLOSE
    assert shown(office, f"run:{run}", "A run was interrupted") == CLOSE
    assert shown(office, "switch:freeze", "Effects go on again") == []


@pytest.mark.parametrize("kind", ALARMS)
def test_every_alarm_has_a_message_that_can_be_closed(office: Office, kind: str) -> None:
    subject = f"{kind}:{ABOUT[kind]}"
    office.store.outbox.owe("alert", subject)
    office.bot.deps.wake.set()
    (message,) = office.until(lambda: office.slack.messages(OPS), "ops is told")
    assert controls(message) == CLOSE


def test_an_unknown_outcome_is_settled_and_not_closed(office: Office) -> None:
    an_unknown(office)
    assert controls(letter(office, "Unknown outcome")) == ["ops.reconcile", "ops.mark_done", "ops.mark_not_done"]


def test_a_subject_too_long_for_a_button_is_told_all_the_same(office: Office) -> None:
    office.store.outbox.owe("alert", f"outbox:{'x' * 2_100}")
    office.bot.deps.wake.set()
    (message,) = office.until(lambda: office.slack.messages(OPS), "ops is told")
    assert controls(message) == []
    assert "a message of ours" in readable(message)


@pytest.mark.parametrize(
    "spoiled",
    [
        {"blocks": [{"type": "bogus"}]},
        {"blocks": [header("x")] * 51},
        {"blocks": [header("x")], "unfurl_links": True},
    ],
)
def test_whatever_slack_would_refuse_is_noticed_when_a_test_ends(spoiled: dict[str, Any]) -> None:
    with Workspace.serve() as workspace:
        client = WebClient("xoxb-sandbox", base_url=workspace.api_url)
        sound = {"channel": OPS, "text": "x", "blocks": [header("x")], "unfurl_links": False, "unfurl_media": False}
        client.chat_postMessage(**sound)
        assert assert_all_sent_is_sound(workspace) == 1
        try:
            client.chat_postMessage(**{**sound, **spoiled})
        except SlackApiError:
            assert "unfurl_links" not in spoiled
        with pytest.raises((AssertionError, InvalidUsageError)):
            assert_all_sent_is_sound(workspace)
