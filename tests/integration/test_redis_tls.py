"""Redis over TLS: trusted or refused with a sentence that says what to change."""

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest
import redis

from approvals import redis_check
from approvals.redis_check import RedisUnreachable, check_server, connect
from stack import until
from tests.integration.desk import Desk
from tls_front import Authority, front

HOST = "127.0.0.1"


@pytest.fixture
def authority(tmp_path: Path) -> Authority:
    return Authority.made(tmp_path)


@pytest.fixture
def socket(valkey_url: str, redis_client: redis.Redis) -> str:
    return urlsplit(valkey_url).path


@pytest.fixture
def port(socket: str, authority: Authority) -> Iterator[int]:
    with front(socket, authority.context(HOST)) as made:
        yield made


def refusal(url: str) -> str:
    with pytest.raises(RedisUnreachable) as refused:
        check_server(connect(url))
    assert "s3cret" not in str(refused.value)
    return str(refused.value)


def test_a_server_whose_authority_is_named_is_used(port: int, authority: Authority) -> None:
    client = connect(f"rediss://{HOST}:{port}/0?ssl_ca_certs={authority.file}")
    assert check_server(client) == []
    assert client.set("a", "b")
    assert client.get("a") == b"b"


def test_a_worker_forks_jobs_over_an_encrypted_connection(port: int, authority: Authority, desk: Desk) -> None:
    url = f"rediss://{HOST}:{port}/0?ssl_ca_certs={authority.file}"
    office = Desk(url, connect(url), desk.notes)
    worker = office.worker()
    try:
        for number in range(4):
            office.queue.enqueue("desk_jobs.note", f"job {number}", tenant="T", attempt=1, timeout_s=30)
        until(lambda: len(office.notes.read_text().splitlines()) == 4, "four jobs ran", 30)
        until(lambda: office.queue.waiting() == 0, "the worker is done", 10)
        assert worker.is_alive(), "a job's process and its parent must not share an encrypted connection"
    finally:
        worker.terminate()
        worker.join(20)


def test_a_certificate_of_an_unknown_authority_is_not_trusted(port: int) -> None:
    said = refusal(f"rediss://:s3cret@{HOST}:{port}/0")
    assert f"The certificate of Redis at REDIS_URL ({HOST}:{port}) is not trusted" in said
    assert "ssl_ca_certs=ca.pem" in said


def test_a_certificate_of_another_host_is_not_trusted(socket: str, authority: Authority) -> None:
    with front(socket, authority.context("elsewhere.example")) as port:
        said = refusal(f"rediss://{HOST}:{port}/0?ssl_ca_certs={authority.file}")
    assert "is not trusted: IP address mismatch" in said


def test_an_encrypted_server_asked_in_clear_is_told_apart_from_one_that_is_down(port: int) -> None:
    assert "REDIS_URL begins with rediss://" in refusal(f"redis://:s3cret@{HOST}:{port}/0")
    assert "rediss" not in refusal(f"redis://{HOST}:1/0")


def test_a_server_without_encryption_is_told_apart_from_one_that_is_down(
    socket: str, authority: Authority, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(redis_check, "ANSWER_TIMEOUT_S", 0.3)  # it waits for the rest of what it takes for a command
    with front(socket, None) as port:
        said = refusal(f"rediss://:s3cret@{HOST}:{port}/0?ssl_ca_certs={authority.file}")
    assert "REDIS_URL begins with redis://" in said


def test_a_server_that_wants_to_know_its_clients_gets_their_certificate(socket: str, authority: Authority) -> None:
    file, key = authority.certificate("a-client")
    with front(socket, authority.context(HOST, clients=True)) as port:
        url = f"rediss://{HOST}:{port}/0?ssl_ca_certs={authority.file}"
        assert "ssl_certfile" in refusal(url)
        assert check_server(connect(f"{url}&ssl_certfile={file}&ssl_keyfile={key}")) == []
