"""`make image` finds the engine of this machine; where one answers, the image is built and looked at."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import container_image
from container_image import NoEngine, engine
from stack import ROOT

SCRIPT = ROOT / "tests" / "container_image.py"


def engine_here() -> str | None:
    try:
        return engine()
    except NoEngine:
        return None


def an_engine(place: Path, name: str, *, answers: bool = True, builds: bool = True) -> None:
    """A program of this name that writes down what it is asked to build."""
    body = f"""#!/bin/sh
[ "$1" = info ] && exit {0 if answers else 1}
echo "$(basename "$0") $*" >> {place}/asked
pwd >> {place}/asked
exit {0 if builds else 7}
"""
    (place / name).write_text(body)
    (place / name).chmod(0o755)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A place that is searched for programs before all else; nothing in it builds images yet."""
    for name in ("basename", "sh"):
        (tmp_path / name).symlink_to(f"/bin/{name}" if Path(f"/bin/{name}").exists() else f"/usr/bin/{name}")
    return tmp_path


def made(path: Path, *words: str) -> "subprocess.CompletedProcess[str]":
    env = {**os.environ, "PATH": str(path)}
    return subprocess.run([sys.executable, SCRIPT, *words], env=env, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    ("name", "asked"),
    [
        ("podman", "podman build -f deploy/Containerfile -t vobo:test ."),
        ("docker", "docker build -f deploy/Containerfile -t vobo:test ."),
        ("buildah", "buildah bud -f deploy/Containerfile -t vobo:test ."),
    ],
)
def test_the_engine_of_this_machine_builds_the_file_from_the_checkouts_root(name: str, asked: str, path: Path) -> None:
    an_engine(path, name)
    assert made(path, "vobo:test").returncode == 0
    assert (path / "asked").read_text().splitlines() == [asked, str(ROOT)]


def test_one_that_does_not_answer_is_passed_over(path: Path) -> None:
    an_engine(path, "podman", answers=False)
    an_engine(path, "docker")
    assert made(path).returncode == 0
    assert (path / "asked").read_text().startswith("docker build -f deploy/Containerfile -t vobo .")


def test_without_an_engine_one_sentence_says_what_is_missing(path: Path) -> None:
    told = made(path)
    assert (told.returncode, told.stdout) == (1, "")
    assert told.stderr == "Building the image needs podman, docker or buildah. Install one, for example podman.\n"


def test_an_engine_whose_daemon_does_not_run_is_named(path: Path) -> None:
    an_engine(path, "docker", answers=False)
    told = made(path)
    assert told.returncode == 1
    assert told.stderr == "docker cannot build here; see `docker info` (is its daemon running?).\n"


def test_a_build_that_fails_fails(path: Path) -> None:
    an_engine(path, "podman", builds=False)
    assert made(path).returncode == 7


@pytest.mark.skipif(engine_here() is None, reason="no container engine answers on this machine")
def test_where_an_engine_answers_the_image_is_built_and_holds_what_starts() -> None:
    name, tag = engine(), "vobo:gate"
    assert container_image.build(name, tag) == 0
    if name == "buildah":  # it builds and does not run
        return
    tried = "import os, bot, worker, approvals, policies; assert os.getuid() == 10001, os.getuid()"
    subprocess.run([name, "run", "--rm", tag, "python", "-c", tried], check=True, timeout=120)
    for words in (["bot"], ["worker"], ["worker.clock"]):  # without settings each says in sentences what is missing
        told = subprocess.run(
            [name, "run", "--rm", tag, "python", "-m", *words, "--check"],
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert told.returncode == 1
        assert "REDIS_URL" in told.stderr
        assert "Traceback" not in told.stderr
