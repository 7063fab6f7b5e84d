"""Whatever the bot says to people is in the catalogues, translated, complete, and in the language of who reads it."""

import threading
from pathlib import Path

import pytest
from babel.messages.pofile import read_po

from approvals.outcomes import Answer, Outcome
from approvals.settings import SettingsRefused
from bot.language import (
    HOLE,
    LOCALES,
    around,
    language_of,
    say,
    say_count,
    say_list,
    say_time,
    shipped,
    speaking,
    switch_to,
)
from bot.sentences import sentence
from bot.settings import BotSettings
from messages import brought_up_to_date, found_texts, spoken_files
from spoken import bare_words, kept_words, names_in, prose, unclear

FILES = spoken_files()
TRANSLATED = sorted(shipped() - {"en"})
NOON = 1_780_000_000_000 // 86_400_000 * 86_400_000 + 12 * 3_600_000
MADRID = ("es-ES", "Europe/Madrid")
#: Read at a console or in a log by whoever starts the bot.
CONSOLE = frozenset(
    {
        *("__main__.py", "assembly.py", "check.py", "fleet.py", "http_mode.py", "installations.py", "oauth.py"),
        *("parts.py", "settings.py", "slack_check.py", "slack_client.py", "tokens.py", "transports.py"),
    }
)
#: English on purpose: kept in the ledger or the outbox, or words that people type.
ENGLISH = {
    "authority.py": {
        "Only members of the home workspace may do this; you are from another.",
        "from another workspace",
        "not a full member",
    },
    "app.py": {"not used in Socket Mode"},
    "awaiting.py": {  # for the log and the webhook, where nobody's language is known
        "the bot",
        "Slack does not answer",
        "Until then nobody can decide anything; cards and alerts wait, and deadlines run on.",
    },
    "deciding.py": {"refused at the click"},
    "relay.py": {
        "no ops channel",
        "cannot be rendered",
        "could not be sent",
        "its subject is no longer kept",
        "no thread yet",
        "something unforeseen failed while it was made or sent",
        "A message of ops (",
        ") cannot be made. See the bot's log.",
    },
    "undoing.py": {"refused at the click"},
    "payloads.py": {"Home tab"},
    "replays.py": {"an exact copy of a signed request"},
}
TYPED_WORDS = "starts.py"


def strings(one: object) -> tuple[str, ...]:
    return tuple(map(str, one)) if isinstance(one, list | tuple) else (str(one),)


@pytest.mark.parametrize("language", TRANSLATED)
def test_the_catalogue_holds_exactly_what_the_bot_says(language: str) -> None:
    kept = (LOCALES / language / "vobo.po").read_bytes()
    assert brought_up_to_date(kept, language, found_texts()) == kept, "run `make messages`, then translate what is new"


@pytest.mark.parametrize("language", TRANSLATED)
def test_every_text_is_translated_with_the_same_places_in_it(language: str) -> None:
    with (LOCALES / language / "vobo.po").open("rb") as file:
        catalogue = read_po(file, locale=language)
    assert len(catalogue) > 100
    for one in catalogue:
        english, said = strings(one.id), strings(one.string)
        assert not one.fuzzy or not one.id, f"nobody has looked at {english}"
        assert all(said), f"{english} is not translated"
        if len(english) > 1:
            assert len(said) == catalogue.num_plurals
        counted = {"number"} if len(english) > 1 else set()  # one thing may be told without its number
        for text in said if one.id else ():
            assert names_in(text) - counted == names_in(english[0]) - counted, f"{text!r} has other places"
            assert names_in(text) <= names_in(english[0]) | counted
            assert text[0].isspace() == english[0][0].isspace()


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_texts_are_literals_that_are_translated_when_they_are_read(path: Path) -> None:
    assert list(unclear(path)) == []


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_nothing_is_shown_that_is_in_no_catalogue(path: Path) -> None:
    assert list(bare_words(path)) == []


@pytest.mark.parametrize("path", [path for path in FILES if path.name not in CONSOLE], ids=lambda path: path.name)
def test_sentences_outside_the_catalogue_are_english_on_purpose(path: Path) -> None:
    if path.name != TYPED_WORDS:
        assert set(prose(path)) - ENGLISH.get(path.name, set()) == set()


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_nothing_translated_is_given_to_the_store(path: Path) -> None:
    assert list(kept_words(path)) == []


def test_a_text_that_slips_past_the_catalogue_is_found(tmp_path: Path) -> None:
    bad = tmp_path / "bad.py"
    bad.write_text(
        'TITLE = say("Too early")\n'
        "def shown(name, more):\n"
        '    button("Approve", 1)\n'
        '    leaf(cut(f"by {name}", 3))\n'
        '    context(f"<@{name}> {say(name)}", *["and more"])\n'
        '    return say("{a} of {b}", a=1) or more or f"nobody {name} decided this"\n'
        "    deps.store.calls.note(1, detail=say('No'))\n"
    )
    assert len(list(bare_words(bad))) == 3
    assert set(prose(bad)) == {"and more", " decided this"}
    assert [line.partition(" ")[0] for line in kept_words(bad)] == ["bad.py:7"]
    assert [line.partition(" ")[0] for line in unclear(bad)] == ["bad.py:1", "bad.py:6", "bad.py:5"]


