"""A pytest plugin for `tests/mutants.py`: which scripts each test runs, and which test fails first."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from approvals.scripts import Scripts

#: Where the report goes; set by whoever starts pytest with this plugin.
REPORT = "VOBO_GUARD_REPORT"


class Watching:
    """Collects over one session."""

    def __init__(self, report: Path) -> None:
        self._report = report
        self._scripts: dict[str, set[str]] = {}
        self._seconds: dict[str, float] = {}
        self._failed: list[str] = []
        self._now = ""

    def ran(self, script: str) -> None:
        """A script was run, by the test that is at work."""
        self._scripts.setdefault(self._now, set()).add(script)

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        self._now = nodeid

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self._seconds[report.nodeid] = self._seconds.get(report.nodeid, 0) + report.duration
        if report.failed:
            self._failed.append(report.nodeid)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self._failed.append(report.nodeid)

    def pytest_sessionfinish(self) -> None:
        scripts = {test: sorted(ran) for test, ran in self._scripts.items()}
        found = {"scripts": scripts, "seconds": self._seconds, "failed": self._failed}
        self._report.write_text(json.dumps(found), encoding="utf-8")


def pytest_configure(config: pytest.Config) -> None:
    watching = Watching(Path(os.environ[REPORT]))
    original = Scripts.run

    def run(self: Scripts, name: str, *arguments: Any) -> list[Any]:
        watching.ran(name)
        return original(self, name, *arguments)

    Scripts.run = run  # type: ignore[method-assign]
    config.pluginmanager.register(watching, "guard-watch")
