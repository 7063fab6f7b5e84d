"""How long an effect that nobody hears of may still be at work, so that "not found" says nothing yet."""

from approvals.outcomes import Answer

#: Beyond a tool's own time limit: a request that was on its way when the worker went.
MARGIN_MS = 30_000
#: A worker that is there says so every ten seconds; for so long it is believed.
PRESENT_MS = 30_000


def left_ms(answer: Answer) -> int | None:
    """For how long "it did not happen" cannot be taken yet; None when that is not why it was refused."""
    told = answer.detail.get("at_work_ms")
    return int(told) if told else None
