import re
from collections import Counter
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from block_rules import READ, assert_message, assert_view, every
from bot.blocks import Message
from bot.language import ENGLISH, shipped, speaking
from bot.modals import View
from bot.text import hides
from every_screen import SCREENS, assert_slack_takes, forgotten
from screen_words import Words

TOKEN = re.compile(r"<[^<>\n]*>?")
#: What Slack makes something of in mrkdwn.
LIVE = re.compile(rf"{TOKEN.pattern}|:[a-z0-9_+'\-]+:")
LIVE_LEAVES = {"user", "usergroup", "channel", "broadcast", "team", "link", "emoji", "color"}
TOKENS = "<!channel> <@UEVIL> <https://evil.example|Approve in portal> *b* _i_ ~s~ `c` &lt;!here&gt; :tada: <#CEVIL>"
HIDDEN = "pay \u202e00.999\u202c \u200b\u2066\U000e0041\x1b[2K\x00\u3164\ufeff\u00ad\u2028 now"
#: The screens that have most to say.
LONGEST = (
    *("card of eight", "card partly decided", "outcome of a hundred", "opening"),
    *("answer, completed", "answer, stopped", "notice to an editor", "details: plain", "review of eight"),
    *("edit 100 lines", "reminder at half", "direct message with a link", "alert: budget"),
)


def live(screen: Message | View) -> set[str]:
    """Everything on a screen that mentions, links or turns into a picture."""
    found = {token for text in marked_up(screen) for token in LIVE.findall(text)}
    found |= {token for text in plain(screen) for token in TOKEN.findall(text)}
    leaves = [one for one in every(parts(screen)) if one.get("type") in LIVE_LEAVES]
    return found | {str({name: one[name] for name in sorted(one) if name != "style"}) for one in leaves}


def marked_up(screen: Message | View) -> list[str]:
    """The texts in which Slack looks for mark-up."""
    texts = [one["text"] for one in every(parts(screen)) if one.get("type") == "mrkdwn"]
    return [*texts, screen.text] if isinstance(screen, Message) else texts


def plain(screen: Message | View) -> list[str]:
    """Texts in which Slack should look for nothing; that it decodes no token in them is nowhere written."""
    found = [one for one in every(parts(screen)) if one.get("type") == "plain_text"]
    assert not any(one["emoji"] for one in found)
    return [one["text"] for one in found]


def parts(screen: Message | View) -> Any:
    return screen.blocks if isinstance(screen, Message) else screen


def formatting(screen: Message | View) -> Counter[str]:
    """How often each sign that formats stands where it would."""
    return Counter(sign for text in marked_up(screen) for sign in re.findall(r"[*~`]", text))


def assert_inert(name: str, hostile: str) -> None:
    """A hostile text adds nothing live, no formatting and nothing invisible to a screen."""
    screen, ordinary = SCREENS[name](Words(hostile)), SCREENS[name](Words())
    assert_slack_takes(screen)
    assert live(screen) <= live(ordinary)
    assert formatting(screen) <= formatting(ordinary)
    shown = [one[field] for one in every(parts(screen)) for field in READ & set(one) if field != "initial_value"]
    assert not any(hides(text.replace("⟨", "")) for text in shown if isinstance(text, str))
    assert all(one.get("verbatim") for one in every(parts(screen)) if one.get("type") == "mrkdwn")


@pytest.mark.parametrize("name", SCREENS)
def test_slack_takes_every_screen_by_two_oracles_and_our_own_rules(name: str) -> None:
    assert_slack_takes(SCREENS[name](Words()))


@pytest.mark.parametrize("language", sorted(shipped() - {ENGLISH}))
def test_slack_takes_every_screen_in_every_language(language: str) -> None:
    with speaking(language):
        for make in SCREENS.values():
            assert_slack_takes(make(Words()))


def test_no_renderer_is_forgotten_in_the_list() -> None:
    assert forgotten(SCREENS.values()) == []


def test_a_renderer_that_no_screen_uses_is_named() -> None:
    without = [make for name, make in SCREENS.items() if not name.startswith("outcome")]
    assert forgotten(without) == ["outcome.py: render_outcome"]


@pytest.mark.parametrize("hostile", [TOKENS, HIDDEN, ""])
def test_no_hostile_text_is_live_on_any_screen_or_makes_slack_refuse_it(hostile: str) -> None:
    for name in SCREENS:
        assert_inert(name, hostile)


@pytest.mark.parametrize("hostile", ["A" * 100_000, "字&" * 10_000, "\u202e\n" * 2_500])
@pytest.mark.parametrize("name", LONGEST)
def test_no_huge_text_makes_slack_refuse_a_screen(name: str, hostile: str) -> None:
    assert_inert(name, hostile)


def test_no_screen_outgrows_its_room_whatever_people_are_called() -> None:
    for make in SCREENS.values():
        screen = make(Words("A" * 20_000))
        assert_message(screen) if isinstance(screen, Message) else assert_view(screen)


_CHARACTERS = st.sampled_from(
    "<>!@#&|*_~`:abc\n\t ⟨⟩\u202e\u200b\u2066\U000e0041\x1b\ufe0f\u3164é😀字"
) | st.characters(codec="utf-8")
_SHORT = st.text(_CHARACTERS, max_size=300)
_LONG = st.builds(lambda piece, times: (piece * times)[:5_000], st.text(_CHARACTERS, max_size=12), st.integers(2, 1000))


@settings(max_examples=80, deadline=None)
@example("card escalated", "0@\x1b\x80")  # the name of a place holds what nobody sees
@given(st.sampled_from(sorted(SCREENS)), _SHORT | _LONG)
def test_no_text_at_all_is_live_on_a_screen_or_makes_slack_refuse_it(name: str, hostile: str) -> None:
    assert_inert(name, hostile)
