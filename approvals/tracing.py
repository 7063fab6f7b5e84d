"""One trace for each run, from its start over pauses and decisions of hours to its outcome, across all processes.

The trace's id is derived from the run's: nothing has to be stored or handed on, and any process may add a span at any
time. The first span, `run.start`, has a derived id as well; spans without a nearer parent hang from it. Attributes are
ids, tools, states and numbers, never arguments, texts or people. The same ids are bound to every log line written
inside a span. Without an exporter (`trace_export.py`) all of this does nothing.
"""

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from opentelemetry import trace
from opentelemetry.context import Context
from opentelemetry.trace import NonRecordingSpan, Span, SpanContext, StatusCode, TraceFlags
from structlog.contextvars import bound_contextvars

TRACER = "vobo"
#: What log lines are bound to.
LOGGED = ("run", "batch", "call")
#: The run whose first span is being made; `trace_export.RunIds` derives its ids from it.
beginning: ContextVar[str | None] = ContextVar("beginning", default=None)


def trace_id_of(run: str) -> int:
    """The id of a run's trace: SHA-256 of `vobo.trace/1:` and the run's id, its first 16 bytes."""
    return int.from_bytes(_digest(run)[:16])


def root_id_of(run: str) -> int:
    """The id of the trace's first span: the next 8 bytes."""
    return int.from_bytes(_digest(run)[16:24])


@contextmanager
def span(name: str, *, run: str, **about: str | int | None) -> Iterator[Span]:
    """Something that takes time within a run. What it raises is told by its type alone, since texts quote arguments."""
    ids = {key: value for key, value in {"run": run, **about}.items() if value is not None}
    attributes = {f"vobo.{key}": value for key, value in ids.items()}
    started = trace.get_tracer(TRACER).start_as_current_span(
        name, context=_parent(run), attributes=attributes, record_exception=False, set_status_on_exception=False
    )
    with bound_contextvars(**{key: ids[key] for key in LOGGED if key in ids}), started as current:
        try:
            yield current
        except BaseException as error:
            current.set_status(StatusCode.ERROR, type(error).__name__)
            raise


def mark(name: str, *, run: str, **about: str | int | None) -> None:
    """Something that happened to a run at this moment."""
    with span(name, run=run, **about):
        return


def begin(run: str) -> None:
    """The first span of a run's trace."""
    token = beginning.set(run)
    try:
        attributes = {"vobo.run": run}
        trace.get_tracer(TRACER).start_span("run.start", context=Context(), attributes=attributes).end()
    finally:
        beginning.reset(token)


def _digest(run: str) -> bytes:
    return hashlib.sha256(f"vobo.trace/1:{run}".encode()).digest()


def _parent(run: str) -> Context | None:
    """The current span when it belongs to the run (None says so), else the run's first span, wherever that was made."""
    trace_id = trace_id_of(run)
    if trace.get_current_span().get_span_context().trace_id == trace_id:
        return None
    root = SpanContext(trace_id, root_id_of(run), is_remote=True, trace_flags=_flags(trace_id))
    return trace.set_span_in_context(NonRecordingSpan(root), Context())


def _flags(trace_id: int) -> TraceFlags:
    """Sampled or not, as OTEL_TRACES_SAMPLER decides for the whole trace: every process comes to the same answer."""
    sampler = getattr(trace.get_tracer_provider(), "sampler", None)
    sampled = sampler is not None and sampler.should_sample(None, trace_id, "run.start").decision.is_sampled()
    return TraceFlags(TraceFlags.SAMPLED if sampled else TraceFlags.DEFAULT)
