"""What a look at the data of a waiting call found, in the words of its card, its windows and its confirm."""

from collections.abc import Sequence

from approvals.drifts import Drift
from approvals.lifecycle import State
from approvals.models import Call
from bot.blocks import Block, leaf, line, when
from bot.language import HOLE, around, say, say_count


def drift_of(call: Call) -> Drift | None:
    """What is not as it was sealed, while somebody can still decide by it."""
    return call.drifted if _waits(call) else None


def drift_lines(call: Call) -> list[Block]:
    """What a reviewer must know before deciding: what has changed, and that it could not be looked up. A line each."""
    found, drift = [], drift_of(call)
    if drift and call.looked_at:
        found.append(_line(_changed(drift), call.looked_at))
    if call.look_failed_at and _waits(call):
        said = say(
            "The data could not be looked up again at {time}. It will be checked before anything runs.", time=HOLE
        )
        found.append(_line(said, call.look_failed_at))
    return found


def look_lines(call: Call) -> list[Block]:
    """The same for a window, which also tells when nothing was found different."""
    told = drift_lines(call)
    if told or not call.looked_at or not _waits(call):
        return told
    before, after = around(say("Looked up again at {time}: nothing has changed.", time=HOLE))
    return [line(leaf(before), when(call.looked_at), leaf(after))]


def drift_rows(call: Call) -> str:
    """Row by row what has changed; these are the data's own words."""
    drift = drift_of(call)
    if drift is None:
        return ""
    more = [say_count(drift.more, "and {number} more", "and {number} more")] if drift.more else []
    return "\n".join((*drift.lines, *more))


def drift_asked(calls: Sequence[Call]) -> str:
    """For the question before an approval: that the data of some of these has changed. Empty when it has not."""
    drifts = [drift for drift in map(drift_of, calls) if drift]
    if len(calls) == 1 and drifts:
        rows = _rows(drifts[0])
        return say("The data has changed: {rows}", rows=rows) if rows else say("The data has changed")
    if not drifts:
        return ""
    return say_count(
        len(drifts), "The data of {number} call has changed", "The data of {number} calls has changed"
    )  # which ones, the card says


def _waits(call: Call) -> bool:
    return call.state is State.PENDING_REVIEW and not call.refreshing


def _changed(drift: Drift) -> str:
    if drift.refused:
        return say(
            "It could not run on the data as it is now (looked at {time}). It will be checked again before"
            " anything runs.",
            time=HOLE,
        )
    again = say("It will be checked again before anything runs; what changed comes back for review.")
    rows = _rows(drift)
    if not rows:
        return f"{say('The data has changed since it was proposed (looked at {time}).', time=HOLE)} {again}"
    said = say("The data has changed since it was proposed (looked at {time}): {rows}.", time=HOLE, rows=rows)
    return f"{said} {again}"


def _rows(drift: Drift) -> str:
    """`2 of 38 rows`; empty when no row did, but something else that is known."""
    if not drift.rows:
        return ""
    return say_count(drift.of, "{changed} of {number} row", "{changed} of {number} rows", changed=f"{drift.rows:,}")


def _line(said: str, at: int) -> Block:
    before, after = around(said)
    return line(leaf("⚠ "), leaf(before, bold=True), when(at), leaf(after, bold=True))
