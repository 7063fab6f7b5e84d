"""`vobo doctor` warns before the certificate of Redis runs out, while there is time to renew it."""

import datetime as dt
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import pytest
import redis
from click.testing import CliRunner

from approvals.__main__ import cli
from approvals.certificates import SOON_DAYS, certificate
from approvals.findings import Finding, Level, from_json
from approvals.redis_check import connect
from tls_front import Authority, front

HOST = "127.0.0.1"
HOUR = dt.timedelta(hours=1)
SOON = dt.timedelta(days=SOON_DAYS)


@contextmanager
def encrypted(valkey_url: str, home: Path, lasts: dt.timedelta) -> Iterator[str]:
    """A REDIS_URL whose server's certificate is good for so long."""
    authority = Authority.made(home)
    with front(urlsplit(valkey_url).path, authority.context(HOST, lasts=lasts)) as port:
        yield f"rediss://{HOST}:{port}/0?ssl_ca_certs={authority.file}"


def found(url: str) -> list[Finding]:
    client = connect(url)
    seconds, _ = client.time()
    try:
        return list(certificate(client, seconds * 1000))
    finally:
        client.close()


@pytest.mark.parametrize(
    ("lasts", "level"), [(SOON + HOUR, Level.OK), (SOON - HOUR, Level.WARNING), (HOUR, Level.WARNING)]
)
def test_the_last_three_weeks_of_a_certificate_are_a_warning(
    lasts: dt.timedelta, level: Level, valkey_url: str, redis_client: redis.Redis, tmp_path: Path
) -> None:
    days = [f"{dt.datetime.now(dt.UTC) + lasts:%Y-%m-%d}"]
    with encrypted(valkey_url, tmp_path, lasts) as url:
        (said,) = found(url)
    days.append(f"{dt.datetime.now(dt.UTC) + lasts:%Y-%m-%d}")
    assert (said.about, said.level) == ("certificate", level)
    assert any(day in said.sentence for day in days), "it may be made just before midnight"
    assert ("Renew it" in said.fix) is (level is Level.WARNING)


def test_a_server_without_encryption_has_no_certificate_to_look_at(valkey_url: str) -> None:
    assert found(valkey_url) == []


def test_the_doctor_tells_it(
    shell: Path, valkey_url: str, redis_client: redis.Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(shell)
    with encrypted(valkey_url, shell, HOUR) as url:
        monkeypatch.setenv("REDIS_URL", url)
        said = CliRunner().invoke(cli, ("doctor", "--without", "bot", "--without", "worker", "--json"))
    assert [one.level for one in from_json(said.output) if one.about == "certificate"] == [Level.WARNING]
