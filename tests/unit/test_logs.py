"""Log lines: one object each, with ids, and never the text of an exception."""

import io
import json
import logging
from collections.abc import Iterator
from typing import Any

import pytest
import structlog

from approvals import tracing
from approvals.errors import ApprovalsError
from approvals.logs import TALKING, LogFormatUnknown, configure_logs


@pytest.fixture(autouse=True)
def as_before() -> Iterator[None]:
    """Logging is the process's own: put everything back."""
    root, loggers = logging.getLogger(), [logging.getLogger(name) for name in TALKING]
    handlers, level, levels = list(root.handlers), root.level, [each.level for each in loggers]
    yield
    for handler in list(root.handlers):
        root.removeHandler(handler)
    for handler in handlers:
        root.addHandler(handler)
    root.setLevel(level)
    for each, before in zip(loggers, levels, strict=True):
        each.setLevel(before)
    structlog.reset_defaults()


def lines(written: io.StringIO) -> list[dict[str, Any]]:
    return [json.loads(line) for line in written.getvalue().splitlines()]


def test_lines_of_both_kinds_of_loggers_are_json_with_the_ids_of_the_span_they_are_written_in() -> None:
    written = io.StringIO()
    configure_logs("worker", {}, written)
    with tracing.span("call.effect", run="run_1", batch="batch_1", call="call_1", tool="ship"):
        structlog.get_logger("worker.batches").info("call at the gate", passed="ran")
        logging.getLogger("vobo.queue").warning("job %s waits", "j1")
    structlog.get_logger("worker.clock").info("later")
    ours, theirs, later = lines(written)
    ids = {"run": "run_1", "batch": "batch_1", "call": "call_1"}
    trace_id = f"{tracing.trace_id_of('run_1'):032x}"
    assert ours == {
        **ids,
        "process": "worker",
        "event": "call at the gate",
        "passed": "ran",
        "level": "info",
        "logger": "worker.batches",
        "trace": trace_id,
        "at": ours["at"],
    }
    assert (theirs["event"], theirs["call"], theirs["trace"], theirs["level"]) == (
        "job j1 waits",
        "call_1",
        trace_id,
        "warning",
    )
    assert "run" not in later


def test_an_exception_is_told_by_types_and_places_in_every_way_of_logging_one() -> None:
    written = io.StringIO()
    configure_logs("bot", {}, written)
    try:
        int("canary-argument")
    except ValueError as error:
        kept = error
        logging.getLogger("vobo.bot").exception("not done")
        structlog.get_logger("bot.x").exception("not done")
    logging.getLogger("vobo.bot").error("not done", exc_info=kept)
    structlog.get_logger("bot.x").error("not done", exc_info=kept)
    assert "canary" not in written.getvalue()
    told = [line["failed"] for line in lines(written)]
    assert len(told) == 4
    assert all(each.startswith("ValueError at ") and "test_logs.py" in each for each in told)


def test_the_sentence_of_our_own_errors_is_told() -> None:
    written = io.StringIO()
    configure_logs("bot", {}, written)
    logging.getLogger("vobo.bot").error("not done", exc_info=ApprovalsError("Start Redis."))
    assert lines(written)[0]["failed"] == "ApprovalsError: Start Redis."


def test_libraries_are_heard_when_something_is_wrong_only() -> None:
    written = io.StringIO()
    configure_logs("worker", {}, written)
    logging.getLogger("httpx").info("POST https://example.org/?q=canary")
    logging.getLogger("httpx").warning("slow")
    structlog.get_logger("worker.gate").debug("quiet")
    assert [line["event"] for line in lines(written)] == ["slow"]


def test_at_a_terminal_or_on_request_lines_are_readable() -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    for environ, stream in (({}, Terminal()), ({"VOBO_LOG": "text"}, io.StringIO())):
        configure_logs("clock", environ, stream)
        structlog.get_logger("worker.clock").warning("clock round failed", part="tick")
        assert "clock round failed" in stream.getvalue()
        assert not stream.getvalue().startswith("{")
    piped = Terminal()
    configure_logs("clock", {"VOBO_LOG": "json"}, piped)
    structlog.get_logger("worker.clock").warning("clock round failed")
    assert lines(piped)[0]["process"] == "clock"


def test_another_format_is_refused_by_a_sentence() -> None:
    with pytest.raises(LogFormatUnknown, match="VOBO_LOG is 'xml'; set it to json or text"):
        configure_logs("bot", {"VOBO_LOG": "xml"}, io.StringIO())
