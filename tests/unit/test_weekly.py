"""When the weekly report is due, and how it reads."""

from datetime import UTC, datetime
from io import BytesIO
from zoneinfo import ZoneInfo

import matplotlib.image as mpl_image
import pytest

from approvals.report import report
from approvals.report_picture import MOST_BARS, alt_text, picture
from approvals.weekly import MOST_BYTES, WeekNumbers
from bot.weekly_text import render_picture, render_report
from ledger_months import DAY, END, Months
from worker.weekly import week_due


def at(text: str, zone: str = "UTC") -> int:
    return int(datetime.fromisoformat(text).replace(tzinfo=ZoneInfo(zone)).timestamp() * 1000)


@pytest.mark.parametrize(
    ("now", "zone", "monday"),
    [
        ("2026-11-30T08:59:59", "Europe/Berlin", None),
        ("2026-11-30T09:00", "Europe/Berlin", "2026-11-23"),
        ("2026-12-02T08:59", "Europe/Berlin", "2026-11-23"),
        ("2026-12-02T09:00", "Europe/Berlin", None),
        ("2026-11-29T12:00", "Europe/Berlin", None),
        ("2026-03-30T09:00", "Europe/Berlin", "2026-03-23"),  # summer time began on the Sunday before
        ("2026-10-26T09:00", "Europe/Berlin", "2026-10-19"),  # and ended on this one
        ("2027-01-04T09:30", "America/New_York", "2026-12-28"),
    ],
)
def test_the_report_of_a_week_is_due_on_the_next_monday_at_nine_in_the_teams_zone(
    now: str, zone: str, monday: str | None
) -> None:
    due = week_due(at(now, zone), zone)
    assert (due.strftime("%Y-%m-%dT%H:%M") if due else None) == (f"{monday}T00:00" if monday else None)


def test_a_week_is_named_as_the_standard_names_it() -> None:
    due = week_due(at("2027-01-04T09:30"), "UTC")
    assert due is not None
    assert due.isocalendar()[:2] == (2026, 53)


def test_a_picture_is_a_png_that_fits_into_the_store_and_has_words_of_its_own() -> None:
    numbers = report(Months().fill(40), since=END - 7 * DAY, until=END, zone="Europe/Madrid")
    drawn = picture(numbers)
    assert len(drawn) < MOST_BYTES / 2
    pixels = mpl_image.imread(BytesIO(drawn))
    assert pixels.shape[1] == 1120
    assert pixels.shape[0] > pixels.shape[1], "upright, for phones"
    assert (pixels[2, 2, :3] == 1).all(), "on white"
    text = alt_text(numbers)
    assert "22 November to 29 November 2026" in text
    assert "refund_payments: " in text


def test_a_picture_of_nothing_and_of_very_much_can_be_drawn() -> None:
    nothing = report([], since=END - DAY, until=END, zone="UTC")
    assert picture(nothing).startswith(b"\x89PNG")
    assert "Nobody was asked anything" in alt_text(nothing)
    months = Months()
    for number in range(60):
        place = {"run": "run_1", "batch": "b", "call": f"c{number}", "tool": f"tool_{number}", "version": 1}
        months.add("proposed", END - DAY, **place, state="pending_review", kept='{"characters":1}')
        months.add("approved", END - DAY + 1, **place, actor=f"U0{number}", name=f"Person {number}")
    numbers = report(months.rows, since=END - DAY, until=END, zone="UTC")
    assert len(picture(numbers)) < MOST_BYTES
    assert alt_text(numbers).count("asked") == MOST_BARS


def a_week(**changes: object) -> WeekNumbers:
    fields = {
        "week": "2026-W48",
        "since": at("2026-11-23T00:00"),
        "until": at("2026-11-30T00:00"),
        "zone": "UTC",
        "runs": 9,
        "asked": 41,
        "unasked": 1,
        "approved": 30,
        "edited": 4,
        "rejected": 3,
        "expired": 2,
        "waiting": 2,
        "budget": 0,
        "unknown": 1,
        "median_s": 240.0,
        "picture": True,
        "alt": "refund_payments: 41 asked",
    }
    return WeekNumbers.model_validate({**fields, **changes})


def test_the_message_says_every_number_in_words_that_a_screen_reader_reads() -> None:
    message = render_report(a_week())
    for words in ("2026-W48", "41 calls", "1 more ran unasked", "30 approved", "4 approved with edits", "3 rejected",
                  "2 expired", "2 still waiting", "4 min", "9 runs", "1 unknown outcome"):  # fmt: skip
        assert words in message.text, words
        assert words in str(message.blocks), words
    assert "2026-11-23 \u2013 2026-11-29" in str(message.blocks)
    assert "pip install" not in str(message.blocks)


def test_a_report_without_a_picture_says_how_to_get_one_and_suggestions_are_marked_as_such() -> None:
    message = render_report(a_week(picture=False, suggestions=("deploy: all 42 were rejected.",), signals=("<!here>",)))
    assert "pip install '.[report]'" in str(message.blocks)
    assert "nothing changes by itself" in str(message.blocks)
    assert "deploy: all 42" in str(message.blocks)
    assert "<!here>" not in message.text
    assert render_picture(a_week(alt="")).text == ""
    assert datetime.fromtimestamp(a_week().since / 1000, UTC).day == 23
