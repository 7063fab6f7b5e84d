"""Whether memory grows over a soak. Processes live about half a minute in it, so two things can be seen.

What a process needs must not follow from how much was stored or done before it started, and a process that lives
longer must not need ever more. Both are judged after a warm-up: what is imported, connected and cached is no leak.
"""

from collections import defaultdict
from collections.abc import Sequence
from math import sqrt
from statistics import median

from soak_trouble import SUPERVISED, Sample

MB = 1e6
#: Seconds after its start in which a process still imports, connects and fills its caches.
WARM_UP_S = 60.0
#: Measured: about 0, and half a MB of noise. A small machine does ten runs a minute, so this is 100 KB kept of each.
MOST_MB_AN_HOUR = 60.0
#: Of a slope that is judged: a few lives beyond the warm-up, or chance decides.
FEWEST = 30
#: So many standard errors must lie between a slope and the bound.
CERTAIN = 3.0
#: A process started late in the soak beside one started early, both warm. The heap of Python alone differs by a few MB.
MOST_LATER_MB = 24.0
#: An ended run is kept for seven days: its calls, decisions, messages and saved state.
MOST_KB_A_RUN = 60.0
#: With fewer runs the scripts that a server loads anew after each kill (1.5 MB) weigh more than what the runs leave.
FEWEST_RUNS = 100


def growing(samples: Sequence[Sample], runs: int) -> list[str]:
    """What grew beyond its bound, one sentence each."""
    wrong = [sentence for name in SUPERVISED for sentence in (*_with_age(samples, name), *_with_time(samples, name))]
    kb = kb_a_run(samples, runs)
    if runs >= FEWEST_RUNS and kb > MOST_KB_A_RUN:
        wrong.append(f"the store grew by {kb:.0f} KB for each run; {MOST_KB_A_RUN:.0f} are allowed")
    return wrong


def kb_a_run(samples: Sequence[Sample], runs: int) -> float:
    """By how much the store grew for each run, from the middle third to the last: by then its scripts are loaded."""
    third = len(samples) // 3
    if not third:
        return 0.0
    middle, last = (median(one.used for one in part) for part in (samples[third : 2 * third], samples[-third:]))
    return (last - middle) / max(1.0, runs / 3) / 1000


def warm(samples: Sequence[Sample], name: str) -> list[Sample]:
    """The samples in which this process had lived longer than its warm-up; one that just died has no memory."""
    return [one for one in samples if one.at - one.born.get(name, 0.0) > WARM_UP_S and one.rss[name]]


def slope_with_age(samples: Sequence[Sample], name: str) -> tuple[float, float]:
    """MB an hour by which a warm process grows while it lives, and the standard error of that.

    Each life has a level of its own, so only differences within a life count.
    """
    lives: dict[float, list[tuple[float, float]]] = defaultdict(list)
    for one in warm(samples, name):
        lives[one.born.get(name, 0.0)].append((one.at, one.rss[name] / MB))
    points = [point for life in lives.values() for point in _centred(life)]
    spread = sum(at * at for at, _ in points)
    free = len(points) - len(lives) - 1
    if not spread or free < 1:
        return 0.0, float("inf")
    slope = sum(at * size for at, size in points) / spread
    rest = sum((size - slope * at) ** 2 for at, size in points)
    return slope * 3600, sqrt(rest / free / spread) * 3600


def _centred(life: list[tuple[float, float]]) -> list[tuple[float, float]]:
    at, size = (sum(values) / len(life) for values in zip(*life, strict=True))
    return [(one_at - at, one_size - size) for one_at, one_size in life]


def _with_age(samples: Sequence[Sample], name: str) -> list[str]:
    slope, error = slope_with_age(samples, name)
    if len(warm(samples, name)) < FEWEST or slope - CERTAIN * error <= MOST_MB_AN_HOUR:
        return []
    return [f"{name} grows by {slope:.0f} MB an hour while it lives; {MOST_MB_AN_HOUR:.0f} are allowed"]


def _with_time(samples: Sequence[Sample], name: str) -> list[str]:
    third = len(samples) // 3
    first, last = (warm(part, name) for part in (samples[:third], samples[-third:]))
    if min(len(first), len(last)) < FEWEST / 3:
        return []
    more = (median(one.rss[name] for one in last) - median(one.rss[name] for one in first)) / MB
    if more <= MOST_LATER_MB:
        return []
    return [f"{name} needs {more:.0f} MB more at the end than at the beginning; {MOST_LATER_MB:.0f} are allowed"]
