"""Everything that happens to a run is one trace, with nothing stored or handed on; and tracing never costs a job."""

import hashlib
import os
import signal
import sys
import time
from collections.abc import Iterator

import pytest
import redis
from agents.tracing import TracingProcessor, set_trace_processors
from opentelemetry import trace
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from approvals import tracing
from approvals.lifecycle import RunState
from approvals.span_handover import HandOver
from approvals.trace_export import TracesCannotStart, provider, start_traces
from builders import a_store
from workshop import Workshop, saying, shipping

RESOURCE = Resource.create({"service.name": "vobo-test"})


@pytest.fixture
def spans(monkeypatch: pytest.MonkeyPatch) -> InMemorySpanExporter:
    """Every span of this process that has ended."""
    kept = InMemorySpanExporter()
    monkeypatch.setattr(trace, "_TRACER_PROVIDER", provider(SimpleSpanProcessor(kept), RESOURCE))
    return kept


def names(found: InMemorySpanExporter) -> list[str]:
    return [span.name for span in found.get_finished_spans()]


def about(span: ReadableSpan) -> dict[str, object]:
    return dict(span.attributes or {})


def test_start_pause_decision_effect_and_resume_are_one_trace(
    redis_client: redis.Redis, spans: InMemorySpanExporter
) -> None:
    workshop = Workshop(a_store(redis_client), redis_client)
    workshop.script.extend([[shipping(("cup", 3))], [saying()]])
    workshop.start(request="canary-request")
    (call,) = workshop.calls()
    assert workshop.decide(call, reason="canary-reason").ok
    workshop.execute()
    workshop.advance()
    found = spans.get_finished_spans()
    first, effect = ["agent.turn", "run.pause", "run.drive"], ["tool.run", "call.effect"]
    # Resumed, the SDK hands the answers over in one turn and lets the model go on in the next.
    assert names(spans) == ["run.start", *first, *effect, "agent.turn", "agent.turn", "run.outcome", "run.resume"]
    expected = int(hashlib.sha256(b"vobo.trace/1:run_1").hexdigest()[:32], 16)
    assert {span.context.trace_id for span in found} == {expected}
    root = found[0]
    assert (root.parent, root.context.span_id) == (None, tracing.root_id_of("run_1"))
    by_id = {span.context.span_id: span.name for span in found}
    parents = {(span.name, by_id[span.parent.span_id]) for span in found[1:] if span.parent}
    assert parents == {
        ("run.drive", "run.start"),
        ("agent.turn", "run.drive"),
        ("run.pause", "run.drive"),
        ("call.effect", "run.start"),
        ("tool.run", "call.effect"),
        ("run.resume", "run.start"),
        ("agent.turn", "run.resume"),
        ("run.outcome", "run.resume"),
    }
    assert about(next(span for span in found if span.name == "call.effect")) == {
        "vobo.run": "run_1",
        "vobo.batch": call.batch,
        "vobo.call": call.key,
        "vobo.tool": "ship",
        "vobo.passed": "ran",
    }
    told = "".join(span.to_json() for span in found)
    assert "canary" not in told
    assert "cup" not in told


class Overheard(TracingProcessor):
    """What the Agents SDK would send to its vendor."""

    def __init__(self) -> None:
        self.heard: list[object] = []

    def on_trace_start(self, trace: object) -> None:
        self.heard.append(trace)

    def on_span_end(self, span: object) -> None:
        self.heard.append(span)

    def _nothing(self, *_args: object) -> None:
        """Only beginnings of traces and ends of spans count."""

    on_trace_end = on_span_start = shutdown = force_flush = _nothing


def test_the_agents_sdk_tells_its_vendor_nothing(redis_client: redis.Redis) -> None:
    overheard = Overheard()
    set_trace_processors([overheard])
    try:
        workshop = Workshop(a_store(redis_client), redis_client)
        workshop.script.extend([[shipping(("cup", 1))], [saying()]])
        workshop.start()
        workshop.execute()
        workshop.advance()
    finally:
        set_trace_processors([])
    assert workshop.run().state is RunState.COMPLETED
    assert overheard.heard == []


def test_a_run_that_is_recorded_twice_begins_once(redis_client: redis.Redis, spans: InMemorySpanExporter) -> None:
    store = a_store(redis_client)
    for _ in range(2):
        store.runs.start("run_1", request="x", requester="U1", channel="C1", thread_ts="1.1", agent="desk")
    assert names(spans) == ["run.start"]


def test_a_span_tells_the_type_of_what_went_wrong_and_not_its_text(spans: InMemorySpanExporter) -> None:
    with pytest.raises(ValueError, match="canary"), tracing.span("tool.run", run="run_1"):
        raise ValueError("canary-argument")
    (span,) = spans.get_finished_spans()
    assert (span.status.is_ok, span.status.description, span.events) == (False, "ValueError", ())


def test_spans_of_two_runs_in_one_process_stay_apart(spans: InMemorySpanExporter) -> None:
    with tracing.span("run.drive", run="run_1"):
        tracing.mark("call.decide", run="run_2")
    inner, outer = spans.get_finished_spans()
    assert inner.context.trace_id == tracing.trace_id_of("run_2")
    assert inner.parent is not None
    assert inner.parent.span_id == tracing.root_id_of("run_2")
    assert outer.context.trace_id == tracing.trace_id_of("run_1")


