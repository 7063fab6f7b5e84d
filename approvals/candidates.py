"""A law that is not in force: a directory or modules somebody is working on."""

import importlib.util
import sys
from hashlib import sha256
from pathlib import Path
from types import ModuleType

from approvals.settings import LawSettings, SettingsRefused
from approvals.workspaces import read_reviewers
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
        if reviewers is None and own.is_file():
            return load_law([_package(folder)], read_reviewers(own, place))
        return load_law([_package(folder)], _people(settings, reviewers))
    if "/" in place:
        raise SettingsRefused(f"There is no directory {place}. Name a directory with rule modules, or a module.")
    modules = [part.strip() for part in place.split(",") if part.strip()]
    return load_law(modules, _people(settings, reviewers))


def _people(settings: LawSettings, reviewers: Path | None) -> str:
    return settings.reviewers_text() if reviewers is None else read_reviewers(reviewers, "--reviewers")


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
