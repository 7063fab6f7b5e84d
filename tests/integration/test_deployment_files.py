"""What deploy/ and the Procfile name exists and starts; nothing in them kills an effect that is at work."""

import configparser
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest
import redis

import container_steps
from approvals.settings import Settings
from bot.sandbox import Workspace
from bot_office import STATE_KEY
from free_ports import free_port
from stack import ROOT, until
from worker.assembly import prepared
from worker.check import inspected

UNITS = sorted((ROOT / "deploy").glob("*.service"))
STEPS = container_steps.steps(container_steps.FILE.read_text())


def procfile() -> dict[str, list[str]]:
    lines = (ROOT / "Procfile").read_text().splitlines()
    return {name: command.split() for name, _, command in (line.partition(":") for line in lines)}


@pytest.fixture(scope="module")
def environment(valkey_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """What an installation puts into its environment, and nothing of this checkout."""
    home = tmp_path_factory.mktemp("home")
    redis.Redis.from_url(valkey_url).flushall()
    shop = f"sqlite:///{home / 'shop.db'}"
    load = [sys.executable, "-m", "worker.refund_desk.shop", "load"]
    subprocess.run(load, env={"VOBO_SHOP_URL": shop, "PYTHONPATH": str(ROOT)}, cwd=home, check=True, timeout=60)
    with Workspace.serve() as slack:
        yield {
            "PATH": os.environ["PATH"],
            "REDIS_URL": valkey_url,
            "VOBO_STATE_KEYS": STATE_KEY,
            "VOBO_LEDGER_URL": f"sqlite:///{home / 'ledger.db'}",
            "VOBO_SHOP_URL": shop,
            "SLACK_BOT_TOKEN": "xoxb-sandbox",
            "SLACK_APP_TOKEN": "xapp-sandbox",
            "SLACK_API_URL": slack.api_url,
        }


def checked(python: Path | str, words: list[str], env: dict[str, str], cwd: Path) -> None:
    done = subprocess.run(
        [python, *words, "--check"], env=env, cwd=cwd, capture_output=True, text=True, check=False, timeout=90
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "can start" in done.stdout


@pytest.mark.parametrize("name", ["bot", "worker", "clock"])
def test_every_line_of_the_procfile_can_start(name: str, environment: dict[str, str], tmp_path: Path) -> None:
    assert sorted(procfile()) == ["bot", "clock", "worker"]
    python, *words = procfile()[name]
    assert python == "python"
    checked(sys.executable, words, {**environment, "PYTHONPATH": str(ROOT)}, tmp_path)


def test_the_container_file_names_only_what_exists_and_needs_no_root() -> None:
    assert list(container_steps.problems(STEPS)) == []


def test_the_engine_gets_what_the_container_file_copies_and_nothing_else() -> None:
    lines = container_steps.FILE.with_name("Containerfile.dockerignore").read_text().splitlines()
    let_through = {line.removeprefix("!") for line in lines if line.startswith("!")}
    assert "*" in lines
    assert let_through == {source for sources, _ in container_steps.copies(STEPS) for source in sources}


@pytest.mark.parametrize(
    ("was", "becomes", "sentence"),
    [
        ("FROM python:3.12-slim\n", "FROM registry.example/python:3.12-slim\n", "names a registry"),
        ("COPY worker", "COPY wroker", "no such file"),
        ("COPY worker ./worker", "COPY . .", "secrets"),
        ("USER 10001\n", "", "runs as root"),
        ("--require-hashes ", "", "hashes"),
        ("--no-deps ", "", "may fetch"),
        ("COPY requirements.lock ./\n", "", "not copied"),
    ],
)
def test_a_careless_change_of_the_container_file_is_told(was: str, becomes: str, sentence: str) -> None:
    text = container_steps.FILE.read_text()
    assert was in text
    told = container_steps.problems(container_steps.steps(text.replace(was, becomes)))
    assert any(sentence in problem for problem in told)


def test_what_the_container_installs_starts_away_from_the_checkout_and_answers_its_health_check(
    environment: dict[str, str], tmp_path: Path
) -> None:
    python = container_steps.install(STEPS, tmp_path / "image")
    away = tmp_path / "away"
    away.mkdir()
    where = subprocess.run(
        [python, "-c", "import bot; print(bot.__file__)"], cwd=away, capture_output=True, text=True, check=True
    ).stdout
    assert str(tmp_path) in where, "the package itself is tried, not the checkout"
    for _, *words in procfile().values():
        checked(python, words, environment, away)

    env = {**environment, "VOBO_HEALTH_PORT": str(free_port())}
    _, *probe = container_steps.health_command(STEPS)

    def lives() -> bool:
        return subprocess.run([python, *probe], env=env, check=False, stderr=subprocess.DEVNULL).returncode == 0

    assert not lives()
    clock = subprocess.Popen([python, *procfile()["clock"][1:]], env=env, cwd=away)
    try:
        until(lives, "the health check succeeds", 30)
    finally:
        clock.terminate()
        assert clock.wait(20) == 0


def unit(path: Path) -> configparser.ConfigParser:
    read = configparser.ConfigParser(strict=False, interpolation=None)
    read.optionxform = str  # type: ignore[assignment,method-assign]
    read.read_string(path.read_text())
    return read


@pytest.mark.parametrize("path", UNITS, ids=lambda path: path.name)
def test_a_systemd_unit_starts_what_the_procfile_starts_and_ends_it_gently(path: Path) -> None:
    service = unit(path)["Service"]
    _, *words = service["ExecStart"].split()
    assert ["python", *words] in procfile().values()
    # control-group would send SIGTERM to a tool's own programs; process would leave them behind.
    assert service["KillMode"] == "mixed"
    assert service["Restart"] == "always"
    assert int(service["TimeoutStopSec"]) >= 30


def values(path: Path, key: str) -> list[str]:
    """Every value of a key of the service, which systemd takes several times, in order."""
    found = (line.partition("=") for line in path.read_text().splitlines())
    return [value for name, _, value in found if name == key]


def health_ports(path: Path, instance: str = "1") -> list[str]:
    set_here = (value for line in values(path, "Environment") for value in line.split())
    return [
        value.removeprefix("VOBO_HEALTH_PORT=").replace("%i", instance)
        for value in set_here
        if value.startswith("VOBO_HEALTH_PORT=")
    ]


def test_all_units_of_one_machine_can_listen_at_the_same_time() -> None:
    ports = [port for path in UNITS for port in health_ports(path)]
    ports += [
        port
        for path in UNITS
        if "@" in path.name
        for number in range(2, 10)
        for port in health_ports(path, f"{number}")
    ]
    assert len(ports) == len(UNITS) + 8
    assert len(set(ports)) == len(ports)
    assert all(1024 <= int(port) <= 65535 for port in ports)


@pytest.mark.parametrize("path", UNITS, ids=lambda path: path.name)
def test_a_unit_starts_on_a_fresh_machine_and_can_write_what_it_keeps(path: Path) -> None:
    (writable,) = values(path, "ReadWritePaths")
    optional, where = writable[:1], writable[1:]
    assert optional == "-", "systemd refuses to start a unit whose ReadWritePaths is missing"
    service = unit(path)["Service"]
    kept = Path(service["WorkingDirectory"], urlsplit(Settings.model_fields["ledger_url"].default).path.lstrip("/"))
    assert where == str(kept.parent)
    (before,) = values(path, "ExecStartPre")
    assert before.startswith("+"), "as root, outside of the unit's read-only view"
    assert before.split()[1:] == ["-d", "-o", service["User"], "-g", service["User"], "-m", "0700", where]


def test_systemd_waits_for_a_worker_longer_than_any_action_of_the_sample_may_take(
    environment: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    found = prepared()
    loaded = inspected(found).agents
    longest = max(door.timeout_s for agents in loaded for door in agents.doors.values())
    assert longest >= 1
    service = unit(ROOT / "deploy" / "vobo-worker@.service")["Service"]
    assert int(service["TimeoutStopSec"]) > longest
    told = re.search(r"--stop-timeout (\d+)", container_steps.FILE.read_text())
    assert told
    assert int(told[1]) > longest


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="there is no systemd on this machine")
def test_systemd_itself_finds_nothing_wrong_with_the_units(tmp_path: Path) -> None:
    for path in UNITS:
        name = path.name.replace("@", "@1")
        text = path.read_text().replace("/srv/vobo/.venv/bin/python", sys.executable).replace("User=vobo\n", "")
        (tmp_path / name).write_text(text)
        done = subprocess.run(
            ["systemd-analyze", "verify", "--man=no", tmp_path / name], capture_output=True, text=True, check=False
        )
        about_ours = [line for line in done.stderr.splitlines() if path.name.partition("@")[0] in line]
        assert about_ours == []
