"""Goes through deploy/Containerfile without an engine: what it names exists, and what it installs can start.

It does not prove that the base image exists or that the lock installs there; an engine does. It does prove that
the installed package, away from this checkout, holds all that the processes read.
"""

import json
import re
import shutil
import subprocess
import sys
import sysconfig
import venv
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FILE = ROOT / "deploy" / "Containerfile"
_HOST = re.compile(r"^[^/]+\.[^/]+/")


@dataclass(frozen=True)
class Step:
    """One instruction of one stage (counted from 0)."""

    stage: int
    verb: str
    rest: str


def steps(text: str) -> list[Step]:
    """The instructions in order."""
    joined = re.sub(r"\\\n\s*", "", "\n".join(line for line in text.splitlines() if not line.lstrip().startswith("#")))
    found: list[Step] = []
    stage = -1
    for line in filter(None, (line.strip() for line in joined.splitlines())):
        verb, _, rest = line.partition(" ")
        stage += verb == "FROM"
        found.append(Step(stage, verb, rest.strip()))
    return found


def of(found: list[Step], verb: str, stage: int | None = None) -> list[str]:
    """What follows a verb, in one stage or in all."""
    return [step.rest for step in found if step.verb == verb and stage in {None, step.stage}]


def copies(found: list[Step]) -> list[tuple[list[str], str]]:
    """(sources, target) of everything that is copied out of the checkout."""
    split = [rest.split() for rest in of(found, "COPY") if not rest.startswith("--from=")]
    return [(words[:-1], words[-1]) for words in split]


def health_command(found: list[Step]) -> list[str]:
    """What the engine runs to see whether the process lives."""
    (rest,) = of(found, "HEALTHCHECK")
    command: list[str] = json.loads(rest.partition("CMD ")[2])
    return command


def problems(found: list[Step], root: Path = ROOT) -> Iterator[str]:
    """What is wrong with the file, in sentences."""
    last = max(step.stage for step in found)
    for image in of(found, "FROM"):
        if _HOST.match(image):
            yield f"FROM {image} names a registry; name the image alone."
    for source in (source for sources, _ in copies(found) for source in sources):
        if not (root / source).exists():
            yield f"COPY {source}: there is no such file."
        if source in {".", "./", "*"} or source.startswith(".env"):
            yield f"COPY {source} would take secrets along; name what is needed."
    if not of(found, "USER", last) or of(found, "USER", last)[-1] in {"root", "0"}:
        yield "The image runs as root; end with USER."
    installs = [run for run in of(found, "RUN") if "pip install" in run]
    if not installs or "--require-hashes" not in installs[0]:
        yield "The first pip install does not check the hashes of requirements.lock."
    if any("--no-deps" not in run for run in installs[1:]):
        yield "A later pip install may fetch what the lock does not name; give it --no-deps."
    if not any(name.startswith("requirements.lock") for sources, _ in copies(found) for name in sources):
        yield "requirements.lock is not copied."


def install(found: list[Step], place: Path) -> Path:
    """Copy what the file copies and run its last pip install, offline; the Python that then has the package.

    The locked packages are those of the running environment.
    """
    for sources, target in copies(found):
        for source in sources:
            into = place / target / (source if target.endswith("./") else "")
            if (ROOT / source).is_dir():
                shutil.copytree(ROOT / source, into, ignore=shutil.ignore_patterns("__pycache__"))
            else:
                into.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(ROOT / source, into)
    venv.create(place / ".venv", with_pip=False, symlinks=True)
    python = place / ".venv" / "bin" / "python"
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    target = place / ".venv" / "lib" / version / "site-packages"
    (arguments,) = [run for run in of(found, "RUN") if "--no-build-isolation" in run]
    pip = [sys.executable, "-m", "pip", *arguments.split()[1:], "--no-index", "--target", str(target), "--quiet"]
    subprocess.run(pip, cwd=place, check=True)
    # `addsitedir` would bring in the checkout's own editable install; a plain path does not.
    (target / "locked.pth").write_text(sysconfig.get_path("purelib") + "\n")
    for source in ("policies", "approvals", "bot", "worker"):
        shutil.rmtree(place / source)  # the second stage has the environment only
    return python


def main() -> int:
    """Print what is wrong and return how the process should end."""
    found = list(problems(steps(FILE.read_text())))
    for problem in found:
        sys.stdout.write(f"deploy/Containerfile: {problem}\n")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
