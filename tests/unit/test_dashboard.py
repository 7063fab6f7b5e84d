"""The dashboard file as Grafana reads it: whole panels on a grid, data sources by variable, nothing of one place."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

FILE = Path(__file__).resolve().parents[2] / "docs" / "grafana" / "vobo.json"
BOARD: dict[str, Any] = json.loads(FILE.read_text())
DRAWN = [panel for panel in BOARD["panels"] if panel["type"] != "row"]


def test_it_says_what_it_is_and_which_schema_it_follows() -> None:
    assert BOARD["title"]
    assert re.fullmatch(r"[a-z-]{1,40}", BOARD["uid"])
    assert BOARD["schemaVersion"] >= 39
    assert "id" not in BOARD, "an id is Grafana's own, and an import with one fails or replaces another"


def test_its_variables_are_a_prometheus_and_a_workspace() -> None:
    variables = {variable["name"]: variable for variable in BOARD["templating"]["list"]}
    assert (variables["datasource"]["type"], variables["datasource"]["query"]) == ("datasource", "prometheus")
    assert variables["tenant"]["query"]["query"] == "label_values(vobo_store_up, tenant)"
    assert variables["tenant"]["datasource"]["uid"] == "${datasource}"


def test_panels_have_ids_of_their_own_and_do_not_cover_each_other() -> None:
    assert len({panel["id"] for panel in BOARD["panels"]}) == len(BOARD["panels"])
    taken: dict[tuple[int, int], str] = {}
    for panel in BOARD["panels"]:
        place = panel["gridPos"]
        assert place["x"] + place["w"] <= 24
        for x in range(place["x"], place["x"] + place["w"]):
            for y in range(place["y"], place["y"] + place["h"]):
                assert taken.setdefault((x, y), panel["title"]) == panel["title"]


@pytest.mark.parametrize("panel", DRAWN, ids=lambda panel: panel["title"])
def test_a_panel_asks_the_chosen_prometheus_for_something(panel: dict[str, Any]) -> None:
    assert panel["type"] in {"stat", "timeseries"}
    assert panel["datasource"] == {"type": "prometheus", "uid": "${datasource}"}
    assert panel["fieldConfig"]["defaults"]["unit"] in {"short", "s", "bytes"}
    assert panel["targets"]
    refs = [target["refId"] for target in panel["targets"]]
    assert len(set(refs)) == len(refs)
    for target in panel["targets"]:
        assert target["datasource"] == panel["datasource"]
        assert target["expr"].count("(") == target["expr"].count(")")


@pytest.mark.parametrize("panel", DRAWN, ids=lambda panel: panel["title"])
def test_what_every_process_tells_is_never_summed(panel: dict[str, Any]) -> None:
    own = ("vobo_ack_seconds", "vobo_relay_send_seconds", "vobo_job_seconds")
    for target in panel["targets"]:
        (metric,) = set(re.findall(r"vobo_[a-z_]+", target["expr"]))
        if not metric.startswith(own):
            assert re.search(r"\b(max|min)\b[^(]*\(", target["expr"]), target["expr"]
            assert "sum" not in target["expr"]
