"""What `/metrics` tells: counted by the verbs themselves, the same in every process, at a cost that does not grow."""

import json
import multiprocessing
import re
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
import redis
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4
from prometheus_client.parser import text_string_to_metric_families

from approvals.health import Health
from approvals.lifecycle import Cause, State
from approvals.metrics import CLICK_BUCKETS_MS, StoreCollector, Timings, exposed, timed_jobs
from approvals.outcomes import Outcome
from approvals.redis_check import connect
from approvals.scripts import source
from approvals.signed_jobs import ALLOWED_JOBS
from approvals.store import Store
from builders import (
    ANA,
    BEN,
    TENANT,
    a_call,
    a_content,
    a_person,
    a_requirement,
    a_store,
    an_auto,
    approve,
    claim,
    edit,
    lease_batch,
    lease_run,
    move,
    paused,
    reject,
    start_run,
)
from workshop import Workshop, saying, shipping

ROOT = Path(__file__).resolve().parents[2]
Values = dict[tuple[str, ...], float]


def scrape(store: Store) -> str:
    registry = CollectorRegistry()
    registry.register(StoreCollector(store))
    return generate_latest(registry).decode()


def samples(store: Store, name: str) -> Values:
    """The samples of this name: their labels' values, the tenant left out, ordered by the labels' names."""
    found: Values = {}
    for family in text_string_to_metric_families(scrape(store)):
        for sample in family.samples:
            if sample.name == name:
                labels = dict(sorted(sample.labels.items()))
                assert labels.pop("tenant") == TENANT
                found[tuple(labels.values())] = sample.value
    return found


def value(store: Store, name: str, *labels: str) -> float:
    return samples(store, name).get(labels, 0.0)


def two(**changes: object) -> list:
    return [a_call("call_1", **changes), a_call("call_2", number=2, **changes)]


# --- What is there now ------------------------------------------------------------------------------------------------


def test_pending_calls_are_told_by_blast_radius_until_somebody_decides(store: Store) -> None:
    paused(store, *two())
    paused(store, a_call("call_3", batch="batch_b"), run="run_2", radius="mail to example.org")
    assert samples(store, "vobo_calls_pending") == {("refunds in EUR",): 2, ("mail to example.org",): 1}
    assert value(store, "vobo_calls", "pending_review") == 3
    approve(store, "call_1")
    reject(store, "call_3")
    assert samples(store, "vobo_calls_pending") == {("refunds in EUR",): 1}
    assert samples(store, "vobo_calls") == {("pending_review",): 1, ("approved",): 1}


def test_a_rule_with_a_radius_for_each_call_does_not_make_a_series_for_each(store: Store) -> None:
    for number in range(25):
        radius = f"room {number:02d} " + "x" * 100
        paused(store, a_call(f"call_{number}", batch=f"batch_{number}"), run=f"run_{number}", radius=radius)
    told = samples(store, "vobo_calls_pending")
    assert len(told) == 21
    assert sum(told.values()) == 25
    assert told["other",] == 5
    assert max(len(radius) for (radius,) in told) == 80


def test_radii_that_look_alike_when_shortened_share_a_series(store: Store) -> None:
    for number in range(2):
        radius = "x" * 100 + str(number)
        paused(store, a_call(f"call_{number}", batch=f"batch_{number}"), run=f"run_{number}", radius=radius)
    assert samples(store, "vobo_calls_pending") == {("x" * 80,): 2}


def test_the_oldest_pending_card_is_told_by_its_age(store: Store, redis_client: redis.Redis) -> None:
    assert value(store, "vobo_oldest_pending_seconds") == 0
    paused(store, *two())
    redis_client.zadd(store.keys.waiting, {"batch_a": store.now() - 60_000}, xx=True)
    paused(store, a_call("call_3", batch="batch_b"), run="run_2")
    assert value(store, "vobo_oldest_pending_seconds") == pytest.approx(60, abs=2)
    approve(store, "call_1")
    assert value(store, "vobo_oldest_pending_seconds") == pytest.approx(60, abs=2), "its sibling still waits"
    approve(store, "call_2")
    assert value(store, "vobo_oldest_pending_seconds") == pytest.approx(0, abs=2)


