"""The ledger's databases for tests: each test gets a fresh one, on SQLite and on PostgreSQL."""

import itertools
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import create_engine, text

from approvals.ledger import Ledger
from tests.private_postgres import PrivatePostgres, private_postgres

_numbers = itertools.count(1)


@pytest.fixture(scope="session")
def postgres() -> Iterator[PrivatePostgres]:
    with private_postgres() as server:
        yield server


def fresh_database(postgres: PrivatePostgres) -> str:
    """A new, empty database of this server."""
    name = f"ledger_{os.getpid()}_{next(_numbers)}"  # `make mutants` runs tests in forks that share the server
    server = create_engine(postgres.url("postgres"), isolation_level="AUTOCOMMIT")
    with server.connect() as connection:
        connection.execute(text(f"CREATE DATABASE {name}"))
    server.dispose()
    return postgres.url(name)


@pytest.fixture(params=["sqlite", "postgresql"])
def ledger_url(request: Any, tmp_path: Path) -> str:
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'ledger.db'}"
    return fresh_database(request.getfixturevalue("postgres"))


@pytest.fixture
def ledger(ledger_url: str) -> Iterator[Ledger]:
    opened = Ledger.open(ledger_url)
    yield opened
    opened.engine.dispose()
