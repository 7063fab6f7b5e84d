"""What Prometheus reads at `/metrics` of bot, worker and clock.

What happened is counted in the store, by the script that records it: such counts survive processes, forks and
restarts, and are the same wherever they are read. So every process tells all of them, and a query takes the `max` over
the processes, never their sum (`docs/grafana/vobo.json` does). What only one process can time (an acknowledgement, a
call to Slack, a job) is in a histogram of that process; jobs are timed in the worker's parent, since the process that
runs one ends with it. The time from a click to its effect crosses processes and is therefore measured in the store.

No label ever holds an argument, a person or an id. `radius` is the text a rule gives as its blast radius, as it stands
in clear on cards and in the ledger; at most the twenty largest are told by name.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

import redis
from prometheus_client import CollectorRegistry, Histogram, ProcessCollector
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector

from approvals.store import Store
from approvals.tallies import Reading
from approvals.usable import memory, trouble

#: In milliseconds, as `_prelude.lua` counts them.
CLICK_BUCKETS_MS = (250, 500, 1_000, 2_500, 5_000, 10_000, 30_000, 60_000, 300_000, 3_600_000)
#: Slack gives up on an acknowledgement after three seconds.
_ACK_BUCKETS_S = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2, 3, 5)
_SEND_BUCKETS_S = (0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10)
_JOB_BUCKETS_S = (0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900)

_APPROVALS = frozenset({"approved", "approval_counted"})


@dataclass(frozen=True, slots=True)
class Timings:
    """The histograms of one process; threads share them."""

    registry: CollectorRegistry = field(default_factory=CollectorRegistry)
    ack: Histogram = field(init=False)
    send: Histogram = field(init=False)
    job: Histogram = field(init=False)

    def __post_init__(self) -> None:
        made = {
            "ack": ("vobo_ack_seconds", "From a payload of Slack to its acknowledgement", ["kind"], _ACK_BUCKETS_S),
            "send": ("vobo_relay_send_seconds", "One message to Slack", ["kind", "result"], _SEND_BUCKETS_S),
            "job": ("vobo_job_seconds", "One job of the queue, its process included", ["job"], _JOB_BUCKETS_S),
        }
        for name, (metric, text, labels, buckets) in made.items():
            object.__setattr__(self, name, Histogram(metric, text, labels, buckets=buckets, registry=self.registry))
        ProcessCollector(registry=self.registry)


def exposed(store: Store, timings: Timings, *others: Store) -> CollectorRegistry:
    """What one process tells: its own timings and what the store has counted, and those of other workspaces."""
    timings.registry.register(StoresCollector((store, *others)))
    return timings.registry


def timed_jobs(timings: Timings, jobs: Collection[str]) -> Callable[[str, float], None]:
    """What a worker tells about its jobs, whose ids begin with the name of the job; foreign ones are `other`."""
    names = {job.rpartition(".")[2] for job in jobs}

    def timed(job_id: str, seconds: float) -> None:
        name = job_id.partition("-")[0]
        timings.job.labels(name if name in names else "other").observe(seconds)

    return timed


class StoresCollector(Collector):
    """The stores of several workspaces: each family once, with the samples of all of them."""

    def __init__(self, stores: Iterable[Store]) -> None:
        self._collectors = [StoreCollector(store) for store in stores]

    def collect(self) -> Iterable[Metric]:
        """All families."""
        found: dict[str, Metric] = {}
        for family in (family for collector in self._collectors for family in collector.collect()):
            found.setdefault(family.name, family)
            if found[family.name] is not family:
                found[family.name].samples.extend(family.samples)
        return found.values()


class StoreCollector(Collector):
    """The state of record as metrics, read anew at each scrape at a constant cost."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def collect(self) -> Iterable[Metric]:
        """All families; `vobo_store_up` alone while the store does not answer."""
        try:
            read, there = self._store.tallies.read(), memory(self._store)
        except redis.RedisError:
            yield self._gauge("vobo_store_up", "Whether the store answers", 0)
            return
        yield self._gauge("vobo_store_up", "Whether the store answers", 1)
        writable = trouble(self._store) is None
        yield self._gauge("vobo_store_writable", "Whether the store takes writes", int(writable))
        yield self._gauge("vobo_store_memory_used_bytes", "Memory the store uses", there.used)
        yield self._gauge("vobo_store_memory_max_bytes", "Its maxmemory; 0 without a limit", there.limit)
        yield from self._now(read)
        yield from self._so_far(read)
        yield self._click_to_effect(read.took.get("click_to_effect", Counter()))

    def _now(self, read: Reading) -> Iterator[Metric]:
        yield self._by("vobo_calls", "Calls that are not final, by state", "state", read.states)
        yield self._by("vobo_calls_pending", "Calls that wait for a person, by blast radius", "radius", read.pending)
        for name, text, ms in (
            ("vobo_oldest_pending_seconds", "How long the card that waits longest has waited", read.oldest_pending_ms),
            ("vobo_relay_lag_seconds", "How long the message owed longest is owed; alerts aside", read.relay_lag_ms),
            ("vobo_deadline_lag_seconds", "How long a deadline is over that no clock applied", read.deadline_lag_ms),
            ("vobo_ledger_lag_seconds", "Age of the oldest event that is not in SQL yet", read.ledger_lag_ms),
        ):
            yield self._gauge(name, text, ms / 1000)
        yield self._gauge("vobo_ledger_undrained_events", "Events that are not in SQL yet", read.undrained)
        yield self._gauge("vobo_wakeups", "What wants a worker, now or later", read.wakeups)
        dead = "Unknown calls and undos, contradicting receipts and failed runs that nobody settled or closed"
        yield self._gauge("vobo_dead_letters", dead, read.dead_letters)
        yield self._gauge("vobo_frozen", "Frozen, or not yet compared with the ledger", int(read.frozen))

    def _so_far(self, read: Reading) -> Iterator[Metric]:
        events = CounterMetricFamily(
            "vobo_events",
            "Ledger events; `by` is policy where the law decided",
            labels=["tenant", "event", "cause", "by"],
        )
        for event, number in sorted(read.events.items()):
            events.add_metric([self._store.tenant, *event], number)
        yield events
        yield self._counts("vobo_decisions", "Decisions of people", "verdict", _decisions(read))
        yield self._counts("vobo_expiries", "Calls that expired or lapsed", "cause", _expiries(read))
        yield self._counts("vobo_effects", "What became of effects", "outcome", _effects(read))
        yield self._counts("vobo_limit_hits", "Calls refused by a limit", "limit", _limits(read))
        for name, text, number in (
            ("vobo_unknowns", "Calls of which nobody could tell whether they happened", _effects(read)["unknown"]),
            ("vobo_interruptions", "Times a person or usergroup was notified by a card", read.interruptions),
        ):
            family = CounterMetricFamily(name, text, labels=["tenant"])
            family.add_metric([self._store.tenant], number)
            yield family

    def _gauge(self, name: str, text: str, value: float) -> Metric:
        family = GaugeMetricFamily(name, text, labels=["tenant"])
        family.add_metric([self._store.tenant], value)
        return family

    def _by(self, name: str, text: str, label: str, values: Mapping[str, int]) -> Metric:
        return self._labelled(GaugeMetricFamily(name, text, labels=["tenant", label]), values)

    def _counts(self, name: str, text: str, label: str, values: Mapping[str, int]) -> Metric:
        return self._labelled(CounterMetricFamily(name, text, labels=["tenant", label]), values)

    def _labelled(self, family: GaugeMetricFamily | CounterMetricFamily, values: Mapping[str, int]) -> Metric:
        for value, number in values.items():
            family.add_metric([self._store.tenant, value], number)
        return family

    def _click_to_effect(self, took: Counter[str]) -> Metric:
        buckets, so_far = [], 0
        for edge in CLICK_BUCKETS_MS:
            so_far += took[str(edge)]
            buckets.append((str(edge / 1000), float(so_far)))
        buckets.append(("+Inf", float(so_far + took["more"])))
        text = "From the click that let a call be executed to its receipt"
        family = HistogramMetricFamily("vobo_click_to_effect_seconds", text, labels=["tenant"])
        family.add_metric([self._store.tenant], buckets, took["sum"] / 1000)
        return family


