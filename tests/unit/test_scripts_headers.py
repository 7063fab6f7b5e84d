import re
from pathlib import Path

import pytest

from approvals.outcomes import Outcome
from approvals.scripts import PRELUDE, names, source

FOLDER = Path(__file__).parents[2] / "approvals" / "scripts"
PACKAGE = FOLDER.parent
RAW = {"wakeups_due", "begin_entry"}  # return rows, not an outcome


def lines(name: str) -> list[str]:
    return (FOLDER / f"{name}.lua").read_text(encoding="utf-8").splitlines()


def header(name: str) -> str:
    """The leading comment, as one text."""
    kept = []
    for line in lines(name):
        if not line.startswith("--"):
            break
        kept.append(line.removeprefix("--").strip())
    return "\n".join(kept)


def code(name: str) -> str:
    return "\n".join(line for line in lines(name) if not line.startswith("--"))


@pytest.mark.parametrize("name", names())
def test_a_script_says_what_it_does_takes_and_answers(name: str) -> None:
    text = header(name)
    assert re.match(r"[A-Z].+\.", text), "the first sentence says what the verb does"
    assert "\nKEYS[1] the tenant's prefix\n" in text
    assert "\nARGV    " in text
    assert re.search(r"\n(Answers|Returns) ", text)


@pytest.mark.parametrize("name", names())
def test_the_arguments_in_the_header_are_the_names_in_the_code(name: str) -> None:
    match = re.search(r"^local (.+) = unpack\(ARGV\)$", code(name), re.MULTILINE)
    if match is None:
        assert "reader(ARGV)" in code(name), "arguments get names before anything else"
        return
    described = re.search(r"\nARGV    (.+?)\n(?:Answers|Returns) ", header(name), re.DOTALL)
    assert described is not None
    text = re.sub(r"\([^)]*\)", "", described[1]).partition(", then ")[0]
    first_words = [part.split()[0] for part in text.replace("\n", " ").split(",")]
    assert first_words == [argument.strip() for argument in match[1].split(",")]


@pytest.mark.parametrize("name", sorted(set(names()) - RAW))
def test_the_answers_in_the_header_are_those_in_the_code_and_words_of_the_enum(name: str) -> None:
    described = re.search(r"\nAnswers (.+)$", header(name), re.DOTALL)
    assert described is not None
    promised = {part.split()[0] for part in re.sub(r"[({][^)}]*[)}]", "", described[1]).split("|")}
    assert promised <= set(Outcome)
    written = set(re.findall(r"return \{(?: b\.run and| c\.state and)? '(\w+)'", code(name)))
    written |= set(re.findall(r"or '(\w+)' \}$", code(name), re.MULTILINE)) & set(Outcome)
    assert written <= promised, "the code answers something the header does not promise"


@pytest.mark.parametrize("name", names())
def test_a_script_fits_a_screen_and_names_its_arguments(name: str) -> None:
    assert len(lines(name)) <= 60
    assert max(map(len, lines(name))) <= 120
    bare = re.findall(r"ARGV\[\d+\]", code(name))
    assert bare == [], "arguments are read under a name"
    assert "cjson" not in source(name), "JSON is opaque to scripts: cjson rounds large integers"


def test_every_script_is_used_by_the_package_and_every_used_one_exists() -> None:
    texts = "\n".join(path.read_text(encoding="utf-8") for path in PACKAGE.glob("*.py"))
    assert [name for name in names() if f'"{name}"' not in texts] == []
    asked = set(re.findall(r'\.(?:ask|run)\(\s*"(\w+)"', texts))
    assert asked <= set(names())


def test_the_prelude_stands_in_front_of_every_script_in_its_order() -> None:
    text = source("approve")
    places = [text.index((FOLDER / part).read_text(encoding="utf-8")) for part in PRELUDE]
    assert places == sorted(places)
    assert text.endswith((FOLDER / "approve.lua").read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", [*names(), *(part.removesuffix(".lua") for part in PRELUDE[1:])])
def test_only_the_first_prelude_builds_keys(name: str) -> None:
    assert not re.search(r"\bprefix\b|KEYS\[|vobo:", code(name))
