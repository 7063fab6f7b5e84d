"""The manifest can be given to Slack as it is, and so can what `vobo init` makes of it."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from approvals.commands.init_env import manifest_text

ROOT = Path(__file__).resolve().parents[2]
HOST = "https://vobo.example.com"
#: Slack's published limits, in characters, for what this manifest says.
LONGEST = {"name": 35, "description": 140, "display_name": 80, "usage_hint": 1000}


def parsed(host: str | None) -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load(manifest_text(host))
    return found


def texts(part: Any, name: str = "") -> list[tuple[str, Any]]:
    if isinstance(part, dict):
        return [found for key, inner in part.items() for found in texts(inner, key)]
    if isinstance(part, list):
        return [found for inner in part for found in texts(inner, name)]
    return [(name, part)]


def test_what_is_shipped_is_for_socket_mode_and_names_no_address() -> None:
    assert manifest_text(None) == (ROOT / "bot" / "manifest.yaml").read_text()
    found = parsed(None)
    assert found["settings"]["socket_mode_enabled"] is True
    assert [name for name, _ in texts(found) if name.endswith("url")] == []


def test_for_http_slack_is_told_one_address_everywhere() -> None:
    found = parsed(HOST)
    assert found["settings"]["socket_mode_enabled"] is False
    addresses = {
        "events": found["settings"]["event_subscriptions"]["request_url"],
        "controls": found["settings"]["interactivity"]["request_url"],
        "command": found["features"]["slash_commands"][0]["url"],
    }
    assert set(addresses.values()) == {f"{HOST}/slack/events"}


@pytest.mark.parametrize("host", [None, HOST])
def test_every_text_is_a_text_that_slack_takes(host: str | None) -> None:
    found = texts(parsed(host))
    assert {name for name, _ in found} >= set(LONGEST)
    for name, text in found:
        if name in LONGEST:
            assert isinstance(text, str), name
            assert 0 < len(text) <= LONGEST[name], name
    assert [name for name, text in found if not isinstance(text, str | bool)] == []


def test_both_manifests_differ_in_the_transport_alone() -> None:
    by_socket, by_http = parsed(None), parsed(HOST)
    del by_http["settings"]["event_subscriptions"]["request_url"]
    del by_http["settings"]["interactivity"]["request_url"]
    del by_http["features"]["slash_commands"][0]["url"]
    by_http["settings"]["socket_mode_enabled"] = True
    assert by_http == by_socket
