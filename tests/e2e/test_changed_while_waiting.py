"""The shop's data changes while a card waits: bot, worker and clock as processes of their own."""

import sqlite3
from contextlib import closing
from pathlib import Path

from reviewing import BRUNO, start, text_of
from stack import running, until


def test_a_reviewer_who_opens_the_details_reads_what_changed_in_the_shop_since(home: Path) -> None:
    with running(home) as stack:
        thread = start(stack, "refund yesterday's failed payments")
        thread.wait_for_cards(1)
        with closing(sqlite3.connect(stack.shop_url.removeprefix("sqlite:///"))) as shop, shop:
            shop.execute("UPDATE payments SET status = 'disputed' WHERE payment_id = 'pay_0001'")
        thread.press(BRUNO, "call.details", "Refund 38")
        card = thread.wait_for("The data has changed since it was proposed")
        assert "1 of 38 rows" in text_of(card)
        until(lambda: "status failed -> disputed" in str(stack.slack.view(BRUNO)), "the window tells the row", 30, home)