def test_a_run_is_sampled_as_a_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTEL_TRACES_SAMPLER", "parentbased_traceidratio")
    monkeypatch.setenv("OTEL_TRACES_SAMPLER_ARG", "0.5")
    kept = InMemorySpanExporter()
    monkeypatch.setattr(trace, "_TRACER_PROVIDER", provider(SimpleSpanProcessor(kept), RESOURCE))
    runs = [f"run_{number}" for number in range(40)]
    for run in runs:
        tracing.begin(run)
        tracing.mark("run.outcome", run=run)
    by_run = [[span.name for span in kept.get_finished_spans() if about(span)["vobo.run"] == run] for run in runs]
    assert {tuple(told) for told in by_run} == {(), ("run.start", "run.outcome")}


# --- Processes that end with their job --------------------------------------------------------------------------------


@pytest.fixture
def parent(monkeypatch: pytest.MonkeyPatch) -> Iterator[InMemorySpanExporter]:
    """What the parent of forked jobs would send."""
    kept = InMemorySpanExporter()
    made = provider(HandOver(SimpleSpanProcessor(kept), RESOURCE), RESOURCE)
    monkeypatch.setattr(trace, "_TRACER_PROVIDER", made)
    yield kept
    made.shutdown()


def in_a_fork(how_it_ends: int | None) -> None:
    """A job that ends one span, begins another, and ends as RQ ends its work-horse, or is killed."""
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        try:
            with tracing.span("run.resume", run="run_1", turn=3):
                with tracing.span("tool.run", run="run_1"):
                    pass
                if how_it_ends is not None:
                    os.kill(os.getpid(), how_it_ends)
        finally:
            os._exit(0)
    os.waitpid(child, 0)


def waited_for(kept: InMemorySpanExporter, number: int) -> tuple[ReadableSpan, ...]:
    deadline = time.monotonic() + 5
    while len(kept.get_finished_spans()) < number:
        assert time.monotonic() < deadline, names(kept)
        time.sleep(0.01)
    return kept.get_finished_spans()


def test_a_forked_job_hands_its_spans_over_before_it_ends(parent: InMemorySpanExporter) -> None:
    tracing.begin("run_1")
    in_a_fork(None)
    start, tool, resume = waited_for(parent, 3)
    assert (start.name, tool.name, resume.name) == ("run.start", "tool.run", "run.resume")
    assert {span.context.trace_id for span in (start, tool, resume)} == {tracing.trace_id_of("run_1")}
    assert tool.parent is not None
    assert tool.parent.span_id == resume.context.span_id
    assert about(resume) == {"vobo.run": "run_1", "vobo.turn": 3}
    assert resume.resource == RESOURCE
    assert resume.start_time is not None
    assert resume.end_time is not None
    assert 0 <= resume.end_time - resume.start_time < 5e9


def test_what_a_killed_job_had_ended_arrives(parent: InMemorySpanExporter) -> None:
    in_a_fork(signal.SIGKILL)
    (tool,) = waited_for(parent, 1)
    assert tool.name == "tool.run"


def test_a_parent_that_does_not_listen_costs_spans_and_no_time(monkeypatch: pytest.MonkeyPatch) -> None:
    class Stuck(SimpleSpanProcessor):
        def on_end(self, span: ReadableSpan) -> None:  # noqa: ARG002
            time.sleep(3_600)

    made = provider(HandOver(Stuck(InMemorySpanExporter()), RESOURCE), RESOURCE)
    monkeypatch.setattr(trace, "_TRACER_PROVIDER", made)
    child = os.fork()
    if child == 0:
        began = time.monotonic()
        for _ in range(5_000):
            tracing.mark("run.outcome", run="run_1")
        os._exit(0 if time.monotonic() - began < 20 else 1)
    assert os.waitpid(child, 0)[1] == 0


# --- Off, and away ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "environ",
    [
        {},
        {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1", "OTEL_SDK_DISABLED": "true"},
        {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1", "OTEL_TRACES_EXPORTER": "none"},
    ],
)
def test_nothing_is_traced_unless_somebody_asks(environ: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trace, "_TRACER_PROVIDER", None)
    start_traces("bot", environ)()
    assert trace._TRACER_PROVIDER is None
    with tracing.span("run.drive", run="run_1") as span:
        assert not span.is_recording()


def test_an_endpoint_without_the_exporter_is_told_in_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "opentelemetry.exporter.otlp.proto.http.trace_exporter", None)
    with pytest.raises(TracesCannotStart, match="Install vobo with the extra traces"):
        start_traces("bot", {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1"})


def test_a_collector_that_is_away_delays_neither_work_nor_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    environ = {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1"}
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", environ["OTEL_EXPORTER_OTLP_ENDPOINT"])
    made: list[object] = []
    monkeypatch.setattr(trace, "set_tracer_provider", made.append)
    end = start_traces("bot", environ)
    monkeypatch.setattr(trace, "_TRACER_PROVIDER", made[0])
    began = time.monotonic()
    for number in range(2_000):
        tracing.begin(f"run_{number}")
    assert time.monotonic() - began < 5
    began = time.monotonic()
    end()
    assert time.monotonic() - began < 4