def test_a_second_call_that_comes_back_makes_its_card_no_younger(store: Store, redis_client: redis.Redis) -> None:
    paused(store, *two())
    for key in ("call_1", "call_2"):
        approve(store, key)
    lease = lease_batch(store)
    first, second = (claim(store, lease, f"call_{number}", token=f"claim-{number}") for number in (1, 2))
    assert store.effects.release(first, content=a_content(), seal="seal-2", difference=["a row went"]).ok
    redis_client.zadd(store.keys.waiting, {"batch_a": store.now() - 60_000}, xx=True)
    assert store.effects.release(second, content=a_content(), seal="seal-2", difference=["a row went"]).ok
    assert value(store, "vobo_oldest_pending_seconds") == pytest.approx(60, abs=2)
    assert samples(store, "vobo_calls_pending") == {("refunds in EUR",): 2}


def test_relay_lag_is_the_age_of_what_is_owed_longest_however_often_it_was_put_off(
    store: Store, redis_client: redis.Redis
) -> None:
    start_run(store)
    redis_client.zadd(store.keys.owed, {"opening:run_1": store.now() - 90_000}, xx=True)
    store.outbox.postpone("opening:run_1", delay_ms=600_000, error="timeout")
    assert value(store, "vobo_relay_lag_seconds") == pytest.approx(90, abs=2)
    store.outbox.owe("opening", "run_1")
    store.outbox.delivered("opening:run_1", version=1, channel="C0PAY", ts="1.1")
    assert value(store, "vobo_relay_lag_seconds") == pytest.approx(0, abs=2), "the newer version is owed from now"
    assert redis_client.zcard(store.keys.owed) == 1
    store.outbox.delivered("opening:run_1", version=2, channel="C0PAY", ts="1.1")
    assert redis_client.zcard(store.keys.owed) == 0


def test_what_never_arrives_and_alerts_that_nobody_reads_are_no_lag(store: Store, redis_client: redis.Redis) -> None:
    start_run(store)
    store.outbox.give_up("opening:run_1", error="invalid_blocks", version=1)
    assert "alert:outbox:opening:run_1" in {entry.id for entry in store.outbox.due()}
    assert redis_client.zcard(store.keys.owed) == 0


def test_a_deadline_that_no_clock_applies_shows_as_lag(store: Store, redis_client: redis.Redis) -> None:
    paused(store, a_call("call_1"))
    assert value(store, "vobo_deadline_lag_seconds") == 0
    redis_client.zadd(store.keys.deadlines, {"decide:batch_a": store.now() - 30_000}, xx=True)
    assert value(store, "vobo_deadline_lag_seconds") == pytest.approx(30, abs=2)


def test_what_only_a_person_can_settle_is_counted_until_it_is_settled(store: Store, redis_client: redis.Redis) -> None:
    paused(store, *two())
    approve(store, "call_1")
    approve(store, "call_2")
    lease = lease_batch(store)
    for number in (1, 2):
        taken = claim(store, lease, f"call_{number}", token=f"claim-{number}")
        store.effects.intend(taken)
        store.effects.abandon(taken.call, token=taken.token, reason="lost")
    assert (value(store, "vobo_dead_letters"), value(store, "vobo_calls", "unknown")) == (2, 2)
    store.effects.settle("call_1", happened=False, by=ANA, reason="looked it up")
    assert value(store, "vobo_dead_letters") == 1
    start_run(store, "run_2")
    store.runs.fail(lease_run(store, "run_2"), reason="no model")
    assert value(store, "vobo_dead_letters") == 2
    store.runs.requeue("run_2", by=ANA)
    assert value(store, "vobo_dead_letters") == 1
    store.runs.fail(lease_run(store, "run_2", token="again"), reason="no model")
    store.operators.close("run:run_2", by=a_person(ANA))
    assert value(store, "vobo_dead_letters") == 1


