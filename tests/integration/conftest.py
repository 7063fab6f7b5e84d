import shutil
import sys
import tempfile
import textwrap
from collections.abc import Iterator
from pathlib import Path

import pytest
import redis

from approvals.redis_check import connect
from approvals.store import Store
from approvals.valkey import ensure_server, stop_server
from bot_office import Office, running
from builders import STATE_KEY, a_store
from tests.integration.desk import JOBS, Desk
from tests.integration.ledger_databases import ledger, ledger_url, postgres
from workshop import REVIEWERS, Workshop

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
def store(redis_client: redis.Redis) -> Store:
    """An empty store whose home team is known."""
    return a_store(redis_client)


@pytest.fixture
def workshop(redis_client: redis.Redis) -> Workshop:
    """A worker with an agent that ships things, over an empty store."""
    return Workshop(a_store(redis_client), redis_client)


@pytest.fixture
def office(valkey_url: str, redis_client: redis.Redis) -> Iterator[Office]:
    """A sandbox workspace with the bot in it, over an empty store."""
    with running(valkey_url, redis_client) as made:
        yield made


@pytest.fixture
def shell(tmp_path: Path, valkey_url: str, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The environment of a shell in which `vobo` is typed, and where its files are."""
    (tmp_path / "reviewers.toml").write_text(REVIEWERS)
    for name, value in {
        "REDIS_URL": valkey_url,
        "VOBO_STATE_KEYS": STATE_KEY,
        "VOBO_REVIEWERS": str(tmp_path / "reviewers.toml"),
        "VOBO_LEDGER_URL": f"sqlite:///{tmp_path / 'ledger.db'}",
        "COLUMNS": "200",
    }.items():
        monkeypatch.setenv(name, value)
    return tmp_path


@pytest.fixture
def desk(valkey_url: str, redis_client: redis.Redis, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Desk]:
    (tmp_path / "desk_jobs.py").write_text(textwrap.dedent(JOBS))
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setenv("DESK_NOTES", str(tmp_path / "notes"))
    (tmp_path / "notes").touch()
    yield Desk(valkey_url, redis_client, tmp_path / "notes")
    sys.modules.pop("desk_jobs", None)
