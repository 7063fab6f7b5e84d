"""Ops is told of a trouble once; when it comes up after somebody has seen to it, ops is told anew."""

from collections.abc import Callable
from itertools import count
from typing import Any

import pytest
import redis

from approvals.outbox import Outbox
from approvals.store import Store
from bot.people import PeopleDesk, Watch
from bot.relay import Relay
from bot.rendering import Renderer
from bot.sending import Pace, SendingFailed, Target
from bot_builders import AnyLaw
from bot_office import OPS, REVIEWERS
from builders import ANA, CHANNEL, a_pause, a_person, lease_run, move, start_run
from policies.reviewers import Reviewers

DAY = 24 * 3600 * 1000
ARCHIVED, SCOPE, TIER = f"slack:{CHANNEL}:is_archived", "slack::missing_scope", "tier:release"


def dies(*_: object, **__: object) -> None:
    raise KeyboardInterrupt


class Slack:
    """Refuses what goes anywhere but to ops while something is wrong; keeps what it posted."""

    def __init__(self) -> None:
        self.wrong: str | None = None
        self.hiccups: list[bool] = []
        self.meanwhile: Callable[[], object] = lambda: None
        self.posted: list[str] = []

    def opened(self, target: Target) -> Target:
        return target

    def post(self, target: Target, _message: object, entry: str) -> str:
        if self.wrong and target.channel != OPS:
            raise SendingFailed(self.wrong, unsure=False)
        if self.hiccups and target.channel == OPS:
            raise SendingFailed("request_timeout", unsure=self.hiccups.pop())
        self.posted.append(entry)
        return f"{len(self.posted)}.0"

    def update(self, *_: object) -> None:
        self.meanwhile()

    def find(self, _target: Target, entry: str, *, after: str | None) -> str | None:
        places = [number for number, posted in enumerate(self.posted, 1) if posted == entry]
        return next((f"{number}.0" for number in places if after is None or number > float(after)), None)


class Incidents:
    """A relay, a Slack, and runs whose first messages are owed."""

    def __init__(self, store: Store, client: redis.Redis) -> None:
        self.store, self.client, self.slack, self.runs = store, client, Slack(), 0
        sender: Any = self.slack
        seconds = count(0, 60)  # no channel is ever busy
        pace = Pace(lambda: next(seconds))
        self.relay = Relay(store, Renderer(store, AnyLaw(), OPS), sender, "relay-1", pace=pace)

    def drain(self) -> None:
        for _ in range(2):  # the alert is owed by the first round
            for entry in self.client.zrange(self.store.keys.outbox, 0, -1):
                self.client.zadd(self.store.keys.outbox, {entry: 1})
            self.relay.drain()

    def another(self, wrong: str | None) -> None:
        """One more message is owed, while this is wrong."""
        self.slack.wrong = wrong
        self.runs += 1
        start_run(self.store, f"run_{self.runs}", thread_ts=f"{self.runs}.1")
        self.drain()

    def told(self, subject: str) -> int:
        """How many messages about it ops has got."""
        return self.slack.posted.count(f"alert:{subject}")

    def seen(self, subject: str) -> None:
        assert self.store.operators.close(subject, by=a_person(ANA)).ok
        self.drain()

    def a_day_ago(self, subject: str) -> None:
        told, reached = self.store.keys.entry(f"alert:{subject}"), self.store.keys.reached
        move(self.client, told, told_at=self.store.now() - DAY)
        for place in self.client.hkeys(reached):
            self.client.hincrby(reached, place, -DAY + 60_000)


@pytest.fixture
def incidents(store: Store, redis_client: redis.Redis) -> Incidents:
    return Incidents(store, redis_client)


@pytest.mark.parametrize("subject", [ARCHIVED, SCOPE])
def test_what_somebody_has_seen_to_is_told_anew_when_another_message_meets_it(
    incidents: Incidents, subject: str
) -> None:
    wrong = subject.rpartition(":")[2]
    incidents.another(wrong)
    incidents.another(wrong)
    assert incidents.told(subject) == 1
    incidents.seen(subject)
    incidents.another(None)
    assert incidents.told(subject) == 1
    incidents.another(wrong)
    incidents.another(wrong)
    assert incidents.told(subject) == 2


def test_what_waits_on_after_somebody_has_seen_it_is_no_new_matter(incidents: Incidents) -> None:
    incidents.another("is_archived")
    incidents.seen(ARCHIVED)
    incidents.drain()
    assert incidents.told(ARCHIVED) == 1
    incidents.another("is_archived")
    assert incidents.told(ARCHIVED) == 2