def test_a_forgotten_run_leaves_no_debt_and_no_dead_letter(store: Store, redis_client: redis.Redis) -> None:
    paused(store, a_call("call_1"))
    approve(store)
    taken = claim(store, lease_batch(store))
    store.effects.intend(taken)
    store.effects.abandon("call_1", token=taken.token, reason="lost")
    store.effects.settle("call_1", happened=False, by=ANA, reason="not there")
    store.effects.succeed(taken, receipt="{}")
    store.runs.fail(lease_run(store, token="later"), reason="no model")
    assert redis_client.smembers(store.keys.dead_letters) == {b"call:call_1", b"run:run_1"}
    store.ledger.drop([event for event, _ in store.ledger.read()])
    redis_client.zadd(store.keys.deadlines, {"retire:run_1": 1})
    assert store.deadlines.apply("retire:run_1").outcome is Outcome.REPEATED
    assert value(store, "vobo_dead_letters") == 2, "it may have happened twice, and nobody has seen to it"
    assert store.operators.close("call:call_1", by=a_person(ANA)).ok
    store.ledger.drop([event for event, _ in store.ledger.read()])
    redis_client.zadd(store.keys.deadlines, {"retire:run_1": 1})
    assert store.deadlines.apply("retire:run_1").outcome is Outcome.OK
    assert (value(store, "vobo_dead_letters"), redis_client.zcard(store.keys.owed)) == (0, 0)


def test_a_receipt_that_contradicts_a_settlement_is_a_dead_letter_until_it_is_closed(store: Store) -> None:
    paused(store, a_call("call_1"))
    approve(store)
    taken = claim(store, lease_batch(store))
    store.effects.intend(taken)
    store.effects.abandon("call_1", token=taken.token, reason="lost")
    store.effects.settle("call_1", happened=False, by=ANA, reason="not there")
    store.effects.succeed(taken, receipt="{}")
    assert value(store, "vobo_dead_letters") == 1
    store.operators.close("call:call_1", by=a_person(ANA))
    assert value(store, "vobo_dead_letters") == 0


def test_nothing_may_happen_while_frozen_or_before_the_server_was_compared_with_the_ledger(store: Store) -> None:
    assert value(store, "vobo_frozen") == 0
    store.switches.freeze(ANA, "looks wrong")
    assert value(store, "vobo_frozen") == 1
    store.switches.unfreeze(ANA)
    assert value(store, "vobo_frozen") == 0
    store.runs.client.hset(store.keys.vouched, "server", "another")
    assert value(store, "vobo_frozen") == 1


def test_events_that_are_not_in_sql_yet_are_told_with_their_age(store: Store) -> None:
    start_run(store)
    time.sleep(0.05)
    assert value(store, "vobo_ledger_undrained_events") == 1
    assert value(store, "vobo_ledger_lag_seconds") >= 0.04
    assert value(store, "vobo_wakeups") == 1


# --- What happened so far ---------------------------------------------------------------------------------------------


def test_decisions_are_those_of_people_each_counted_once(store: Store) -> None:
    requirement = a_requirement(reviewers=2)
    paused(
        store, a_call("call_1", content=a_content(requirement=requirement)), a_call("call_2", number=2), an_auto("x")
    )
    assert samples(store, "vobo_decisions_total") == {("approve",): 0, ("reject",): 0, ("edit",): 0}
    approve(store, by=ANA)
    approve(store, by=ANA)  # repeated
    approve(store, by=BEN)
    edit(store, "call_2")
    reject(store, "call_2", version=2)
    assert samples(store, "vobo_decisions_total") == {("approve",): 2, ("reject",): 1, ("edit",): 1}
    assert value(store, "vobo_events_total", "policy", "", "approved") == 1
    assert value(store, "vobo_events_total", "", "", "approved") == 1


def test_expiries_are_told_by_their_cause(store: Store, redis_client: redis.Redis) -> None:
    paused(store, *two())
    approve(store, "call_2")
    paused(store, a_call("call_3", batch="batch_b"), run="run_2", posted=False)
    move(redis_client, store.keys.batch("batch_a"), decide_by=1)
    move(redis_client, store.keys.batch("batch_b"), post_by=1)
    store.deadlines.apply("decide:batch_a")
    store.deadlines.apply("post:batch_b")
    move(redis_client, store.keys.call("call_2"), execute_by=1)
    store.deadlines.apply("lapse:call_2")
    expected = {("nobody decided",): 1, ("could not be posted",): 1, ("not executed in time",): 1}
    assert samples(store, "vobo_expiries_total") == expected


