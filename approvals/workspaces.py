"""The workspaces of one deployment: one reviewers file, or a directory with a file for each workspace."""

import tomllib
from collections.abc import Mapping
from pathlib import Path

from approvals.errors import ApprovalsError


class SettingsRefused(ApprovalsError):
    """Something in the environment is missing or wrong; the text names every variable and its fix."""


def read_reviewers(path: Path, variable: str) -> str:
    """The text of a reviewers.toml that an environment variable names.

    Raises:
        SettingsRefused: it cannot be read.
    """
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as failed:
        why = failed.strerror if isinstance(failed, OSError) else "it is no UTF-8 text"
        raise SettingsRefused(
            f"{variable} names {path}, which cannot be read ({why}). Set it to the path of your reviewers.toml."
        ) from failed


def texts_by_workspace(folder: Path, variable: str) -> dict[str, str]:
    """The text of each `*.toml` in the folder by the workspace it is for, in the order of the files' names.

    Raises:
        SettingsRefused: there is none, one cannot be read or names no `team`, or two are for one workspace.
    """
    found: dict[str, str] = {}
    for path in sorted(folder.glob("*.toml")):
        text = read_reviewers(path, variable)
        team = team_of(text)
        if team is None:
            raise SettingsRefused(
                f"{variable} names the directory {folder}, where {path.name} does not say which workspace it is for."
                ' Write team = "T..." into it.'
            )
        if team in found:
            raise SettingsRefused(f"{variable}: {path.name} is the second file for {team}. Remove one of them.")
        found[team] = text
    if not found:
        raise SettingsRefused(
            f"{variable} names the directory {folder}, which holds no *.toml. Put one reviewers.toml for each"
            " workspace there."
        )
    return found


def text_of(path: Path, variable: str, workspace: str | None) -> str:
    """The text for one workspace: the file itself, or the one of the directory that is for it.

    Raises:
        SettingsRefused: it cannot be read, or nothing tells which of several is meant.
    """
    if not path.is_dir():
        text = read_reviewers(path, variable)
        if workspace is not None and team_of(text) != workspace:
            raise SettingsRefused(f"VOBO_WORKSPACE is {workspace}, but {variable} names a file for another workspace.")
        return text
    return _chosen(texts_by_workspace(path, variable), path, variable, workspace)


def _chosen(texts: Mapping[str, str], folder: Path, variable: str, workspace: str | None) -> str:
    if workspace is None and len(texts) == 1:
        return next(iter(texts.values()))
    if workspace is not None and workspace in texts:
        return texts[workspace]
    which = "is not set" if workspace is None else f"is {workspace}"
    raise SettingsRefused(
        f"VOBO_WORKSPACE {which}, and {variable} names the directory {folder} with files for {', '.join(texts)}."
        " Set VOBO_WORKSPACE to one of them: a worker, a clock and the `vobo` command serve one workspace each."
    )


def team_of(text: str) -> str | None:
    """Whose file it is; None where it is no TOML, or says nothing. What else is wrong with it the law tells."""
    try:
        team = tomllib.loads(text).get("team")
    except tomllib.TOMLDecodeError:
        return None
    return team if isinstance(team, str) else None
