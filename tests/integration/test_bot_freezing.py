from collections.abc import Iterator

import pytest
import redis

from bot_office import BRUNO, CHANNEL, OMAR, Office, running


@pytest.fixture
def office(valkey_url: str, redis_client: redis.Redis) -> Iterator[Office]:
    with running(valkey_url, redis_client) as office:
        yield office


def test_ops_freezes_from_slack_with_a_reason_and_lets_go_again(office: Office) -> None:
    office.slack.slash(OMAR, CHANNEL, "freeze the provider pays twice")
    office.told(OMAR, "Frozen: nothing new runs")
    assert office.store.switches.frozen() == "frozen by Omar Ops: the provider pays twice"

    office.slack.slash(OMAR, CHANNEL, "unfreeze compared with the provider")
    office.told(OMAR, "Unfrozen")
    assert office.store.switches.frozen() is None


def test_a_freeze_needs_a_reason(office: Office) -> None:
    office.slack.slash(OMAR, CHANNEL, "freeze")
    office.told(OMAR, "Say why")
    assert office.store.switches.frozen() is None


def test_who_is_no_operator_freezes_nothing_and_is_noted(office: Office) -> None:
    office.slack.slash(BRUNO, CHANNEL, "freeze because I can")
    office.told(BRUNO, "Only ops may do this")
    assert office.store.switches.frozen() is None
    assert any(event.get("type") == "press_refused" for _, event in office.store.ledger.read(count=100))


def test_unfreezing_what_is_not_frozen_says_so(office: Office) -> None:
    office.slack.slash(OMAR, CHANNEL, "unfreeze all good")
    office.told(OMAR, "Nothing is frozen")
