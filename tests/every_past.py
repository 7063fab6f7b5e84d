"""Every window about the past, and the weekly report."""

from collections.abc import Callable, Iterator
from typing import Any

from approvals.canary_record import CanaryRecord
from approvals.history import Past
from approvals.ledger_rows import LedgerRow
from approvals.questions import Found
from approvals.stories import stories
from approvals.weekly import WeekNumbers
from bot.ids import Place
from bot.modals import View
from bot.past_modal import history_modal, timeline_modal
from bot.past_text import HIDDEN, SAID
from bot.weekly_text import render_picture, render_report
from bot_builders import NOW
from policies.strict_json import write_json
from screen_words import Words

RUN = Place(ref="run_000000000001", channel="C_REFUNDS", thread_ts="1780000000.000100")
WORDS = RUN.model_copy(update={"ref": "refund_payments 7d"})
KINDS = ("run_started", *SAID, "settled", "undo_settled", "something_new", *sorted(HIDDEN))


def past(words: Words, kinds: tuple[str, ...] = KINDS, *, whole: bool = True) -> Past:
    """One event of each kind, about one call."""
    shown = {"headline": words.must("Refund 1 payment, 312.40 EUR"), "resources": ["pay_0009"]}
    rows = [_row(words, number, kind, shown) for number, kind in enumerate(kinds, start=1)]
    told = stories(rows).calls
    return Past(tuple(Found(row, told.get(row.body.get("call", ""))) for row in rows), whole)


def _row(words: Words, number: int, kind: str, shown: dict[str, Any]) -> LedgerRow:
    body = {
        "type": kind,
        "run": "run_000000000001",
        "call": "call_000000000001",
        "batch": "batch_000000000001",
        "version": "2" if number % 2 else "1",
        "tool": words.must("refund_payments"),
        "actor": "" if number % 3 == 0 and kind != "run_started" else "U0001",
        "name": words.of("Bruno Billing"),
        "reason": words.of("wrong customer"),
        "state": "pending_review",
    }
    body |= {"kept": write_json(shown)} if kind == "proposed" else {}
    return LedgerRow(number, f"{number}-0", NOW + number * 1_000, kind, body, "0" * 64, body)


def windows() -> Iterator[tuple[str, Callable[[Words], View]]]:
    """Timelines and histories."""
    for page in (0, 1, 9):
        place = RUN.model_copy(update={"page": page})
        yield f"timeline, page {page}", lambda w, place=place: timeline_modal(w.run(), past(w), place)
        place = WORDS.model_copy(update={"page": page})
        yield f"history, page {page}", lambda w, place=place: history_modal(past(w), place, "What fits `7d`.")
    yield "timeline of a run that left Redis", lambda w: timeline_modal(None, past(w), RUN)
    yield "timeline without the database", lambda w: timeline_modal(w.run(), past(w, whole=False), RUN)
    yield "history of nothing", lambda w: history_modal(past(w, ()), WORDS, "Decisions and effects of the last 7 days.")


def reports() -> Iterator[tuple[str, Callable[[Words], Any]]]:
    """The weekly report, with and without a picture and sentences."""
    yield "weekly report", lambda w: render_report(_week(w))
    yield "weekly report, no picture", lambda w: render_report(_week(w, picture=False, suggestions=(), signals=()))
    for caught in ((), ("Bruno Billing",) * 9):
        name = f"weekly report with canaries, {len(caught)} caught"
        yield name, lambda w, caught=caught: render_report(_week(w, canaries=_canaries(w, caught)))
    for seconds in (None, 30.0, 4_000.0):
        name = f"weekly report, {seconds} s to decide"
        yield name, lambda w, seconds=seconds: render_report(_week(w, median_s=seconds))
    yield "weekly picture", lambda w: render_picture(_week(w))


def _canaries(words: Words, caught: tuple[str, ...]) -> CanaryRecord:
    names = tuple(words.must(name) for name in caught)
    return CanaryRecord(shown=1_234, found=len(caught), caught=names, approved=2, unseen=0)


def _week(words: Words, **changes: Any) -> WeekNumbers:
    counts = dict.fromkeys(("runs", "asked", "unasked", "approved", "edited", "rejected", "expired", "waiting"), 1_234)
    fields = {
        "week": "2026-W48",
        "since": NOW - 604_800_000,
        "until": NOW,
        "zone": "Europe/Madrid",
        **counts,
        "budget": 0,
        "unknown": 1,
        "median_s": 240.0,
        "suggestions": (words.of("deploy: all 42 were rejected."),) * 9,
        "signals": (words.of("Ana decided 12 of 14 times faster than the card can be read."),),
        "picture": True,
        "alt": words.must("refund_payments: 41 asked"),
    }
    return WeekNumbers.model_validate({**fields, **changes})
