"""How long an effect that nobody hears of may still be at work, so that "not found" says nothing yet."""

#: Beyond a tool's own time limit: a request that was on its way when the worker went.
MARGIN_MS = 30_000
#: A worker that is there says so every ten seconds; for so long it is believed.
PRESENT_MS = 30_000
