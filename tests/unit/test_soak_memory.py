"""What `make soak` calls a leak: told from samples that look like those of a soak."""

import random
import sys
from collections.abc import Callable

import pytest

from stack import ROOT

sys.path.append(str(ROOT / "bench"))

import soak_memory
from soak_trouble import SUPERVISED, Sample

EVERY_S, MINUTES, RUNS = 5.0, 30, 900
Grow = Callable[[float, float], float]


def samples(grow: Grow, *, kb_a_run: float = 20.0, minutes: float = MINUTES) -> list[Sample]:
    """A soak: lives of half a minute to three, 90 MB after a steep start, some noise; `grow(age, at)` in MB on top."""
    chance = random.Random(3)  # noqa: S311 - to be repeated
    born, dies = dict.fromkeys(SUPERVISED, 0.0), dict.fromkeys(SUPERVISED, 40.0)
    found, at = [], 0.0
    while at < minutes * 60:
        for name in SUPERVISED:
            if at >= dies[name]:
                born[name], dies[name] = at, at + chance.uniform(30, 180)
        sizes = {name: _size(at - born[name], at, grow, chance) for name in SUPERVISED}
        used = int(2e6 + at / (MINUTES * 60) * RUNS * kb_a_run * 1000)
        found.append(Sample(at, sizes, used, dict(born)))
        at += EVERY_S
    return found


def _size(age: float, at: float, grow: Grow, chance: random.Random) -> int:
    start = 90 - 40 * max(0.0, 1 - age / 45)
    return int((start + grow(age, at) + chance.gauss(0, 0.7)) * 1e6)


def nothing(_age: float, _at: float) -> float:
    return 0.0


def test_a_soak_in_which_nothing_grows_is_well_in_spite_of_noise_and_of_steep_starts() -> None:
    assert soak_memory.growing(samples(nothing), RUNS) == []


def test_a_process_that_keeps_something_of_each_run_is_told() -> None:
    found = soak_memory.growing(samples(lambda age, _at: age * 150 / 3600), RUNS)
    assert [sentence.partition(" grows by ")[0] for sentence in found] == list(SUPERVISED)


def test_a_little_growth_that_may_be_chance_is_not() -> None:
    assert soak_memory.growing(samples(lambda age, _at: age * 20 / 3600), RUNS) == []


def test_a_process_that_needs_more_the_more_is_stored_is_told() -> None:
    found = soak_memory.growing(samples(lambda age, at: 50 * (at - age) / (MINUTES * 60)), RUNS)
    assert [sentence.partition(" needs ")[0] for sentence in found] == list(SUPERVISED)


@pytest.mark.parametrize(("kb", "wrong"), [(20.0, 0), (59.0, 0), (70.0, 1)])
def test_the_store_may_take_so_much_for_each_run_and_no_more(kb: float, wrong: int) -> None:
    assert len(soak_memory.growing(samples(nothing, kb_a_run=kb), RUNS)) == wrong


def test_a_soak_too_short_to_tell_accuses_nobody() -> None:
    short = samples(lambda age, _at: age * 150 / 3600, minutes=1)
    assert soak_memory.growing(short, 3) == []