def test_what_comes_up_anew_is_a_new_message_though_slack_did_not_answer_for_it(incidents: Incidents) -> None:
    incidents.another("is_archived")
    incidents.seen(ARCHIVED)
    incidents.slack.hiccups = [True]
    incidents.another("is_archived")
    assert incidents.told(ARCHIVED) == 1
    incidents.drain()
    assert incidents.told(ARCHIVED) == 2


def test_what_comes_up_anew_while_its_old_message_is_changed_is_a_new_message(incidents: Incidents) -> None:
    incidents.another("is_archived")
    incidents.slack.meanwhile = lambda: incidents.store.outbox.owe_once(ARCHIVED, place=CHANNEL)
    incidents.seen(ARCHIVED)
    assert incidents.told(ARCHIVED) == 2


def test_a_bot_killed_before_ops_was_told_leaves_that_to_the_next_try(
    incidents: Incidents, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as killed:
        killed.setattr(Outbox, "owe_once", dies)
        with pytest.raises(KeyboardInterrupt):
            incidents.another("is_archived")
    incidents.drain()
    assert incidents.told(ARCHIVED) == 1


@pytest.mark.parametrize("subject", [ARCHIVED, SCOPE])
def test_what_nobody_closed_is_told_anew_a_day_later_if_messages_arrived_since(
    incidents: Incidents, subject: str
) -> None:
    wrong = subject.rpartition(":")[2]
    incidents.another(wrong)
    incidents.another(None)
    incidents.another(wrong)
    assert incidents.told(subject) == 1, "not yet: one thread may be locked while others are not"
    incidents.a_day_ago(subject)
    incidents.another(wrong)
    incidents.another(wrong)
    assert incidents.told(subject) == 2


def test_what_lasts_for_days_is_told_once(incidents: Incidents) -> None:
    incidents.another("is_archived")
    incidents.a_day_ago(ARCHIVED)
    incidents.another("is_archived")
    assert incidents.told(ARCHIVED) == 1


def test_calls_refused_for_want_of_people_are_told_anew_once_ops_has_seen_the_matter(incidents: Incidents) -> None:
    store = incidents.store
    for run, told in (("run_a", 1), ("run_b", 1), ("run_c", 2)):
        if run == "run_c":
            incidents.seen(TIER)
        start_run(store, run, thread_ts=f"9.{run}")
        pause = a_pause().model_copy(update={"alerts": (TIER,)})
        assert store.runs.pause(lease_run(store, run), pause).ok
        incidents.drain()
        assert incidents.told(TIER) == told


class Groups:
    """Slack's user groups: their members, or None when it does not say."""

    members: list[str] | None = None

    def usergroups_users_list(self, **_: object) -> dict[str, Any]:
        if self.members is None:
            raise OSError("away")
        return {"users": self.members}

    def users_info(self, *, user: str, **_: object) -> dict[str, Any]:
        return {"user": {"id": user, "team_id": "T0TEAM", "deleted": False}}


def a_bot(incidents: Incidents) -> Callable[[list[str] | None], int]:
    """A bot's watch over a tier of one user group: looks once, and answers how often ops has been told by now."""
    law = REVIEWERS.read_text(encoding="utf-8")
    users = 'users = ["U0003", "U0004"]\nusergroups = ["S_RELEASE"]'
    reviewers = Reviewers.from_toml(law.replace(users, 'usergroups = ["S_RELEASE"]'))
    slack, seconds = Groups(), count(0, 20)
    web: Any = slack
    watch = Watch(PeopleDesk(web, incidents.store, reviewers, lambda: next(seconds)), incidents.store, reviewers)

    def look(members: list[str] | None) -> int:
        slack.members = members
        watch.round()
        incidents.drain()
        return incidents.told(TIER)

    return look


def test_a_tier_that_still_is_empty_is_told_anew_by_no_other_bot_and_after_no_restart(incidents: Incidents) -> None:
    one, other = a_bot(incidents), a_bot(incidents)
    assert [one([]), other([])] == [1, 1]
    incidents.seen(TIER)
    restarted = a_bot(incidents)
    assert [restarted([]), one([]), other(None)] == [1, 1, 1]
    assert [other([ANA]), one([])] == [1, 2]


def test_a_tier_that_is_empty_again_is_told_anew_and_one_that_still_is_empty_is_not(incidents: Incidents) -> None:
    look = a_bot(incidents)
    assert [look([]), look([])] == [1, 1]
    incidents.seen(TIER)
    assert [look([]), look(None), look([])] == [1, 1, 1]
    assert [look([ANA]), look([])] == [1, 2]
