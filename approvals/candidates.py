"""A law that is not in force: a directory or modules somebody is working on."""

import importlib.util
import sys
from hashlib import sha256
from pathlib import Path
from types import ModuleType

from approvals.settings import LawSettings, SettingsRefused
from policies.law import Law, load_law


def candidate(place: str, settings: LawSettings, reviewers: Path | None = None) -> Law:
    """The law in a directory of rule modules, or in comma-separated modules.

    Its people are those of `reviewers`, of a `reviewers.toml` in the directory, or else of the law in force.

    Raises:
        LawRefused: it cannot be loaded.
        SettingsRefused: there is no such directory or file.
    """
    folder = Path(place)
    if folder.is_dir():
        own = folder / "reviewers.toml"
        people = reviewers or (own if own.is_file() else settings.reviewers)
        return load_law([_package(folder)], read_people(people))
    if "/" in place:
        raise SettingsRefused(f"There is no directory {place}. Name a directory with rule modules, or a module.")
    modules = [part.strip() for part in place.split(",") if part.strip()]
    return load_law(modules, read_people(reviewers or settings.reviewers))


def read_people(path: Path) -> str:
    """The text of a `reviewers.toml`.

    Raises:
        SettingsRefused: it cannot be read.
    """
    try:
        return path.read_text(encoding="utf-8")
    except OSError as failed:
        raise SettingsRefused(f"{path} cannot be read ({failed.strerror}). Name your reviewers.toml.") from failed


def _package(folder: Path) -> str:
    """The directory as a package under a name of its own, so that it can stand beside the law it was copied from."""
    name = f"vobo_candidate_{sha256(str(folder.resolve()).encode()).hexdigest()[:12]}"
    for known in [module for module in sys.modules if module == name or module.startswith(f"{name}.")]:
        del sys.modules[known]
    package = ModuleType(name)
    package.__path__ = [str(folder.resolve())]
    spec = importlib.util.spec_from_loader(name, loader=None, is_package=True)
    if spec is not None:
        spec.submodule_search_locations = package.__path__
    package.__spec__ = spec
    sys.modules[name] = package
    importlib.invalidate_caches()
    return name