def test_effects_unknowns_and_limits_are_counted(store: Store) -> None:
    over = a_call("call_4", number=4, state=State.REJECTED, cause=Cause.BUDGET, batch=None)
    paused(store, *two(), a_call("call_3", number=3), over)
    for number in (1, 2, 3):
        approve(store, f"call_{number}")
    lease = lease_batch(store)
    for number in (1, 2):
        taken = claim(store, lease, f"call_{number}", token=f"claim-{number}")
        store.effects.intend(taken)
        if number == 1:
            store.effects.succeed(taken, receipt="{}")
            store.effects.succeed(taken, receipt="{}")  # repeated
        else:
            store.effects.abandon(taken.call, token=taken.token, reason="lost")
    store.effects.refuse("call_3", lease=lease, cause=Cause.CAP, reason="full")
    assert samples(store, "vobo_effects_total") == {("succeeded",): 1, ("failed",): 0, ("unknown",): 1}
    assert value(store, "vobo_unknowns_total") == 1
    assert samples(store, "vobo_limit_hits_total") == {("budget",): 1, ("cap",): 1}


def test_each_person_a_card_notifies_is_an_interruption(store: Store) -> None:
    paused(store, a_call("call_1"), notify=(ANA, BEN))
    assert value(store, "vobo_interruptions_total") == 2


def test_click_to_effect_is_the_time_from_the_click_that_opened_the_batch_to_the_receipt(
    store: Store, redis_client: redis.Redis
) -> None:
    paused(store, *two(), an_auto("auto_1", number=3))
    for key in ("call_1", "call_2"):
        approve(store, key)
    lease = lease_batch(store)
    clicked = store.now() - 20_000
    move(redis_client, store.keys.call("call_2"), execute_by=clicked + 600_000)
    for number in (1, 2):
        taken = claim(store, lease, f"call_{number}", token=f"claim-{number}")
        store.effects.intend(taken)
        store.effects.succeed(taken, receipt="{}")
    unasked = claim(store, lease_batch(store, "batch_auto", token="other"), "auto_1", people=(), token="claim-3")
    store.effects.intend(unasked)
    store.effects.succeed(unasked, receipt="{}")
    told = samples(store, "vobo_click_to_effect_seconds_bucket")
    assert (told["10.0",], told["30.0",], told["+Inf",]) == (1, 2, 2), "nobody clicked for the automatic call"
    assert value(store, "vobo_click_to_effect_seconds_sum") == pytest.approx(20, abs=2)
    assert value(store, "vobo_click_to_effect_seconds_count") == 2


def test_the_buckets_are_those_that_the_script_counts_in() -> None:
    written = re.search(r"local BUCKETS = \{ (.+) \}", source("succeed"))
    assert written is not None
    assert tuple(int(edge) for edge in written[1].split(", ")) == CLICK_BUCKETS_MS


# --- Processes --------------------------------------------------------------------------------------------------------


def _decide_and_die(url: str) -> None:
    approve(a_store(connect(url)))


def test_what_a_forked_process_did_is_counted_once_by_every_process(
    store: Store, valkey_url: str, redis_client: redis.Redis
) -> None:
    paused(store, a_call("call_1"))
    child = multiprocessing.get_context("fork").Process(target=_decide_and_die, args=(valkey_url,))
    child.start()
    child.join(30)
    assert child.exitcode == 0
    other = Store.open(connect(valkey_url), store.runs.vault, tenant=TENANT)
    for reader in (store, other):
        assert value(reader, "vobo_decisions_total", "approve") == 1


def test_a_scrape_costs_the_same_whatever_is_pending(store: Store, redis_client: redis.Redis) -> None:
    def cost() -> tuple[int, int]:
        before = redis_client.info("commandstats")
        text = scrape(store)
        after = redis_client.info("commandstats")
        asked = sum(row["calls"] - before.get(name, {"calls": 0})["calls"] for name, row in after.items())
        return asked, len(text.splitlines())

    paused(store, a_call("call_0", batch="batch_0"), run="run_0")
    few = cost()
    for number in range(1, 60):
        calls = [a_call(f"call_{number}_{at}", batch=f"batch_{number}", number=at) for at in range(1, 9)]
        paused(store, *calls, run=f"run_{number}")
    assert cost() == few
    assert value(store, "vobo_calls", "pending_review") == 1 + 59 * 8


