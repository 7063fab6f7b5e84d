"""One line for each event on stderr: JSON, or for people at a terminal; with run, batch and call ids, never arguments.

Lines of structlog and of `logging`, ours and those of libraries, take the same way. Inside a span (`tracing.py`) each
carries the ids the span is about and the trace's id. Of an exception only types and places are told: its message may
quote what somebody typed, or a customer's name.
"""

import logging
import os
import sys
from collections.abc import Mapping
from typing import TextIO

import structlog
from opentelemetry import trace
from structlog.stdlib import ProcessorFormatter
from structlog.types import EventDict, Processor

from approvals.errors import ApprovalsError
from approvals.outline import outline

#: Told from INFO on; everybody else from WARNING on.
TALKING = ("approvals", "bot", "worker", "policies", "vobo", "__main__", "slack_sdk.socket_mode")
VARIABLE, JSON, TEXT = "VOBO_LOG", "json", "text"


class LogFormatUnknown(ApprovalsError):
    """VOBO_LOG is neither `json` nor `text`."""


def configure_logs(process: str, environ: Mapping[str, str] = os.environ, stream: TextIO | None = None) -> None:
    """Once for each process, first thing. `VOBO_LOG` is `json` or `text`; left out, text at a terminal, else JSON.

    Raises:
        LogFormatUnknown: see there.
    """
    stream = stream or sys.stderr
    shape = environ.get(VARIABLE) or (TEXT if stream.isatty() else JSON)
    if shape not in {JSON, TEXT}:
        raise LogFormatUnknown(f"{VARIABLE} is {shape!r}; set it to json or text, or leave it out.")
    before = _before(process)
    last: Processor = structlog.processors.JSONRenderer() if shape == JSON else _for_people(stream)
    handler = logging.StreamHandler(stream)
    handler.setFormatter(
        ProcessorFormatter(foreign_pre_chain=before, processors=[ProcessorFormatter.remove_processors_meta, last])
    )
    logging.basicConfig(level=logging.WARNING, handlers=[handler], force=True)
    for name in TALKING:
        logging.getLogger(name).setLevel(logging.INFO)
    structlog.configure(
        processors=[structlog.stdlib.filter_by_level, *before, ProcessorFormatter.wrap_for_formatter],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
    )


def _before(process: str) -> list[Processor]:
    def from_process(_logger: object, _name: str, event: EventDict) -> EventDict:
        return {"process": process, **event}

    return [
        structlog.contextvars.merge_contextvars,
        from_process,
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.processors.TimeStamper(fmt="iso", utc=True, key="at"),
        _traced,
        _outlined,
    ]


def _for_people(stream: TextIO) -> Processor:
    return structlog.dev.ConsoleRenderer(colors=stream.isatty(), timestamp_key="at")


def _traced(_logger: object, _name: str, event: EventDict) -> EventDict:
    context = trace.get_current_span().get_span_context()
    if context.is_valid:
        event["trace"] = trace.format_trace_id(context.trace_id)
    return event


def _outlined(_logger: object, _name: str, event: EventDict) -> EventDict:
    """Types and places of an exception instead of its text."""
    given = event.pop("exc_info", None)
    event.pop("exc_text", None)
    event.pop("stack_info", None)
    if given:
        error = given if isinstance(given, BaseException) else given[1] if isinstance(given, tuple) else sys.exception()
        event["failed"] = outline(error)
    return event
