import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.text import clip, hides, inert, listed, mask, one_line, pieces, plain, visible

HOSTILE = st.text(
    alphabet=st.sampled_from("<>!@#&|*_~`:abc\n\t ⟨⟩\u202e\u200b\u2066\U000e0041\x1b\ud800\ufe0f\u3164é😀")
    | st.characters()
)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("pay \u202e00.999\u202c now", "pay ⟨U+202E⟩00.999⟨U+202C⟩ now"),
        ("ok\U000e0061", "ok⟨U+E0061⟩"),
        ("\x1b[2Ksafe", "⟨U+001B⟩[2Ksafe"),
        ("a\u200bb", "a⟨U+200B⟩b"),
        ("blank\u3164name", "blank⟨U+3164⟩name"),
        ("half\ud83d", "half⟨U+D83D⟩"),
        ("typed ⟨U+202E⟩", "typed ⟨U+27E8⟩U+202E⟩"),
        ("two\nlines\tand a tab", "two\nlines\tand a tab"),
        ("thanks ❤\ufe0f", "thanks ❤\ufe0f"),
    ],
)
def test_hidden_characters_are_spelled_out(text: str, shown: str) -> None:
    assert visible(text) == shown


def test_a_literal_escape_is_not_called_hidden() -> None:
    assert not hides("⟨U+202E⟩")
    assert hides("a\u202eb")


@given(HOSTILE)
def test_nothing_inert_can_mention_link_format_or_hide(text: str) -> None:
    safe = inert(text)
    assert not set("<>*~`\n") & set(safe)
    assert not hides(safe.replace("⟨", ""))
    assert "&" not in safe.replace("&amp;", "").replace("&lt;", "").replace("&gt;", "")
    safe.encode()


@given(HOSTILE)
def test_plain_text_opens_no_token_either(text: str) -> None:
    assert "<" not in plain(text)
    assert "\n" not in plain(text)


def test_an_underscore_inside_a_name_stays() -> None:
    assert inert("refund_payments of _you_") == "refund_payments of \uff3fyou\uff3f"


def test_a_long_text_keeps_its_tail_and_counts_the_gap() -> None:
    text = "A" * 5000 + " ; ALSO DELETE cus_0001"
    short = clip(text, 300)
    assert len(short) <= 300
    assert short.endswith("DELETE cus_0001")
    assert "characters more" in short


@given(st.text(), st.integers(min_value=1, max_value=200))
def test_a_clipped_text_is_never_longer_than_asked(text: str, most: int) -> None:
    assert len(clip(text, most)) <= most


def test_masked_values_that_differ_look_different() -> None:
    first, second = mask("anna@example.test", "call_1"), mask("anne@example.test", "call_1")
    assert first != second
    assert "example" not in first
    assert mask("anna@example.test", "call_1") == first


def test_lines_are_joined_visibly() -> None:
    assert one_line("one\n\n two ") == "one ⏎ two"


def test_names_are_listed_as_a_sentence_lists_them() -> None:
    assert listed(["A", "B", "C"]) == "A, B and C"
    assert listed(["A"]) == "A"
    assert listed([]) == ""


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a" + "\u00a0" * 300 + "tail", "a⟨300 x U+00A0⟩tail"),
        ("a" + " " * 40 + "tail", "a⟨40 x U+0020⟩tail"),
        ("a" + "\n" * 300 + "tail", "a\n⟨300 x U+000A⟩\ntail"),
        ("a" + "\u00a0\u2003" * 150 + "tail", "a⟨150 x U+00A0, 150 x U+2003⟩tail"),
        ("a" + "\t " * 8 + "tail", "a⟨8 x U+0009, 8 x U+0020⟩tail"),
        ("two\n\nparagraphs   and spaces", "two\n\nparagraphs   and spaces"),
    ],
)
def test_blanks_that_push_a_tail_out_of_sight_are_counted(text: str, shown: str) -> None:
    assert visible(text) == shown


@given(
    st.lists(st.sampled_from(["word", "a &amp; b", "<https://x.test|two words>", "&lt;" * 9]), min_size=1),
    st.booleans(),
)
def test_a_long_answer_is_cut_between_lines_or_words_and_never_in_a_link_or_an_escape(
    words: list[str],
    lines: bool,  # noqa: FBT001 - drawn
) -> None:
    text = ("\n" if lines else " ").join(words)
    found = list(pieces(text, 40))
    assert all(0 < len(one) <= 40 for one in found)
    assert "".join(found).replace("\n", "") == text.replace("\n", "")
    for one in found:
        assert one.count("<") == one.count(">")
        assert one.count("&") == one.count(";")
