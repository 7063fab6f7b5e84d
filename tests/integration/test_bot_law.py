"""The law at the bot's doors: empty groups, escalation, agents with starters of their own, strict edits."""

from dataclasses import replace
from pathlib import Path

import pytest
import redis

from approvals.lifecycle import State
from approvals.models import Run
from bot.authority import refuse_by_law
from bot.editing import judged
from bot.errors import Refused
from bot.payloads import Sender
from bot.people import Watch
from bot_office import BRUNO, OMAR, REVIEWERS, ROSA, Office, a_refund, readable, running
from policies.arguments import read_arguments
from policies.law import load_law
from policies.requirement import STRICTEST_TIER
from policies.reviewers import Reviewers
from policies.rules.refunds import RefundFacts, RefundPayments

TOML = REVIEWERS.read_text(encoding="utf-8")
HOME = "T0000HOME"


def test_a_tier_whose_usergroups_are_empty_in_slack_is_told_to_ops_once(office: Office) -> None:
    only_groups = Reviewers.from_toml(
        TOML.replace('users = ["U0003", "U0004"]\nusergroups = ["S_RELEASE"]', 'usergroups = ["S_RELEASE"]')
    )
    desk, store = office.bot.deps.desk, office.store
    Watch(desk, store, only_groups).round()
    assert store.outbox.load("alert:tier:release") is None
    office.slack.set_usergroup("S_RELEASE", [])
    office.until(lambda: desk.all_empty(["S_RELEASE"]), "the list of members is asked for again", 20)
    watch = Watch(desk, store, only_groups)
    watch.round()
    watch.round()
    entry = store.outbox.load("alert:tier:release")
    assert entry is not None
    assert entry.desired == 1
    said = office.until(
        lambda: [one for one in office.slack.messages("C_OPS") if "Nobody may approve" in readable(one)], "ops is told"
    )
    assert len(said) == 1
    assert "Name enough users or usergroups under [tiers.release]" in readable(said[0])


def test_the_next_tier_may_decide_only_after_the_card_was_escalated(office: Office) -> None:
    run, _ = office.start()
    batch = office.pause(run, a_refund(31240))
    office.card(batch)
    call = office.call("call_000000000001")
    free = call.content.requirement.model_copy(update={"amount": None})
    omar, sender = office.bot.deps.desk.ask(OMAR), Sender(user=OMAR, team=HOME)
    with pytest.raises(Refused) as refused:
        refuse_by_law(office.bot.deps, sender, call, omar, "approve", free)
    assert str(refused.value) == "Only billing may decide this, and you are not one of them."
    office.client.zadd(office.store.keys.deadlines, {f"escalate:{batch}": 1})
    assert office.store.deadlines.escalate(batch, users=[OMAR], interruptions=12).ok
    refuse_by_law(office.bot.deps, sender, call, omar, "approve", free)


def test_an_agent_with_starters_of_its_own_is_started_by_nobody_else(
    valkey_url: str, redis_client: redis.Redis, tmp_path: Path
) -> None:
    people = tmp_path / "reviewers.toml"
    people.write_text(TOML + f'\n[agents.refunds]\nstarters = ["{BRUNO}"]\n', encoding="utf-8")
    named = "refunds=worker.refund_desk:build_agent,other=your.agent:build"
    with running(valkey_url, redis_client, reviewers=people, agents=named) as office:
        assert office.bot.deps.agents == ("refunds", "other")
        office.slack.mention(ROSA, "C_REFUNDS", "refund everything")
        told = office.told(ROSA, "You may not start runs with the agent refunds")
        assert told == "You may not start runs with the agent refunds. Ask ops to add you to its starters."
        run, _ = office.start(user=BRUNO)
        started = office.store.runs.load(run)
        assert started is not None
        assert started.agent == "refunds"


NAMED = "refunds=worker.refund_desk:build_agent,Mails=your.agent:build"


@pytest.mark.parametrize(
    ("said", "agent", "request_"),
    [
        ("tell everybody: it is done", "refunds", "tell everybody: it is done"),
        ("mails: tell everybody: it is done", "Mails", "tell everybody: it is done"),
        ("mails:", "refunds", "mails:"),
    ],
)
def test_a_request_may_begin_with_the_name_of_the_agent_it_is_for(
    valkey_url: str, redis_client: redis.Redis, said: str, agent: str, request_: str
) -> None:
    with running(valkey_url, redis_client, agents=NAMED) as office:
        run, _ = office.start(said)
        started = office.store.runs.load(run)
        assert started is not None
        assert (started.agent, started.request) == (agent, request_)


def test_a_thread_goes_on_with_the_agent_it_began_with(valkey_url: str, redis_client: redis.Redis) -> None:
    with running(valkey_url, redis_client, agents=NAMED) as office:
        run, thread = office.start("mails: tell everybody")
        lease = office.store.runs.lease(run, token="worker", ttl_ms=60_000)
        assert lease
        assert office.store.runs.complete(lease, answer="Told.").ok
        office.slack.mention(ROSA, "C_REFUNDS", "once more", thread_ts=thread)

        def newest() -> Run | None:
            found = office.store.runs.newest_in_thread("C_REFUNDS", thread)
            return found if found and found.id != run else None

        again = office.until(newest, "the next run is recorded")
        assert (again.agent, again.request, again.parent) == ("Mails", "once more", run)


def test_an_edit_of_what_only_the_strictest_tier_decides_stays_with_it(office: Office) -> None:
    run, _ = office.start()
    need = a_refund(9000).content.requirement
    why = "It follows a refusal: Olga rejected send_email on cus_0001"
    strict = need.model_copy(update={"tier": STRICTEST_TIER, "follows": (why,), "reasons": (why,)})
    facts = RefundFacts(
        customer_of={"pay_0001": "cus_0001"},
        charged={"pay_0001": read_arguments(RefundPayments, a_refund(9000).content.arguments).lines[0].amount},
    )
    office.pause(run, a_refund(9000, requirement=strict, facts=facts.model_dump_json()))
    call = office.call("call_000000000001")
    changed = read_arguments(RefundPayments, a_refund(4000).content.arguments)
    after = judged(office.bot.deps, call, changed)
    assert (call.state, after.tier, after.mode) == (State.PENDING_REVIEW, STRICTEST_TIER, "human")
    assert why in after.reasons


def test_a_card_says_whose_stand_in_decides_today(office: Office) -> None:
    today = "2026-01-01"
    standin = f'\n[[standins]]\nfor = "{BRUNO}"\nby = "U0100"\nfrom = "{today}"\nto = "2099-01-01"\n'
    law = load_law(["policies.rules"], TOML + standin)
    words = replace(office.bot.deps, law=law).words
    small = a_refund(100).content.requirement.model_copy(update={"amount": None})
    assert words.who(small) == "To decide: billing: Bruno, Olga, Nina or U0100."
