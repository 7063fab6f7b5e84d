"""Runs what we compare ourselves with, in an environment of its own that is made once from `bench/peers.lock`."""

import json
import os
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
PLACE = HERE.parent / ".var" / "bench-peers"
LOCK = HERE / "peers.lock"
PATIENCE_S = 300
_KEPT = {"PATH", "HOME", "LANG", "TMPDIR", "SSL_CERT_FILE"}


@dataclass(frozen=True, slots=True)
class Ran:
    """What a peer's script found; or, in `problem`, why nothing was measured."""

    found: list[dict[str, Any]] = field(default_factory=list)
    versions: dict[str, str] = field(default_factory=dict)
    problem: str = ""


def peer_python() -> Path:
    """The interpreter that has the peers, made first if need be. vobo's own environment is not touched.

    Raises:
        subprocess.CalledProcessError: they cannot be installed here.
    """
    python, done = PLACE / "bin" / "python", PLACE / "lock"
    if done.exists() and done.read_bytes() == LOCK.read_bytes():
        return python
    sys.stderr.write("Setting up the peers to compare with (a minute or two, once)\n")
    subprocess.run([sys.executable, "-m", "venv", "--clear", PLACE], check=True)  # noqa: S603 - ours
    install = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--require-hashes", "-r", LOCK]
    subprocess.run(install, check=True, capture_output=True)  # noqa: S603 - ours
    done.write_bytes(LOCK.read_bytes())
    return python


def run_peer(script: str, extra: dict[str, str]) -> Ran:
    """One script of `bench/peers` to its end; its last line is JSON."""
    try:
        python = peer_python()
    except subprocess.CalledProcessError as failed:
        return Ran(problem=f"the peers cannot be installed here ({_last(failed.stderr) or failed.returncode})")
    environment = {name: value for name, value in os.environ.items() if name in _KEPT} | extra
    command = [python, HERE / "peers" / script]
    try:
        done = subprocess.run(  # noqa: S603 - ours
            command, env=environment, capture_output=True, check=True, timeout=PATIENCE_S
        )
    except subprocess.CalledProcessError as failed:
        return Ran(problem=f"it failed: {_last(failed.stderr)}")
    except subprocess.TimeoutExpired:
        return Ran(problem=f"it did not end within {PATIENCE_S} s")
    told = json.loads(done.stdout.splitlines()[-1])
    return Ran(told["found"], told["versions"])


def _last(text: bytes | None) -> str:
    lines = (text or b"").decode(errors="replace").strip().splitlines()
    return lines[-1][:200] if lines else ""
