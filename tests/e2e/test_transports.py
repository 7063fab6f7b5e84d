from pathlib import Path

import pytest

from effects import effects_of
from reviewing import BRUNO, start
from stack import running, until


@pytest.mark.parametrize("transport", ["socket", "http"])
def test_a_mention_becomes_a_card_and_an_approval_becomes_the_effect_over(transport: str, home: Path) -> None:
    with running(home, transport=transport) as stack:
        thread = start(stack, "mail the customers whose payment failed yesterday")
        thread.wait_for_cards(1)
        assert effects_of(stack)["mails"] == []

        thread.approve(BRUNO, "Mail")

        until(lambda: len(effects_of(stack)["mails"]) == 36, "36 mails are sent", 30, home)
        thread.wait_for("Outcome")
        thread.wait_for("stand-in")
        assert len(effects_of(stack)["mails"]) == 36
