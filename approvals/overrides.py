"""Variables of the terminal that win over a `.env` which says something else: by name, never by value."""

import os
from collections.abc import Iterator, Mapping
from pathlib import Path

from dotenv import dotenv_values

from approvals.findings import Finding, warning
from approvals.settings import DOT_ENV


def overridden(file: Path, environment: Mapping[str, str]) -> tuple[str, ...]:
    """The names that both set, differently. What is empty in the environment does not count, as it is not read."""
    if not file.is_file():
        return ()
    written = dotenv_values(file)
    return tuple(sorted(name for name, text in written.items() if environment.get(name, "") not in {"", text}))


def overrides(file: Path = Path(DOT_ENV)) -> Iterator[Finding]:
    """One finding about all of them; most often a terminal in which something else was tried before."""
    names = overridden(file, os.environ)
    if names:
        yield warning(
            "settings",
            f"This terminal sets {', '.join(names)}, which wins over what {file} says.",
            f"Use another terminal, or `unset {' '.join(names)}`, if {file} is meant.",
        )