def test_bringing_up_to_date_keeps_what_is_translated_and_drops_what_is_gone() -> None:
    found = found_texts()
    kept = (LOCALES / "es" / "vobo.po").read_bytes()
    old = kept.replace(b'msgid "Approve"\n', b'msgid "Gone"\n')
    new = brought_up_to_date(old, "es", found)
    assert b"Gone" not in new
    assert b'msgid "Approve"\nmsgstr ""\n' in new
    assert b'msgid "Reject"\nmsgstr "Rechazar"\n' in new
    first = brought_up_to_date(b"", "fr", found)
    assert b'msgid "Reject"\nmsgstr ""\n' in first
    assert b"Plural-Forms: nplurals=" in first


@pytest.mark.parametrize(
    ("locale", "language"),
    [
        ("es-ES", "es"),
        ("es_MX", "es"),
        ("es-LA", "es"),  # Slack's Latin America, which elsewhere is Laos
        ("es", "es"),
        ("en-GB", "en"),
        ("fr-FR", "en"),  # not shipped
        ("", "en"),
        ("../../etc", "en"),
    ],
)
def test_a_locale_of_slacks_is_a_language_shipped_or_english(locale: str, language: str) -> None:
    assert language_of(locale) == language
    with speaking(locale):
        assert say("Approve") == {"es": "Aprobar", "en": "Approve"}[language]


def test_what_is_said_is_in_the_innermost_language_and_english_outside() -> None:
    with speaking("es"):
        with speaking("en"):
            assert say("Reject") == "Reject"
        assert say("Reject") == "Rechazar"
    assert say("Reject") == "Reject"


def test_another_thread_speaks_its_own_language() -> None:
    heard: list[str] = []
    with speaking("es"):
        thread = threading.Thread(target=lambda: heard.append(say("Reject")))
        thread.start()
        thread.join()
    assert heard == ["Reject"]


def test_a_reader_who_becomes_known_is_spoken_to_in_their_language_until_the_end() -> None:
    switch_to(*MADRID)  # nobody is being spoken to
    assert say("Reject") == "Reject"
    with speaking("en"):
        switch_to(*MADRID)
        assert (say("Reject"), say_time(NOON)) == ("Rechazar", "14:00")
    assert say("Reject") == "Reject"


def test_one_is_told_from_many_and_thousands_are_grouped_as_amounts_are() -> None:
    def calls(number: int) -> str:
        return say_count(number, "{number} call to decide", "{number} calls to decide")

    assert (calls(1), calls(0), calls(2000)) == ("1 call to decide", "0 calls to decide", "2,000 calls to decide")
    with speaking("es"):
        assert (calls(1), calls(2000)) == ("1 llamada por decidir", "2,000 llamadas por decidir")


@pytest.mark.parametrize(
    ("locale", "zone", "time"),
    [
        ("es-ES", "Europe/Madrid", "14:00"),
        ("en-US", "America/New_York", "8:00 AM"),
        ("en-GB", "Europe/London", "13:00"),
        ("en", None, "12:00 UTC"),
        ("es-ES", "Mars/Olympus", "12:00 UTC"),
        ("es-ES", "", "12:00 UTC"),
    ],
)
def test_an_instant_is_told_in_the_readers_zone_and_notation(locale: str, zone: str | None, time: str) -> None:
    with speaking(locale, zone):
        assert say_time(NOON) == time


def test_names_are_listed_as_the_language_joins_them() -> None:
    names = ["Ana", "Bruno", "Olga"]
    assert say_list(names) == "Ana, Bruno and Olga"
    with speaking("es-ES"):
        assert say_list(names) == "Ana, Bruno y Olga"
    assert (say_list([]), say_list(["Ana"])) == ("", "Ana")


def test_a_text_is_split_around_its_hole() -> None:
    assert around(f"by {HOLE}, today") == ("by ", ", today")
    assert around("by nobody") == ("by nobody", "")


@pytest.mark.parametrize("outcome", Outcome)
def test_every_answer_of_the_store_is_told_in_the_readers_language(outcome: Outcome) -> None:
    detail = {"name": "Olga", "verdict": "approve", "at": str(NOON), "state": "approved", "cap": "day", "missing": "1"}
    english = sentence(Answer(outcome, detail))
    with speaking(*MADRID):
        spanish = sentence(Answer(outcome, detail))
    assert english != spanish
    if outcome is Outcome.ALREADY_DECIDED:
        assert (english, spanish) == ("Already approved by Olga at 12:00 UTC.", "Ya la aprobó Olga (14:00).")


def test_a_language_that_is_not_shipped_is_refused_with_the_ones_that_are() -> None:
    fields = {
        "redis_url": "redis://nowhere",
        "state_keys": "k",
        "bot_token": "xoxb-1",
        "signing_secret": "s",
        "port": 1,
    }
    assert BotSettings.read(_env_file=None, **fields).language == "en"
    assert BotSettings.read(_env_file=None, **fields, language="es").language == "es"
    with pytest.raises(SettingsRefused) as refused:
        BotSettings.read(_env_file=None, **fields, language="xx")
    assert str(refused.value).startswith("VOBO_LANGUAGE is wrong: it is none of the languages shipped (en, es).")
    assert "for example en or es" in str(refused.value)
