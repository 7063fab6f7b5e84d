"""Real processes as operators watch them: one trace over all of them, metrics of each, log lines without arguments."""

import json
import sqlite3
import threading
import urllib.request
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from prometheus_client.parser import text_string_to_metric_families

from approvals.tracing import root_id_of, trace_id_of
from free_ports import free_port
from reviewing import BRUNO, start
from stack import COMMANDS, Stack, until

WATCHED = ("bot", "worker", "clock")


class Collector:
    """Takes OTLP over HTTP. `spans` are (service, trace, span, parent, name, attributes)."""

    def __init__(self) -> None:
        self.spans: list[tuple[str, int, int, int, str, dict[str, str]]] = []
        take = self.take

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                take(self.rfile.read(int(self.headers["Content-Length"])))
                self.send_response(200)
                self.end_headers()

            def log_message(self, *_args: object) -> None:
                """Nothing."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server.server_address[1]}"

    def take(self, body: bytes) -> None:
        for group in ExportTraceServiceRequest.FromString(body).resource_spans:
            (service,) = [one.value.string_value for one in group.resource.attributes if one.key == "service.name"]
            for span in [span for scope in group.scope_spans for span in scope.spans]:
                ids = [int.from_bytes(each) for each in (span.trace_id, span.span_id, span.parent_span_id)]
                told = {one.key: one.value.string_value for one in span.attributes}
                self.spans.append((service, ids[0], ids[1], ids[2], span.name, told))

    def names(self) -> set[str]:
        return {span[4] for span in list(self.spans)}


@pytest.fixture
def collector() -> Iterator[Collector]:
    made = Collector()
    yield made
    made.server.shutdown()
    made.server.server_close()


def metrics(port: int) -> dict[str, float]:
    """Every sample by its name and labels, the workspace left out."""
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=10) as answer:
        families = text_string_to_metric_families(answer.read().decode())
    found = {}
    for family in families:
        for sample in family.samples:
            labels = {name: value for name, value in sample.labels.items() if name != "tenant"}
            found[f"{sample.name}{json.dumps(labels)}" if labels else sample.name] = sample.value
    return found


def test_one_run_is_one_trace_counted_alike_by_all_processes_and_its_arguments_are_nowhere(
    home: Path, collector: Collector
) -> None:
    environment = {"OTEL_EXPORTER_OTLP_ENDPOINT": collector.url, "OTEL_BSP_SCHEDULE_DELAY": "200"}
    stack = Stack(home, extra=environment)
    ports = {name: free_port() for name in WATCHED}
    try:
        stack.prepare()
        stack.run("-m", "worker.refund_desk.shop", "load", "--fresh")
        for name in COMMANDS:
            stack.env["VOBO_HEALTH_PORT"] = str(ports.get(name, 0))
            stack.start(name)
        stack.wait_for_bot()
        thread = start(stack, "mail the customers whose payment failed yesterday")
        thread.wait_for_cards(1)
        waiting = metrics(ports["clock"])
        assert waiting['vobo_calls{"state": "pending_review"}'] == 1
        assert [name for name, value in waiting.items() if name.startswith("vobo_calls_pending") and value == 1]
        thread.approve(BRUNO, "Mail 36 people")
        thread.wait_for("stand-in")

        told = {name: until(lambda name=name: settled(ports[name]), f"{name} counts", 20, home) for name in WATCHED}
        spans = until(lambda: whole(collector), "the whole trace", 20, home)
        everything = "".join((home / f"{name}.log").read_text() for name in WATCHED)
    finally:
        stack.stop()

    for name in WATCHED:
        assert told[name]['vobo_decisions_total{"verdict": "approve"}'] == 1, name
        assert told[name]["vobo_click_to_effect_seconds_count"] == 1, name
        assert told[name]["vobo_frozen"] == 0
    assert told["bot"]['vobo_ack_seconds_count{"kind": "block_actions"}'] == 1
    assert told["bot"]['vobo_relay_send_seconds_count{"kind": "card", "result": "sent"}'] >= 2
    assert told["worker"]['vobo_job_seconds_count{"job": "execute_batch"}'] >= 1, "jobs run in forks that end"
    (run,) = {attributes["vobo.run"] for *_, attributes in spans}
    assert {trace for _, trace, *_ in spans} == {trace_id_of(run)}
    roots = [(span, name) for _, _, span, parent, name, _ in spans if not parent]
    assert roots == [(root_id_of(run), "run.start")]
    assert {parent for _, _, _, parent, *_ in spans if parent} <= {span for _, _, span, *_ in spans}
    assert {service for service, *_ in spans} == {"vobo-bot", "vobo-worker"}
    refuse_arguments(home, everything)
    refuse_arguments(home, repr(spans))
    lines = [json.loads(line) for line in everything.splitlines() if line.startswith("{")]
    gate = [line for line in lines if line["event"] == "call at the gate"]
    gate = [line for line in gate if line["passed"] != "waits"]  # at its first try people may not be looked up yet
    assert [(line["run"], line["trace"], line["process"], line["passed"]) for line in gate] == [
        (run, f"{trace_id_of(run):032x}", "worker", "ran")
    ]


def settled(port: int) -> dict[str, float] | None:
    found = metrics(port)
    return found if found.get('vobo_effects_total{"outcome": "succeeded"}') == 1 else None


def whole(collector: Collector) -> list[tuple[str, int, int, int, str, dict[str, str]]] | None:
    wanted = {"run.start", "run.drive", "agent.turn", "run.pause", "card.post", "call.decide", "call.effect"}
    return list(collector.spans) if collector.names() >= wanted | {"tool.run", "run.resume", "run.outcome"} else None


def refuse_arguments(home: Path, text: str) -> None:
    """No customer, no address, no payment and no word of the request."""
    with sqlite3.connect(home / "shop.db") as shop:
        personal = [value for row in shop.execute("select customer_id, email from customers") for value in row]
        personal += [value for (value,) in shop.execute("select payment_id from payments")]
    assert len(personal) > 100
    assert [value for value in personal if value in text] == []
    assert "whose payment failed" not in text
