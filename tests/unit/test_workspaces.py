from pathlib import Path

import pytest

from approvals.settings import Settings, SettingsRefused
from builders import STATE_KEY


def a_file(folder: Path, name: str, team: str | None) -> None:
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(f'team = "{team}"\n' if team else "ops = []\n")


def settings(reviewers: Path, workspace: str | None = None) -> Settings:
    fields = {"redis_url": "redis://localhost", "state_keys": STATE_KEY, "reviewers": reviewers, "workspace": workspace}
    return Settings.read(_env_file=None, **fields)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    a_file(tmp_path / "people", "acme.toml", "T0ACME")
    a_file(tmp_path / "people", "bolt.toml", "T0BOLT")
    return tmp_path / "people"


def test_a_directory_holds_one_file_for_each_workspace(folder: Path) -> None:
    assert list(settings(folder).reviewers_texts()) == ["T0ACME", "T0BOLT"]


def test_a_worker_is_told_which_of_them_is_its_own(folder: Path) -> None:
    assert settings(folder, "T0BOLT").reviewers_text() == 'team = "T0BOLT"\n'
    assert list(settings(folder, "T0BOLT").reviewers_texts()) == ["T0BOLT"]


def test_a_directory_with_one_file_needs_no_choice(tmp_path: Path) -> None:
    a_file(tmp_path / "people", "acme.toml", "T0ACME")
    assert settings(tmp_path / "people").reviewers_text() == 'team = "T0ACME"\n'


@pytest.mark.parametrize("workspace", [None, "T0NOBODY"])
def test_nobody_guesses_which_workspace_is_meant(folder: Path, workspace: str | None) -> None:
    with pytest.raises(SettingsRefused, match=r"with files for T0ACME, T0BOLT. Set VOBO_WORKSPACE to one of them"):
        settings(folder, workspace).reviewers_text()


def test_a_file_for_another_workspace_than_the_one_asked_for_is_refused(folder: Path) -> None:
    with pytest.raises(SettingsRefused, match="VOBO_WORKSPACE is T0BOLT, but VOBO_REVIEWERS names a file for another"):
        settings(folder / "acme.toml", "T0BOLT").reviewers_text()


def test_two_files_for_one_workspace_are_refused(folder: Path) -> None:
    a_file(folder, "third.toml", "T0ACME")
    with pytest.raises(SettingsRefused, match=r"third.toml is the second file for T0ACME. Remove one"):
        settings(folder).reviewers_texts()


def test_a_file_that_names_no_workspace_is_refused(folder: Path) -> None:
    a_file(folder, "third.toml", None)
    with pytest.raises(SettingsRefused, match=r"third.toml does not say which workspace"):
        settings(folder).reviewers_texts()


def test_an_empty_directory_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SettingsRefused, match=r"holds no \*.toml"):
        settings(tmp_path).reviewers_texts()


def test_what_is_wrong_inside_a_file_is_left_to_the_law_to_tell(tmp_path: Path) -> None:
    (tmp_path / "one.toml").write_text("team = [")
    assert settings(tmp_path / "one.toml").reviewers_texts() == {"": "team = ["}
