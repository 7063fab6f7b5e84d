"""The report of some made-up months; how it looks is looked at by eye, see docs/screens."""

import re
from html.parser import HTMLParser
from typing import Any

import pytest

from approvals.charts import columns, svg
from approvals.report import READ, Report, report
from approvals.report_page import page
from approvals.stories import Stories, stories
from ledger_months import DAY, END, Months

DAYS = 40


@pytest.fixture(scope="module")
def numbers() -> Report:
    return report(Months().fill(DAYS), since=END - DAYS * DAY, until=END, zone="Europe/Madrid")


@pytest.fixture(scope="module")
def shown(numbers: Report) -> str:
    return page(numbers)


def test_every_call_that_was_asked_is_counted_once(numbers: Report) -> None:
    settled = numbers.approved + numbers.edited + numbers.rejected + numbers.expired
    assert settled + numbers.waiting == numbers.asked > 100
    assert sum(rule.asked for rule in numbers.rules) == settled
    assert sum(one.words for one in numbers.reviewers) == settled - numbers.expired
    assert sum(numbers.times) == settled - numbers.expired


def test_cards_are_counted_by_run(numbers: Report) -> None:
    assert sum(runs for _, runs in numbers.cards_per_run) == numbers.runs


def test_a_rule_that_is_always_rejected_and_a_streak_are_suggestions_and_one_hasty_reviewer_a_signal(
    numbers: Report,
) -> None:
    assert [text.partition(":")[0] for text in numbers.suggestions] == [
        "deploy",
        "refund_payments",
        "Neither the rules nor the reviewers have changed in these 39 days.",
    ]
    (signal,) = numbers.signals
    assert signal.startswith("Ana Ruiz decided")


def test_a_rule_that_nobody_touched_for_eight_weeks_is_named_with_how_long_that_is() -> None:
    rows = Months().fill(DAYS)
    changes = Months()
    changes.add("law_changed", END - 100 * DAY, rules="refund_payments deploy send_campaign", law="1")
    changes.add("law_changed", END - 57 * DAY, rules="deploy", law="2")
    changes.add("law_changed", END - 20 * DAY, rules="send_campaign", law="3")
    changes.add("law_changed", END + DAY, rules="refund_payments", law="4")
    found = report(rows, since=END - DAYS * DAY, until=END, zone="UTC", laws=changes.rows)
    unmoved = {rule.tool: rule.unmoved for rule in found.rules}
    assert unmoved == {"refund_payments": 100, "deploy": 57, "send_campaign": 20, "delete_customers": None}
    (said,) = (text for text in found.suggestions if "Not changed for" in text)
    assert "deploy (8 weeks, asked " in said
    assert "refund_payments (14 weeks, asked 134 times)" in said
    assert "send_campaign" not in said
    text = page(found)
    assert "<td>100 days or more</td>" in text
    assert "<td>\u2013</td>" in text


def test_a_young_record_says_that_suggestions_need_time() -> None:
    rows = Months().fill(5)
    assert "suggestions need 21 days of record" in page(report(rows, since=END - DAY * 5, until=END, zone="UTC"))


def test_an_empty_period_has_a_page_too() -> None:
    text = page(report([], since=END - DAY, until=END, zone="UTC"))
    assert "<b>0</b><span>calls asked" in text
    assert "<svg" not in text


def test_the_page_needs_nothing_from_anywhere(shown: str) -> None:
    assert "<script" not in shown
    sources = set(re.findall(r'(?:src|href|url)\s*[=(]\s*["\']?([^"\')\s>]+)', shown))
    assert all(source.startswith("#") for source in sources), sources
    assert set(re.findall(r"https?://[^\s\"<]+", shown)) <= {
        "http://www.w3.org/2000/svg",
        "http://www.w3.org/1999/xlink",
    }


def test_names_are_text_and_never_markup_nor_formulas(shown: str) -> None:
    assert "<b>Okafor" not in shown
    assert "Ben &lt;b&gt;Okafor&lt;/b&gt;" in shown
    assert "Olga Weiß $5" in shown


def test_every_id_of_the_page_is_its_own_and_every_reference_finds_one(shown: str) -> None:
    ids = re.findall(r'\bid="([^"]+)"', shown)
    assert len(ids) == len(set(ids))
    assert set(re.findall(r"url\(#([^)]+)\)", shown)) | set(re.findall(r'href="#([^"]+)"', shown)) <= set(ids)


def test_charts_follow_the_colours_of_the_page(shown: str) -> None:
    drawings = re.findall(r"<svg.*?</svg>", shown, re.DOTALL)
    assert len(drawings) == 4
    for drawing in drawings:
        assert "var(--ink)" in drawing
        assert set(re.findall(r"#[0-9a-fA-F]{6}\b", drawing)) == set()


def test_a_chart_is_drawn_the_same_every_time() -> None:
    assert svg("a", columns(["1"], [2], below="x")) == svg("a", columns(["1"], [2], below="x"))


def test_the_page_is_well_formed(shown: str) -> None:
    void, stack = {"meta", "br", "hr", "img", "link"}, list[str]()

    class Reader(HTMLParser):
        def handle_starttag(self, tag: str, *_: Any) -> None:
            if tag not in void:
                stack.append(tag)

        def handle_endtag(self, tag: str) -> None:
            assert stack.pop() == tag

    Reader().feed(shown)
    assert stack == []


def test_a_report_reads_row_by_row_and_needs_nothing_of_what_was_shown_but_these() -> None:
    rows = Months().fill(DAYS)
    whole = report(rows, since=END - DAYS * DAY, until=END, zone="UTC")
    assert report(iter(rows), since=END - DAYS * DAY, until=END, zone="UTC") == whole
    told = Stories(READ)
    for row in rows:
        told.tell(row)
    for key, call in stories(rows).calls.items():
        for number, shown in call.versions.items():
            assert told.calls[key].versions[number] == {name: shown[name] for name in READ & set(shown)}
        assert (told.calls[key].amount, told.calls[key].resources) == (call.amount, call.resources)
        assert told.calls[key].words == call.words