def _decisions(read: Reading) -> Counter[str]:
    """By people only. A call that needs two approvals counts two."""
    found = Counter({"approve": 0, "reject": 0, "edit": 0})
    for event, number in read.events.items():
        if event.kind in _APPROVALS and event.by == "":
            found["approve"] += number
        elif event.kind == "rejected" and event.cause == "person":
            found["reject"] += number
        elif event.kind == "edited":
            found["edit"] += number
    return found


def _expiries(read: Reading) -> Counter[str]:
    found = Counter({"nobody decided": 0, "could not be posted": 0, "not executed in time": 0})
    for event, number in read.events.items():
        if event.kind == "expired":
            found[event.cause] += number
        elif event.kind == "lapsed":
            found["not executed in time"] += number
    return found


def _effects(read: Reading) -> Counter[str]:
    """A call that was unknown and then settled counts for both."""
    found = Counter({"succeeded": 0, "failed": 0, "unknown": 0})
    for event, number in read.events.items():
        if event.kind in found:
            found[event.kind] += number
        elif event.kind == "settled":
            found[event.cause] += number
    return found


def _limits(read: Reading) -> Counter[str]:
    found = Counter({"budget": 0, "cap": 0})
    for event, number in read.events.items():
        if event.kind in {"rejected", "refused"} and event.cause in found:
            found[event.cause] += number
    return found
