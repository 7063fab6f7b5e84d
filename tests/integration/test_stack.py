"""The processes that the demo and the tests start read nothing of the checkout's own `.env`."""

from pathlib import Path

from approvals.valkey import stop_server
from stack import ROOT, Stack


def test_they_run_where_no_env_file_is(tmp_path: Path) -> None:
    stack = Stack(tmp_path / "home")
    stack.prepare()
    try:
        where = Path(stack.run("-c", "import os, worker; print(os.getcwd())").strip())
    finally:
        stop_server(stack.home / "valkey")

    assert where == stack.home.resolve()
    assert where != ROOT
    assert not (where / ".env").exists()
