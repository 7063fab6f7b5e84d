"""What was typed after `/vobo history`, as a question to the ledger."""

import re
from collections.abc import Collection
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from approvals.questions import Question
from bot.errors import Refused
from bot.language import say
from policies.money import Money, MoneyRefused

#: Without a time of its own a question is about so many days.
DAYS = 7
_HOUR_MS = 3600 * 1000
_DAY_MS = 24 * _HOUR_MS
_USER = re.compile(r"<@([UW][A-Z0-9_]+)(?:\|[^>]*)?>")
_SPAN = re.compile(r"([1-9][0-9]{0,3})([hd])")
_DATE = re.compile(r"20[0-9]{2}-[0-9]{2}-[0-9]{2}")
_OVER = re.compile(r"\bover\s+(\S+)\s+([A-Za-z]{3})\b", re.IGNORECASE)
#: Asks for the starts of processes, which nobody else wants to read.
STARTED = "started"
#: Words for what became of a call -> the events that say so; `settled:failed` is one that was settled as failed.
KINDS: dict[str, tuple[str, ...]] = {
    "approved": ("approved", "approval_counted"),
    "edited": ("edited",),
    "rejected": ("rejected",),
    "expired": ("expired", "lapsed"),
    "executed": ("succeeded", "settled:succeeded"),
    "failed": ("failed", "settled:failed"),
    "unknown": ("unknown",),
    "undone": ("undone", "undo_settled:undone"),
    STARTED: ("law_changed", "configuration_changed"),
    "canary": ("canary_caught", "canary_missed", "canary_unseen"),
    "refused": ("refused", "decision_refused", "decision_late", "press_refused"),
}
#: Decisions and effects: what is shown when no kind is named.
SHOWN = (
    *("approval_counted", "approved", "edited", "rejected", "expired", "lapsed", "refused", "withdrawn", "released"),
    *("revoked", "succeeded", "failed", "unknown", "settled", "undone", "undo_failed", "undo_unknown", "undo_settled"),
    *("canary_caught", "canary_missed", "canary_unseen"),
    *("frozen", "unfrozen", "law_changed"),
)


def read_question(words: str, *, tools: Collection[str], now: int, zone: str) -> Question:
    """A run's id, `@somebody`, a tool, a kind of event, `7d`, a date, `over 250.00 EUR`; what is left is a resource.

    Args:
        words: As they were typed, mentions as Slack escapes them.
        tools: Names that are tools.
        now: The store's clock, ms.
        zone: Where days begin.

    Raises:
        Refused: the words name two things of one kind, or no amount or day.
    """
    asked: dict[str, Any] = {}
    over = _OVER.search(words)
    if over:
        asked["over"] = _amount(over[1], over[2])
        words = words.replace(over[0], " ")
    for word in words.split():
        for name, value in _read(word, tools, now, zone).items():
            if name in asked:
                raise Refused(say("Say one thing of a kind: {word} is one too many.", word=f"`{_tame(word)}`"))
            asked[name] = value
    asked.setdefault("types", SHOWN)
    if not {"since", "run"} & set(asked):
        asked["since"] = now - DAYS * _DAY_MS
    return Question(**asked)


def _read(word: str, tools: Collection[str], now: int, zone: str) -> dict[str, Any]:
    """What one word is about, by the name of the question's field."""
    user, span = _USER.fullmatch(word), _SPAN.fullmatch(word)
    if _DATE.fullmatch(word):
        return _day(word, zone)
    if span:
        return {"since": now - int(span[1]) * (_DAY_MS if span[2] == "d" else _HOUR_MS)}
    if word.lower() in KINDS:
        return _events(KINDS[word.lower()])
    if user or word[:1] == "@":
        return {"by": user[1] if user else word[1:]}
    return {"run" if word.startswith("run_") else "tool" if word in tools else "resource": word}


def _events(kinds: tuple[str, ...]) -> dict[str, Any]:
    pairs = [kind.partition(":") for kind in kinds]
    return {"types": tuple(name for name, _, _ in pairs), "causes": {name: cause for name, _, cause in pairs if cause}}


def _day(text: str, zone: str) -> dict[str, Any]:
    try:
        day = datetime.strptime(text, "%Y-%m-%d").replace(tzinfo=ZoneInfo(zone))
    except ValueError:
        raise Refused(say("{day} is no day.", day=f"`{text}`")) from None
    begin, end = (int(at.astimezone(UTC).timestamp() * 1000) for at in (day, day + timedelta(days=1)))
    return {"since": begin, "until": end}


def _amount(number: str, currency: str) -> Money:
    try:
        return Money.typed(number, currency.upper())
    except (MoneyRefused, ValueError, KeyError):
        raise Refused(say("Write an amount like this: {example}.", example="`over 250.00 EUR`")) from None


def _tame(word: str) -> str:
    return re.sub(r"[^\w.@-]", "", word)[:40]
