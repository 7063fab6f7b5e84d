"""Where spans go: to the OTLP endpoint of the usual OTEL_* variables. Without one there are no spans."""

import os
import threading
from collections.abc import Callable, Mapping

from opentelemetry import trace
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import SpanProcessor, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.sdk.trace.id_generator import RandomIdGenerator

from approvals.errors import ApprovalsError
from approvals.span_handover import HandOver
from approvals.tracing import beginning, root_id_of, trace_id_of

ENDPOINTS = ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")
TIMEOUTS = ("OTEL_EXPORTER_OTLP_TIMEOUT", "OTEL_EXPORTER_OTLP_TRACES_TIMEOUT")
#: Of one export, unless the environment says otherwise; and how long the end of a process may wait for the last one.
TIMEOUT_S, END_S = 3.0, 2.0


class TracesCannotStart(ApprovalsError):
    """An endpoint is named, but the exporter is not installed."""


class RunIds(RandomIdGenerator):
    """Random ids, except for the first span of a run, whose ids every process can derive."""

    def generate_trace_id(self) -> int:
        """The id of a new trace."""
        run = beginning.get()
        return trace_id_of(run) if run else super().generate_trace_id()

    def generate_span_id(self) -> int:
        """The id of a new span."""
        run = beginning.get()
        return root_id_of(run) if run else super().generate_span_id()


def start_traces(process: str, environ: Mapping[str, str] = os.environ, *, forks: bool = False) -> Callable[[], None]:
    """Send this process's spans, if an endpoint is named; returns what ends it. Once for each process.

    With `forks` the processes it forks hand their spans over to it, and need neither a thread nor a connection.

    Raises:
        TracesCannotStart: the extra `traces` is not installed.
    """
    if not wanted(environ):
        return lambda: None
    try:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter  # noqa: PLC0415 - an extra
    except ImportError:
        raise TracesCannotStart(
            f"{' or '.join(ENDPOINTS)} is set, but the exporter is not installed. Install vobo with the extra traces"
            ' (in its checkout: pip install ".[traces]"), or leave the variable out.'
        ) from None
    timeout = None if any(environ.get(name) for name in TIMEOUTS) else TIMEOUT_S
    sending: SpanProcessor = BatchSpanProcessor(OTLPSpanExporter(timeout=timeout))
    resource = resource_of(process, environ)
    made = provider(HandOver(sending, resource) if forks else sending, resource)
    trace.set_tracer_provider(made)

    def end() -> None:
        last = threading.Thread(target=made.shutdown, name="last spans", daemon=True)
        last.start()
        last.join(END_S)

    return end


def wanted(environ: Mapping[str, str]) -> bool:
    """Whether the environment asks for traces."""
    off = environ.get("OTEL_SDK_DISABLED", "").strip().lower() == "true"
    off = off or environ.get("OTEL_TRACES_EXPORTER", "otlp").strip().lower() != "otlp"
    return not off and any(environ.get(name) for name in ENDPOINTS)


def resource_of(process: str, environ: Mapping[str, str]) -> Resource:
    """Which process this is: `vobo-<process>`, unless OTEL_SERVICE_NAME says otherwise."""
    return Resource.create({} if environ.get("OTEL_SERVICE_NAME") else {"service.name": f"vobo-{process}"})


def provider(processor: SpanProcessor, resource: Resource) -> TracerProvider:
    """A source of spans with the ids of runs."""
    made = TracerProvider(id_generator=RunIds(), resource=resource, shutdown_on_exit=False)
    made.add_span_processor(processor)
    return made
