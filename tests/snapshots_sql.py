"""What a version left in SQL, so that the next one can be tried on it: ledger, recordings and installations.

python tests/snapshots_sql.py 0.1.0    records tests/snapshots/0.1.0.sqlite.sql.gz and 0.1.0.postgresql.sql.gz with
                                       today's code
"""

import gzip
import os
import sqlite3
import subprocess
import sys
import tempfile
from contextlib import closing
from pathlib import Path

import redis
from slack_sdk.oauth.installation_store import Installation
from sqlalchemy import create_engine

from approvals.anchoring import Anchoring
from approvals.anchors import Signer
from approvals.drain import drain_once
from approvals.ledger import Ledger
from approvals.redis_check import connect
from approvals.valkey import ensure_server, stop_server
from approvals.vault import Vault
from bot.installations import Installations
from builders import STATE_KEY
from private_postgres import PrivatePostgres, binaries, private_postgres
from refund_desk import TEAM, RefundDesk, a_shop
from snapshots import HERE, recorded

DIALECTS = ("sqlite", "postgresql")
CLIENT, TOKEN = "111.222", "xoxb-of-the-workspace"
DATABASE = "vobo"


def snapshot_of(version: str, dialect: str) -> Path:
    """Where it lies."""
    return HERE / f"{version}.{dialect}.sql.gz"


def fill(url: str, client: redis.Redis, version: str) -> None:
    """The runs of the other snapshot, drained and anchored, and one workspace that has installed the app."""
    client.flushall()
    with tempfile.TemporaryDirectory(prefix="vobo-") as home:
        os.environ["VOBO_SHOP_URL"] = shop = f"sqlite:///{home}/shop.db"
        desk = RefundDesk(client, a_shop(shop))
        recorded(client, desk, version)
    ledger, vault = Ledger.open(url), Vault.from_text(STATE_KEY)
    while drain_once(desk.store, ledger):
        continue
    Anchoring(desk.store, ledger, Signer.of(vault), every_ms=0)()
    installations = Installations.open(url, CLIENT, vault)
    installations.save(
        Installation(app_id="A1", team_id=TEAM, bot_token=TOKEN, bot_id="B1", bot_user_id="U0BOT", user_id="U1")
    )
    ledger.engine.dispose()
    installations.engine.dispose()


def dumped_sqlite(path: Path) -> str:
    """Everything in it as SQL."""
    with closing(sqlite3.connect(path)) as database:
        return "\n".join(database.iterdump())


def dumped_postgres(server: PrivatePostgres, name: str) -> str:
    """Everything in it as SQL that any client can run: no commands of psql."""
    command = [str(binaries() / "pg_dump"), "--inserts", "--no-owner", "--no-privileges", "-h", str(server.home)]
    made = subprocess.run([*command, name], capture_output=True, text=True, check=True, **server.rights)
    return "\n".join(line for line in made.stdout.splitlines() if not line.startswith(("\\", "--")))


def restore(url: str, snapshot: Path) -> None:
    """Put it into an empty database."""
    text = gzip.decompress(snapshot.read_bytes()).decode()
    engine = create_engine(url)
    with closing(engine.raw_connection()) as connection:
        if engine.dialect.name == "sqlite":
            connection.driver_connection.executescript(text)
        else:
            connection.driver_connection.execute(text)
            connection.commit()
    engine.dispose()


def main(version: str) -> None:
    """Record both with today's code."""
    dumps = {}
    with tempfile.TemporaryDirectory(prefix="vobo-") as home, private_postgres() as server:
        client = connect(ensure_server(Path(home)).url)
        try:
            fill(f"sqlite:///{home}/vobo.db", client, version)
            dumps["sqlite"] = dumped_sqlite(Path(home, "vobo.db"))
            with create_engine(server.url("postgres"), isolation_level="AUTOCOMMIT").connect() as maintenance:
                maintenance.exec_driver_sql(f"CREATE DATABASE {DATABASE}")
            fill(server.url(DATABASE), client, version)
            dumps["postgresql"] = dumped_postgres(server, DATABASE)
        finally:
            stop_server(Path(home))
    for dialect, text in dumps.items():
        path = snapshot_of(version, dialect)
        path.write_bytes(gzip.compress(text.encode(), mtime=0))
        sys.stdout.write(f"{path.name}: {path.stat().st_size // 1000} KB\n")


if __name__ == "__main__":
    main(sys.argv[1])
