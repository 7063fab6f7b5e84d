"""The report of a week as ops reads it: the numbers as a message, which a screen reader reads, then the picture."""

from datetime import datetime
from zoneinfo import ZoneInfo

from approvals.canary_record import CanaryRecord
from approvals.weekly import WeekNumbers
from bot.blocks import FALLBACK_TEXT, Block, Message, bullets, context, header, leaf, line, rich
from bot.language import say, say_count, say_list
from bot.text import clip, cut, escaped, one_line

#: Sentences of the report, each at most so long.
_SENTENCES, _LONGEST, _NAME = 6, 400, 60
_MINUTE, _HOUR = 60, 3_600


def render_report(week: WeekNumbers) -> Message:
    """The numbers of one week, what they suggest, and whether a picture follows."""
    title = say("Approvals of week {week}", week=week.week)
    numbers = _numbers(week)
    blocks: list[Block] = [header(title), rich(bullets([line(leaf(text)) for text in numbers]))]
    said = [clip(one_line(text), _LONGEST) for text in (*week.suggestions, *week.signals)][:_SENTENCES]
    if said:
        blocks.append(
            rich(line(leaf(say("Worth a thought; nothing changes by itself:"), bold=True)), bullets(_lines(said)))
        )
    if week.canaries.any:
        blocks.append(rich(line(leaf(_canaries(week.canaries)))))
    blocks.append(context(_note(week)))
    text = ". ".join([title, *numbers])
    return Message(cut(escaped(f"{text}."), FALLBACK_TEXT), blocks)


def render_picture(week: WeekNumbers) -> Message:
    """What stands in for the picture where it is not seen."""
    alt = one_line(week.alt)
    return Message(cut(escaped(alt), FALLBACK_TEXT), [rich(line(leaf(clip(alt, _LONGEST))))])


def file_name(week: str) -> str:
    """What the picture's file is called, by which it is found again."""
    return f"approvals-{week}.png"


def _lines(texts: list[str]) -> list[Block]:
    return [line(leaf(text)) for text in texts]


def _numbers(week: WeekNumbers) -> list[str]:
    settled = say(
        "{approved} approved, {edited} approved with edits, {rejected} rejected, {expired} expired, {waiting} still"
        " waiting",
        approved=week.approved,
        edited=week.edited,
        rejected=week.rejected,
        expired=week.expired,
        waiting=week.waiting,
    )
    asked = say_count(week.asked, "{number} call was asked about", "{number} calls were asked about")
    unasked = say_count(week.unasked, "{number} more ran unasked", "{number} more ran unasked")
    return [
        f"{asked}, {unasked}",
        settled,
        say("Median time to decide: {time}", time=_duration(week.median_s)),
        say_count(week.runs, "{number} run", "{number} runs"),
        say(
            "{budget} refused by a budget or cap, {unknown} unknown outcomes", budget=week.budget, unknown=week.unknown
        ),
    ]


def _canaries(seen: CanaryRecord) -> str:
    """What became of the tests. Who caught one is named; nobody else is."""
    said = say(
        "Tests of whether cards are read, none of which could run: {shown} shown, {caught} caught, {approved} approved,"
        " {unseen} not decided in time.",
        shown=seen.shown,
        caught=seen.found,
        approved=seen.approved,
        unseen=seen.unseen,
    )
    if not seen.caught:
        return said
    names = say_list([cut(one_line(name), _NAME) for name in seen.caught])
    return f"{said} {say('Thank you for reading closely: {names}.', names=names)}"


def _note(week: WeekNumbers) -> str:
    zone = ZoneInfo(week.zone)
    first, last = (datetime.fromtimestamp(at / 1000, zone).date().isoformat() for at in (week.since, week.until - 1))
    more = say("`vobo report` shows more.")
    if not week.picture:
        more = say("The charts are left out: install them with `pip install '.[report]'`. `vobo report` shows more.")
    return f"{first} \u2013 {last}, {week.zone} · {more}"


def _duration(seconds: float | None) -> str:
    if seconds is None:
        return "\u2013"
    if seconds < _MINUTE:
        return say("{number} s", number=f"{seconds:.0f}")
    if seconds < _HOUR:
        return say("{number} min", number=f"{seconds / _MINUTE:.0f}")
    return say("{number} h", number=f"{seconds / _HOUR:.1f}")
