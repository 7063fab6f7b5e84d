"""Whoever looks long for a message, page by page, leads no more when it is done looking: another relay posts then."""

from collections.abc import Callable
from dataclasses import dataclass, field

import pytest
import redis

from approvals.models import OutboxEntry
from approvals.store import Store
from bot.blocks import Message
from bot.relay import LEAD_MS, Relay
from bot.rendering import Rendered
from bot.sending import Picture, SendingFailed, Target
from builders import CHANNEL, THREAD, a_call, move, paused

PICTURE = Picture("picture_batch_a.png", "What it did", "A chart", b"\x89PNG")


@dataclass
class Renderer:
    """The card; or as a picture."""

    picture: Picture | None = None

    def render(self, entry: OutboxEntry) -> Rendered | None:
        if entry.kind != "card":
            return None
        return Rendered(Target(CHANNEL, THREAD), Message("x", []), batch="batch_a", picture=self.picture)

    def alert(self, _subject: str) -> Message | None:
        return None


@dataclass
class Slack:
    """What becomes visible, by which call; `meanwhile` happens during the search, or while a message is opened."""

    meanwhile: Callable[[], None] = lambda: None
    opening: Callable[[], None] = lambda: None
    finds: str | None = None
    gone: bool = False
    shown: list[str] = field(default_factory=list)

    def opened(self, target: Target) -> Target:
        self.opening()
        return target

    def find(self, _target: Target, _entry: str, **_: object) -> str | None:
        self.meanwhile()
        return self.finds

    def find_file(self, _target: Target, _name: str) -> str | None:
        self.meanwhile()
        return self.finds

    def post(self, _target: Target, _message: Message, _entry: str) -> str:
        self.shown.append("post")
        return "2.0"

    def upload(self, _target: Target, _picture: Picture) -> str:
        self.shown.append("upload")
        return "F1"

    def update(self, _channel: str, _ts: str, _message: Message, _entry: str) -> None:
        if self.gone:
            self.meanwhile()
            raise SendingFailed("message_not_found", unsure=False)
        self.shown.append("update")


def tried_before(store: Store) -> OutboxEntry:
    """A card is owed, and an earlier attempt to send it ended without a word."""
    paused(store, a_call("call_1"), posted=False)
    (card,) = [one for one in store.outbox.due() if one.kind == "card"]
    assert store.outbox.lead("old", ttl_ms=1)
    assert store.outbox.begin(card.id, token="old")
    store.outbox.postpone(card.id, delay_ms=0, error="timeout", unsure=True)
    return card


def is_over(client: redis.Redis, store: Store) -> None:
    """The time of whoever leads has passed."""
    move(client, store.keys.lead, until=store.now() - 1)


def another_leads(client: redis.Redis, store: Store) -> Callable[[], None]:
    def takes_over() -> None:
        is_over(client, store)
        assert store.outbox.lead("b", ttl_ms=LEAD_MS)

    return takes_over


def drained(store: Store, slack: Slack, picture: Picture | None = None) -> list[str]:
    Relay(store, Renderer(picture), slack, "a").drain()  # type: ignore[arg-type]
    return slack.shown


def test_a_relay_that_keeps_its_lead_posts_what_it_did_not_find(store: Store) -> None:
    tried_before(store)
    assert drained(store, Slack()) == ["post"]
    assert "post" not in drained(store, Slack())


def test_a_lead_that_ran_out_unnoticed_is_taken_anew(store: Store, redis_client: redis.Redis) -> None:
    tried_before(store)
    assert drained(store, Slack(meanwhile=lambda: is_over(redis_client, store))) == ["post"]


@pytest.mark.parametrize(
    ("finds", "picture"), [(None, None), ("1.0", None), (None, PICTURE)], ids=["post", "update", "upload"]
)
def test_nothing_is_shown_by_a_relay_that_lost_its_lead_while_it_looked(
    store: Store, redis_client: redis.Redis, finds: str | None, picture: Picture | None
) -> None:
    card = tried_before(store)
    slack = Slack(meanwhile=another_leads(redis_client, store), finds=finds)
    assert drained(store, slack, picture) == []
    left = store.outbox.load(card.id)
    assert left is not None
    assert (left.sending, left.attempts) == (True, 1), "it is for the other one to look and to send"


def delivered_before(store: Store) -> None:
    card = tried_before(store)
    store.outbox.delivered(card.id, version=card.desired, channel=CHANNEL, ts="1.0")
    store.outbox.owe("card", "batch_a")


def test_an_old_render_is_not_shown_by_a_relay_that_lost_its_lead_before(
    store: Store, redis_client: redis.Redis
) -> None:
    delivered_before(store)
    assert drained(store, Slack(opening=another_leads(redis_client, store))) == []


def test_a_deleted_card_is_not_posted_again_by_two(store: Store, redis_client: redis.Redis) -> None:
    delivered_before(store)
    assert drained(store, Slack(meanwhile=another_leads(redis_client, store), gone=True)) == []


@pytest.mark.parametrize("sent", [True, False])
def test_what_another_relay_tried_meanwhile_is_not_posted_though_it_leads_no_more(
    store: Store,
    redis_client: redis.Redis,
    sent: bool,  # noqa: FBT001 - a parameter of the cases
) -> None:
    card = tried_before(store)

    def tries() -> None:
        another_leads(redis_client, store)()
        assert store.outbox.begin(card.id, token="b")
        if sent:
            store.outbox.delivered(card.id, version=card.desired, channel=CHANNEL, ts="9.0")
        else:
            store.outbox.postpone(card.id, delay_ms=0, error="timeout", unsure=True)
        is_over(redis_client, store)

    assert drained(store, Slack(meanwhile=tries)) == []
