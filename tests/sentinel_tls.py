"""`python tests/sentinel_tls.py /usr/bin/redis-server`: a failover with everything encrypted, on real servers.

By hand, and not in the gate: the embedded Valkey is built without TLS, and a Redis with it is to be installed first.
"""

import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

import redis  # noqa: E402 - below the paths of this checkout, as all that follows
from rich.console import Console  # noqa: E402

from approvals.redis_check import RedisUnreachable, check_server, connect  # noqa: E402
from approvals.store import Store  # noqa: E402
from approvals.vault import Vault  # noqa: E402
from builders import STATE_KEY, TEAM, TENANT, a_call, approve, loaded, paused  # noqa: E402
from sentinels import PASSWORD, Trio  # noqa: E402
from tls_front import Authority  # noqa: E402


@dataclass
class EncryptedTrio(Trio):
    """Servers, replicas and Sentinels that speak TLS alone, to each other too."""

    authority: Authority | None = None

    def listening(self, port: int) -> list[str]:
        """No port without encryption."""
        certificate, key = self.trusted().certificate("127.0.0.1")
        return [
            "port 0",
            f"tls-port {port}",
            f"tls-cert-file {certificate}",
            f"tls-key-file {key}",
            f"tls-ca-cert-file {self.trusted().file}",
            "tls-auth-clients no",
            "tls-replication yes",
        ]

    def client(self, port: int, **options: Any) -> redis.Redis:
        """Trusts the authority alone."""
        return super().client(port, host="127.0.0.1", ssl=True, ssl_ca_certs=str(self.trusted().file), **options)

    def trusting(self, authority: Authority) -> str:
        """REDIS_URL of somebody who trusts this one."""
        return self.url(f"&ssl=true&ssl_ca_certs={authority.file}")

    def trusted(self) -> Authority:
        """Whose certificates the servers show."""
        assert self.authority is not None
        return self.authority


def decide(url: str, run: str, call: str) -> str:
    """Pause a run with one call and approve it, over connections that are made for it."""
    store = Store.open(connect(url), Vault.from_text(STATE_KEY), tenant=TENANT)
    store.people.set_home_team(TEAM)
    paused(store, a_call(call, batch=f"batch_{run}"), run=run)
    assert approve(store, call).ok
    return loaded(store, call).state


def refused(url: str) -> str:
    """The sentence with which this address is refused."""
    try:
        check_server(connect(url))
    except RedisUnreachable as error:
        return str(error)
    raise AssertionError("it was let in")


def main() -> None:
    """Print what was seen; an assertion ends it."""
    say = Console(width=110)
    with tempfile.TemporaryDirectory(prefix="vs-") as home:
        place, other = Path(home), Path(home) / "other"
        other.mkdir()
        trio = EncryptedTrio(place, binary=Path(sys.argv[1]), authority=Authority.made(place))
        try:
            trio.start()
            url = trio.trusting(trio.trusted())
            say.print("warnings:", check_server(connect(url)))
            say.print("before the failover:", decide(url, "run_1", "call_1"))
            trio.client(trio.primary(), password=PASSWORD).wait(1, 2000)
            store = Store.open(connect(url), Vault.from_text(STATE_KEY), tenant=TENANT)
            say.print("failed over to", trio.fail_over())
            say.print("kept, by a connection from before:", loaded(store, "call_1").state)
            say.print("after the failover:", decide(url, "run_2", "call_2"))
            say.print("another authority:", refused(trio.trusting(Authority.made(other))))
            say.print("unencrypted:", refused(trio.url()))
        finally:
            trio.stop()


if __name__ == "__main__":
    main()
