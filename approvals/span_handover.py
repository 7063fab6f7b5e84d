"""Spans of forked processes, handed over to the process that forked them.

A job's process ends with the job, without a word to anybody, and may be killed. Sending its spans from there would
delay each job by the collector's answer, or lose them. So each ended span goes, as one datagram, to the parent, which
sends it with its own. A datagram that finds no room is dropped: a trace is never worth a job's time.
"""

import contextlib
import json
import os
import socket
import threading
from typing import Any

from opentelemetry.context import Context
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan, Span, SpanProcessor
from opentelemetry.sdk.util.instrumentation import InstrumentationScope
from opentelemetry.trace import SpanContext, Status, StatusCode, TraceFlags

from approvals.tracing import TRACER

_LARGEST = 65_536


class HandOver(SpanProcessor):
    """Made before the first fork. `onward` is the parent's own processor, `resource` what all of them are."""

    def __init__(self, onward: SpanProcessor, resource: Resource) -> None:
        self._onward = onward
        self._resource = resource
        self._parent = os.getpid()
        self._receiving, self._handing = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._handing.setblocking(False)
        threading.Thread(target=self._receive, name="spans", daemon=True).start()

    def on_start(self, span: Span, parent_context: Context | None = None) -> None:
        """Nothing: only ended spans count."""

    def on_end(self, span: ReadableSpan) -> None:
        """Send it on, or over to the parent."""
        if os.getpid() == self._parent:
            self._onward.on_end(span)
            return
        with contextlib.suppress(OSError):
            self._handing.send(packed(span))

    def shutdown(self) -> None:
        """The parent's end."""
        self._onward.shutdown()

    def force_flush(self, timeout_millis: int = 30_000) -> bool:
        """Send what the parent holds."""
        return self._onward.force_flush(timeout_millis)

    def _receive(self) -> None:
        while True:
            with contextlib.suppress(ValueError, KeyError, TypeError):  # nobody but a child of ours can write here
                self._onward.on_end(unpacked(self._receiving.recv(_LARGEST), self._resource))


def packed(span: ReadableSpan) -> bytes:
    """One ended span as JSON."""
    context = span.get_span_context()
    assert context is not None
    return json.dumps(
        {
            "name": span.name,
            "trace": context.trace_id,
            "span": context.span_id,
            "flags": int(context.trace_flags),
            "parent": span.parent.span_id if span.parent else None,
            "from": span.start_time,
            "until": span.end_time,
            "attributes": dict(span.attributes or {}),
            "error": span.status.description if span.status.status_code is StatusCode.ERROR else None,
        },
        default=str,  # a tool's own spans may hold anything
    ).encode()


def unpacked(text: bytes, resource: Resource) -> ReadableSpan:
    """The span again."""
    told = json.loads(text)
    return ReadableSpan(
        told["name"],
        _context(told, told["span"]),
        _context(told, told["parent"]) if told["parent"] else None,
        resource=resource,
        attributes=told["attributes"],
        status=Status(StatusCode.ERROR, told["error"]) if told["error"] else Status(StatusCode.UNSET),
        start_time=told["from"],
        end_time=told["until"],
        instrumentation_scope=InstrumentationScope(TRACER),
    )


def _context(told: dict[str, Any], span: int) -> SpanContext:
    return SpanContext(told["trace"], span, is_remote=False, trace_flags=TraceFlags(told["flags"]))
