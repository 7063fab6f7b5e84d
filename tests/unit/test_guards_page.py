"""`docs/guards.md` lists exactly the guards there are; `make mutants` writes it."""

import ast
from pathlib import Path

import pytest

from guards import ROOT, all_guards, in_scripts, split
from guards_equivalent import EQUIVALENT
from guards_page import OPEN, PAGE, SAME, rows


def test_the_page_lists_exactly_the_guards_there_are() -> None:
    listed = [name for name, _ in rows(PAGE)]
    assert listed == [guard.name for guard in all_guards()], "run `make mutants`: guards came, went or moved"


def test_every_guard_is_noticed_by_a_test_that_exists_or_its_absence_is_explained() -> None:
    unexplained = []
    for name, noticed in rows(PAGE):
        if noticed == OPEN:
            unexplained.append(name)
        elif noticed.startswith(SAME):
            assert EQUIVALENT.get(name) == noticed.removeprefix(SAME), name
        else:
            file, _, test = noticed.strip("`").partition("::")
            assert test.split("[")[0] in named_tests(ROOT / file), f"{noticed} is no test; run `make mutants`"
    assert unexplained == []


def named_tests(path: Path) -> set[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}


def test_every_explanation_is_about_a_guard_that_exists() -> None:
    assert set(EQUIVALENT) <= {guard.name for guard in all_guards()}


def test_no_two_guards_bear_one_name() -> None:
    names = [guard.name for guard in all_guards()]
    assert len(names) == len(set(names))


def test_each_guard_can_be_taken_away_from_its_file_as_it_is() -> None:
    for guard in all_guards():
        text = (ROOT / guard.file).read_text(encoding="utf-8")
        assert guard.without(text) != text
        with pytest.raises(ValueError, match="run it again"):
            guard.without("\n" + text)


def script(root: Path, *lines: str) -> list[str]:
    folder = root / "approvals" / "scripts"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "verb.lua").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return [guard.change for guard in in_scripts(root)]


def test_each_link_of_an_or_is_a_guard_of_its_own(tmp_path: Path) -> None:
    assert script(tmp_path, "if not c.state or c.token ~= token then return { 'no' } end") == [
        "not c.state → false",
        "c.token ~= token → false",
    ]


def test_an_and_loses_itself_and_each_of_its_links(tmp_path: Path) -> None:
    assert script(tmp_path, "if a == 1 and (b == 2 or c) then") == [
        "a == 1 and (b == 2 or c) → false",
        "a == 1 → true",
        "b == 2 → false",
        "c → false",
        "(b == 2 or c) → true",
    ]


def test_words_in_calls_and_quotes_are_no_links(tmp_path: Path) -> None:
    assert script(tmp_path, "  if f(a or b) == ' or ' then return false end") == ["f(a or b) == ' or ' → false"]


def test_a_chain_of_comparisons_that_is_returned_or_kept_is_a_guard(tmp_path: Path) -> None:
    assert script(
        tmp_path, "return b.token == token and b.epoch == epoch", "local x = a or b", "local y = p and q > 1"
    ) == ["b.token == token → true", "b.epoch == epoch → true", "p → true", "q > 1 → true"]


def test_a_refusal_that_is_turned_round_is_a_guard(tmp_path: Path) -> None:
    assert script(tmp_path, "  return not (fresh and full == '1')") == ["fresh → true", "full == '1' → true"]


def test_a_comment_is_no_guard_and_equal_lines_are_told_apart(tmp_path: Path) -> None:
    assert script(tmp_path, "-- if a then return b end", "if x then y() end", "if x then y() end") == ["x → false"] * 2
    assert [guard.nth for guard in in_scripts(tmp_path)] == [1, 2]


def test_splitting_respects_brackets() -> None:
    text = "a and (b and c) and d"
    assert [text[start:end] for start, end in split(text, 0, len(text), " and ")] == ["a", "(b and c)", "d"]
