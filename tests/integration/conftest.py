import shutil
import sys
import tempfile
import textwrap
from collections.abc import Iterator
from pathlib import Path

import pytest
import redis

from approvals.redis_check import connect
from approvals.valkey import ensure_server, stop_server
from tests.integration.desk import JOBS, Desk
from tests.integration.ledger_databases import ledger, ledger_url, postgres

__all__ = ["ledger", "ledger_url", "postgres"]  # fixtures of a file of their own


@pytest.fixture(scope="session")
def valkey_url() -> Iterator[str]:
    """A real server of this test session. No server is a failure, never a skip."""
    data = Path(tempfile.mkdtemp(prefix="vk-"))  # short: a socket path holds about a hundred bytes
    try:
        yield ensure_server(data).url
    finally:
        stop_server(data)
        shutil.rmtree(data)


@pytest.fixture
def redis_client(valkey_url: str) -> Iterator[redis.Redis]:
    """A client of an empty server."""
    client = connect(valkey_url)
    client.flushall()
    yield client
    client.close()


@pytest.fixture
def desk(valkey_url: str, redis_client: redis.Redis, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Desk]:
    (tmp_path / "desk_jobs.py").write_text(textwrap.dedent(JOBS))
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setenv("DESK_NOTES", str(tmp_path / "notes"))
    (tmp_path / "notes").touch()
    yield Desk(valkey_url, redis_client, tmp_path / "notes")
    sys.modules.pop("desk_jobs", None)
