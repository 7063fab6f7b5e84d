import importlib.metadata
import importlib.util
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("bot", "worker", "policies", "approvals")


@pytest.mark.parametrize("name", PACKAGES)
def test_each_generic_package_name_resolves_to_this_checkout(name: str) -> None:
    spec = importlib.util.find_spec(name)
    assert spec is not None
    assert spec.origin is not None
    assert Path(spec.origin).parent == ROOT / name


@pytest.mark.parametrize("name", PACKAGES)
def test_no_other_distribution_owns_a_package_of_ours(name: str) -> None:
    owners = importlib.metadata.packages_distributions().get(name, [])
    assert set(owners) <= {"vobo"}


def test_no_tracked_file_is_longer_than_a_room_may_be() -> None:
    long = {
        str(path.relative_to(ROOT)): lines
        for package in PACKAGES
        for path in (ROOT / package).rglob("*")
        if path.suffix in {".py", ".lua", ".js", ".css"}
        if (lines := len(path.read_text().splitlines())) > 300
    }
    assert long == {}
