from pathlib import Path

from approvals.lifecycle import TABLE
from approvals.lifecycle_doc import document

PAGE = Path(__file__).parents[2] / "docs" / "lifecycle.md"


def test_the_committed_page_is_what_the_table_says() -> None:
    assert PAGE.read_text(encoding="utf-8") == document(), "write docs/lifecycle.md anew, as its first lines say"


def test_every_row_of_the_table_is_in_the_page_and_in_its_diagram() -> None:
    page = document()
    for (verb, source), targets in TABLE.items():
        assert f"| {source} | {verb} |" in page
        for target in targets:
            assert f"    {source} --> {target}: {verb}\n" in page
