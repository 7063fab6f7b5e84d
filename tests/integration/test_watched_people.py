"""Whom the bot asks Slack about again and again: few enough for Slack's limits, and nobody for ever."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest
import redis
from slack_sdk.errors import SlackApiError

from approvals.store import Store
from bot.people import PeopleDesk, Watch
from bot_office import REVIEWERS
from builders import ANA, BEN, a_call, a_person, a_requirement, approve, claim, edit, lease_batch, move, paused, reject
from builders import a_content as content
from policies.reviewers import Reviewers
from undos import Ran

EVERYBODY = (ANA, BEN)


@dataclass
class Answer:
    """What Slack says with 429."""

    data: dict[str, Any]
    headers: dict[str, str]
    status_code: int = 429


@dataclass
class Slack:
    """Says who people are, and who was asked about; asks to wait before the answer about `stops`."""

    stops: str = ""
    asked: list[str] = field(default_factory=list)
    meanwhile: Callable[[], None] | None = None

    def users_info(self, *, user: str, include_locale: bool) -> dict[str, Any]:
        assert include_locale
        self.asked.append(user)
        if self.meanwhile:
            self.meanwhile()
        if user == self.stops:
            raise SlackApiError("slow down", Answer({"error": "ratelimited"}, {"Retry-After": "30"}))
        return {"user": {"id": user, "team_id": "T0TEAM", "deleted": False}}

    def usergroups_users_list(self, **_: object) -> dict[str, Any]:
        return {"users": []}


class Watched:
    """A watch over everybody who decides here; `s` are the seconds of its clock."""

    def __init__(self, store: Store, client: redis.Redis, slack: Slack) -> None:
        self.store, self.client, self.slack, self.s = store, client, slack, 0.0
        reviewers = Reviewers.from_toml(REVIEWERS.read_text(encoding="utf-8"))
        web: Any = slack
        self.watch = Watch(PeopleDesk(web, store, reviewers), store, reviewers, clock=lambda: self.s)
        self.watch.add(EVERYBODY)

    def age(self, **seconds: int) -> None:
        for user, age in seconds.items():
            move(self.client, self.store.keys.person(user), fetched_at=self.store.now() - age * 1000)

    def round(self, **seconds: int) -> list[str]:
        """Whom Slack is asked about, once these snapshots have aged."""
        self.age(**(seconds or dict.fromkeys(EVERYBODY, 40)))
        self.slack.asked.clear()
        self.watch.round()
        return self.slack.asked


@pytest.fixture
def watched(store: Store, redis_client: redis.Redis) -> Watched:
    for user in EVERYBODY:
        store.people.put(a_person(user))
    return Watched(store, redis_client, Slack())


def of_two(key: str = "call_1", number: int = 1, **changes: Any) -> Any:
    return a_call(key, number=number, content=content(requirement=a_requirement(reviewers=2)), **changes)


def test_who_decided_is_asked_about_only_until_it_has_run(store: Store, watched: Watched) -> None:
    paused(store, a_call("call_1"))
    assert watched.round() == []
    approve(store)
    assert watched.round() == [ANA]
    taken = claim(store, lease_batch(store))
    assert watched.round() == [ANA]
    assert store.effects.intend(taken).ok
    assert store.effects.succeed(taken, receipt="{}").ok
    assert watched.round() == []


def test_whom_the_law_no_longer_names_is_asked_about_for_as_long_as_their_word_may_be_spent(
    store: Store, watched: Watched
) -> None:
    store.people.put(a_person("U0GONE"))
    paused(store, a_call("call_1"))
    approve(store, by="U0GONE")
    assert watched.round(U0GONE=40) == ["U0GONE"], "by a bot that was started since, with a law that has not that name"
    taken = claim(store, lease_batch(store), people=("U0GONE",))
    assert store.effects.intend(taken).ok
    assert store.effects.succeed(taken, receipt="{}").ok
    assert watched.round(U0GONE=40) == []


def test_who_waits_for_a_second_reviewer_or_for_an_edit_to_be_checked_is_asked_about(
    store: Store, watched: Watched
) -> None:
    paused(store, of_two(), a_call("call_2", number=2))
    approve(store)
    edit(store, "call_2", by=BEN)
    assert sorted(watched.round()) == [ANA, BEN]


def test_nobody_is_asked_about_for_a_rejection(store: Store, watched: Watched) -> None:
    paused(store, a_call("call_1"))
    reject(store)
    assert watched.round() == []


def test_whoever_wants_an_undo_is_asked_about_until_it_was_made(
    store: Store, redis_client: redis.Redis, watched: Watched
) -> None:
    one = Ran(store, redis_client, "one", "call_1")
    paused(store, a_call("call_1"))
    approve(store)
    taken = claim(store, lease_batch(store))
    assert store.effects.intend(taken).ok
    assert store.effects.succeed(taken, receipt="{}").ok
    assert one.ask("U0OTHER").ok
    assert watched.round(U0OTHER=40) == ["U0OTHER"]
    assert one.claim(people=("U0OTHER",)).ok
    assert watched.round(U0OTHER=40) == []
    assert one.intend().ok
    assert store.undos.abandon(one.claimed, reason="no answer").ok
    assert watched.round(U0OTHER=40) == [], "what was begun is not begun again"


def test_the_oldest_snapshot_is_renewed_first(store: Store, watched: Watched) -> None:
    paused(store, of_two(), of_two("call_2", 2))
    approve(store)
    approve(store, "call_2", by=BEN)
    assert watched.round(**{ANA: 20, BEN: 40}) == [BEN, ANA]
    assert watched.round(**{ANA: 40, BEN: 20}) == [ANA, BEN]


def test_slack_is_left_alone_for_as_long_as_it_asks(store: Store, watched: Watched) -> None:
    paused(store, of_two(), of_two("call_2", 2))
    approve(store)
    approve(store, "call_2", by=BEN)
    watched.slack.stops = ANA
    assert watched.round(**{ANA: 50, BEN: 40}) == [ANA]
    watched.s, watched.slack.stops = 29.9, ""
    assert watched.round() == []
    watched.s = 30.0
    assert watched.round(**{ANA: 50, BEN: 40}) == [ANA, BEN]


def test_a_question_from_before_it_asked_ends_no_rest_of_slack(store: Store, watched: Watched) -> None:
    paused(store, of_two(), of_two("call_2", 2))
    approve(store)
    approve(store, "call_2", by=BEN)

    def meanwhile() -> None:
        """Another thread's question is answered with 429, then this one breaks off."""
        watched.slack.meanwhile, watched.slack.stops = None, ANA
        watched.watch.refresh([ANA])
        raise OSError("cut off")

    watched.slack.meanwhile = meanwhile
    assert watched.round(**{ANA: 40, BEN: 50}) == [BEN, ANA]
    watched.slack.stops = ""
    watched.s = 29.9
    assert watched.round() == []


def test_what_is_open_is_not_forgotten_for_what_was_decided_later(
    store: Store, redis_client: redis.Redis, watched: Watched
) -> None:
    later = [f"call_{number}" for number in range(2, 27)]
    paused(store, of_two(), *(a_call(key, number=number) for number, key in enumerate(later, start=2)))
    for key in ("call_1", *later):
        assert (approve if key == "call_1" else reject)(store, key).ok
    assert watched.round() == [ANA]
    assert redis_client.zcard(store.keys.decided(ANA)) == 21
    assert store.inbox.decided(ANA) == later[:-21:-1]
