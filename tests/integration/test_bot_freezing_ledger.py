"""Nobody lets effects go on from Slack while the ledger is not the one that Redis handed its events to."""

from collections.abc import Iterator
from pathlib import Path

import pytest
import redis

from approvals.drain import drain_once
from approvals.ledger import Ledger
from approvals.ledger_head import Head
from bot_office import CHANNEL, OMAR, Office, running


@pytest.fixture
def place(tmp_path: Path) -> Path:
    return tmp_path / "ledger.db"


@pytest.fixture
def frozen(valkey_url: str, redis_client: redis.Redis, place: Path) -> Iterator[Office]:
    """A bot whose ledger was moved away after it had been handed events."""
    with running(valkey_url, redis_client, ledger_url=f"sqlite:///{place}") as office:
        ledger = Ledger.open(f"sqlite:///{place}")
        office.start()
        drain_once(office.store, ledger)
        ledger.engine.dispose()
        place.rename(place.with_name("away.db"))
        office.store.switches.freeze("olga", "upgrade")
        yield office


def test_nothing_is_lifted_from_slack_while_there_is_no_ledger_or_another_one(frozen: Office, place: Path) -> None:
    for word in ("upgraded", "reconciled, all of it is there"):
        frozen.slack.slash(OMAR, CHANNEL, f"unfreeze {word}")
        frozen.told(OMAR, "Nothing was lifted. There is no ledger at")
    Ledger.open(f"sqlite:///{place}").engine.dispose()
    frozen.slack.slash(OMAR, CHANNEL, "unfreeze upgraded")
    frozen.told(OMAR, "is older than Redis, or another database")
    assert len(frozen.store.switches.freezes()) == 1


def test_once_the_ledger_is_back_slack_lifts_again(frozen: Office, place: Path) -> None:
    place.with_name("away.db").rename(place)
    frozen.slack.slash(OMAR, CHANNEL, "unfreeze upgraded")
    frozen.told(OMAR, "Unfrozen")
    assert frozen.store.switches.frozen() is None


def test_a_ledger_that_does_not_answer_keeps_nobody_in_slack_from_unfreezing(
    valkey_url: str, redis_client: redis.Redis
) -> None:
    with running(valkey_url, redis_client, ledger_url="postgresql+psycopg://nobody@127.0.0.1:1/none") as office:
        office.store.ledger.drop([], head=Head(1, "a" * 64))
        office.store.switches.freeze("olga", "upgrade")
        office.slack.slash(OMAR, CHANNEL, "unfreeze upgraded")
        office.told(OMAR, "whether its ledger is the right one is not known")
        assert office.store.switches.frozen() is None
