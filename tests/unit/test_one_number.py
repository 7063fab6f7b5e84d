"""Numbers that stand in Lua and in Python, or twice in Python, are the same everywhere."""

import re
from pathlib import Path

import approvals
from bot.people import GROUPS_S, Watch
from bot.serving import WATCH_S
from worker import recheck

CHECKS = Path(approvals.__path__[0], "scripts", "_checks.lua")


def in_lua(name: str) -> int:
    """A constant of the scripts in milliseconds; it is written as a product."""
    (written,) = re.findall(rf"^local {name} = ([\d *]+)", CHECKS.read_text(encoding="utf-8"), re.MULTILINE)
    product = 1
    for factor in written.split("*"):
        product *= int(factor)
    return product


def test_a_look_at_a_person_counts_as_long_for_the_worker_as_for_the_store() -> None:
    assert recheck.FRESH_MS == in_lua("PERSON_AGE") == 60_000


def test_the_bot_looks_at_people_again_before_its_last_look_is_too_old() -> None:
    oldest_s = Watch.__init__.__kwdefaults__["older_than_ms"] / 1000 + WATCH_S
    assert oldest_s + GROUPS_S < in_lua("PERSON_AGE") / 1000