def test_a_store_that_does_not_answer_is_told_and_nothing_else(store: Store, tmp_path: Path) -> None:
    gone = Store.open(redis.Redis(unix_socket_path=str(tmp_path / "gone")), store.runs.vault, tenant=TENANT)
    assert [line for line in scrape(gone).splitlines() if not line.startswith("#")] == [
        f'vobo_store_up{{tenant="{TENANT}"}} 0.0'
    ]


@pytest.fixture
def health(store: Store) -> Iterator[Health]:
    timings = Timings()
    timed_jobs(timings, ALLOWED_JOBS)("start_run-run_1-1-abc", 0.2)
    timed_jobs(timings, ALLOWED_JOBS)("os.system-1-abc", 0.2)
    timings.ack.labels("block_actions").observe(0.05)
    timings.send.labels("card", "sent").observe(0.3)
    served = Health(0, lambda: None, metrics=exposed(store, timings))
    served.start()
    yield served
    served.stop()


def test_the_health_port_serves_metrics_as_prometheus_asks_for_them(health: Health) -> None:
    url = f"http://127.0.0.1:{health.port}/metrics"
    with urllib.request.urlopen(url, timeout=5) as answer:
        text = answer.read().decode()
        assert answer.headers["Content-Type"] == CONTENT_TYPE_PLAIN_0_0_4
    families = {family.name for family in text_string_to_metric_families(text)}
    assert {"vobo_store_up", "vobo_ack_seconds", "vobo_relay_send_seconds", "vobo_job_seconds"} <= families
    assert 'vobo_job_seconds_count{job="start_run"} 1.0' in text
    assert 'vobo_job_seconds_count{job="other"} 1.0' in text
    asking = urllib.request.Request(url, headers={"Accept": "application/openmetrics-text; version=1.0.0"})
    with urllib.request.urlopen(asking, timeout=5) as answer:  # noqa: S310 - our own port
        assert answer.headers["Content-Type"].startswith("application/openmetrics-text")
        assert answer.read().endswith(b"# EOF\n")
    with urllib.request.urlopen(f"http://127.0.0.1:{health.port}/healthz", timeout=5) as answer:
        assert answer.read() == b"ok\n"


def test_no_label_holds_an_argument_a_person_or_an_id(redis_client: redis.Redis) -> None:
    workshop = Workshop(a_store(redis_client), redis_client)
    workshop.shop.owners |= {"canary-item": "ann"}
    workshop.shop.stock |= {"canary-item": 50}
    workshop.script.extend([[shipping(("canary-item", 3))], [saying("canary-answer")]])
    workshop.start(request="canary-request")
    (call,) = workshop.calls()
    assert workshop.decide(call, reason="canary-reason").ok
    workshop.execute()
    workshop.advance()
    text = scrape(workshop.store)
    assert value(workshop.store, "vobo_effects_total", "succeeded") == 1
    for word in ("canary", "U0", "run_1", call.key, str(call.batch), "C0PAY"):
        assert word not in text, word


# --- Pages ------------------------------------------------------------------------------------------------------------


def told_names(store: Store) -> set[str]:
    """The names of our metrics as a query writes them, without the suffixes of histograms."""
    families = exposed(store, Timings()).collect()
    names = {family.name + ("_total" if family.type == "counter" else "") for family in families}
    return {name for name in names if name.startswith("vobo_")}


def test_the_page_for_operators_lists_exactly_these_metrics(store: Store) -> None:
    page = (ROOT / "docs" / "operations.md").read_text()
    listed = set(re.findall(r"^\| `(vobo_\w+)`", page, re.MULTILINE))
    assert listed == told_names(store)


@pytest.mark.parametrize("name", ["vobo.json", "alerts.yml"])
def test_every_metric_that_a_dashboard_or_an_alert_asks_for_exists(store: Store, name: str) -> None:
    text = (ROOT / "docs" / "grafana" / name).read_text()
    asked = set(re.findall(r"\bvobo_[a-z_]+\b", "\n".join(expressions(name, text))))
    assert asked
    names = told_names(store)
    assert {re.sub(r"_seconds_(bucket|sum|count)$", "_seconds", each) for each in asked} <= names


def expressions(name: str, text: str) -> list[str]:
    if name == "alerts.yml":
        return re.findall(r"^\s+expr: (.+)$", text, re.MULTILINE)
    return [target["expr"] for panel in json.loads(text)["panels"] for target in panel.get("targets", [])]
