"""Every message and modal in every language: Slack takes it, no label is cut, and no other language shows through."""

import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

from block_rules import every
from bot.blocks import Message
from bot.language import shipped, speaking
from every_screen import SCREENS, assert_slack_takes
from messages import found_texts
from screen_words import Words
from spoken import names_in

TRANSLATED = sorted(shipped() - {"en"})


def english_sentences() -> Iterator[tuple[str, ...]]:
    """The texts of at least four words, in pieces: what stands between their places."""
    for one in found_texts():
        for text in one.id if isinstance(one.id, list | tuple) else [one.id]:
            pieces = tuple(piece for piece in re.split(r"\{\w+\}", str(text)) if piece.strip(" .:;,*`"))
            if len(re.findall(r"[A-Za-z]{2,}", " ".join(pieces))) >= 4:
                yield pieces


def stands_in(pieces: tuple[str, ...], text: str) -> bool:
    """Whether all pieces stand there in their order."""
    at = 0
    for piece in pieces:
        found = text.find(piece, at)
        if found < 0:
            return False
        at = found + len(piece)
    return True


def labels(screen: Message | dict[str, Any]) -> list[str]:
    """Texts that Slack shows in one short piece, in their order."""
    blocks = screen.blocks if isinstance(screen, Message) else screen
    return [one["text"] for one in every(blocks) if one.get("type") == "plain_text"]


def shown(screen: Message | dict[str, Any]) -> str:
    """Everything there is to read, in one piece."""
    texts = [screen.text] if isinstance(screen, Message) else []
    texts += [
        str(one["text"]) for one in every(screen.blocks if isinstance(screen, Message) else screen) if "text" in one
    ]
    return "\n".join(text for text in texts if not text.startswith("{"))


@pytest.mark.parametrize("language", TRANSLATED)
@pytest.mark.parametrize("name", SCREENS)
def test_slack_takes_every_screen_in_every_language_and_no_label_is_cut(name: str, language: str) -> None:
    english = labels(SCREENS[name](Words()))
    with speaking(language):
        screen = SCREENS[name](Words())
    assert_slack_takes(screen)
    said = labels(screen)
    assert len(said) == len(english)
    for ours, theirs in zip(said, english, strict=True):
        assert theirs.endswith("…") or not ours.endswith("…"), f"{ours!r} was cut; in English it is {theirs!r}"


@pytest.mark.parametrize("language", TRANSLATED)
def test_no_english_sentence_is_left_on_a_screen_of_another_language(language: str) -> None:
    sentences = list(english_sentences())
    assert len(sentences) > 100
    left: dict[str, str] = {}
    met = 0
    for name, make in SCREENS.items():
        english = shown(make(Words()))
        met += any(stands_in(sentence, english) for sentence in sentences)
        with speaking(language):
            text = shown(make(Words()))
        left |= {"…".join(sentence): name for sentence in sentences if stands_in(sentence, text)}
    assert left == {}
    assert met > len(SCREENS) / 2, "what is looked for is there in English"


@pytest.mark.parametrize("language", sorted(shipped()))
def test_buttons_that_read_alike_are_told_apart_by_a_screen_reader(language: str) -> None:
    with speaking(language):
        screens = {name: make(Words()) for name, make in SCREENS.items()}
    repeated = 0
    for name, screen in screens.items():
        blocks = screen.blocks if isinstance(screen, Message) else screen
        buttons = [one for one in every(blocks) if one.get("type") == "button"]
        texts = Counter(one["text"]["text"] for one in buttons)
        alike = [one for one in buttons if texts[one["text"]["text"]] > 1]
        labels_ = [one.get("accessibility_label") for one in alike]
        assert all(labels_), f"{name}: {alike}"
        assert len(set(labels_)) == len(labels_), f"{name}: {labels_}"
        repeated += len(alike)
    assert repeated > 100


def test_places_are_named_alike_in_one_and_many() -> None:
    for one in found_texts():
        if isinstance(one.id, list | tuple):
            first, second = (names_in(text) - {"number"} for text in one.id)
            assert first == second, one.id
