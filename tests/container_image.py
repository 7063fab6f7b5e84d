"""`make image`: builds deploy/Containerfile with podman, docker or buildah, whichever is here and answers."""

import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FILE = "deploy/Containerfile"
#: In the order in which they are tried. `info` fails where a daemon that is needed does not run.
ENGINES = ("podman", "docker", "buildah")
_ANSWERS_S = 30


class NoEngine(Exception):
    """Nothing here can build an image; the text says what to do."""


def engine() -> str:
    """The first engine that answers.

    Raises:
        NoEngine: none does.
    """
    here = [name for name in ENGINES if shutil.which(name)]
    for name in here:
        if _answers(name):
            return name
    if here:
        raise NoEngine(f"{' and '.join(here)} cannot build here; see `{here[0]} info` (is its daemon running?).")
    raise NoEngine("Building the image needs podman, docker or buildah. Install one, for example podman.")


def command(name: str, tag: str) -> list[str]:
    """What builds the image, from the root of the checkout."""
    return [name, "bud" if name == "buildah" else "build", "-f", FILE, "-t", tag, "."]


def build(name: str, tag: str) -> int:
    """Build; the engine's exit code."""
    return subprocess.run(command(name, tag), cwd=ROOT, check=False).returncode


def main() -> int:
    """Exit code 0, the engine's, or 1 after one sentence where there is no engine."""
    tag = sys.argv[1] if len(sys.argv) > 1 else "vobo"
    try:
        return build(engine(), tag)
    except NoEngine as missing:
        sys.stderr.write(f"{missing}\n")
        return 1


def _answers(name: str) -> bool:
    try:
        told = subprocess.run([name, "info"], capture_output=True, timeout=_ANSWERS_S, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return told.returncode == 0


if __name__ == "__main__":
    sys.exit(main())
