"""`make demo ARGS="--agent ..."`: an agent of your own in the sandbox, with the options that name its parts."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from approvals.settings import SAMPLE_REVIEWERS

#: What a real model needs of your environment; it is handed on only when you name the model.
_OF_A_MODEL = ("OPENAI_API_KEY", "OPENAI_BASE_URL")
_OPTIONS = (
    click.option("--agent", help="An agent of yours, package.module:factory, in the place of the sample."),
    click.option("--rules", help="With --agent: the modules with your rules, comma-separated."),
    click.option(
        "--reviewers", type=click.Path(exists=True, dir_okay=False, path_type=Path), help="Your reviewers.toml."
    ),
    click.option("--offline", help="With --agent: what plays its model, package.module:Class (worker/offline.py)."),
    click.option("--model", help="With --agent: a real model by name, with the OPENAI_API_KEY of this terminal."),
    click.option("--say", "examples", multiple=True, help="With --agent: something to say to it; may be repeated."),
)


def options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Adds the options."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def environment(
    agent: str | None, rules: str | None, reviewers: Path | None, offline: str | None, model: str | None
) -> dict[str, str]:
    """The agent and the law of the demo; the sample's where none are named.

    Raises:
        UsageError: options that do not fit each other.
    """
    if agent is None:
        if any((rules, reviewers, offline, model)):
            raise click.UsageError(
                "--rules, --reviewers, --offline and --model are for an agent of yours: name --agent."
            )
        agent = "worker.refund_desk:build_agent"
    elif rules is None:
        raise click.UsageError("--agent needs --rules, the modules with the rules of its tools.")
    elif (offline is None) == (model is None):
        raise click.UsageError("--agent needs --offline package.module:Class, which plays its model, or --model NAME.")
    found = {
        "VOBO_AGENT": agent,
        "VOBO_RULES": rules or "policies.rules",
        "VOBO_REVIEWERS": str((reviewers or SAMPLE_REVIEWERS).resolve()),
    }
    if offline:
        found["VOBO_OFFLINE"] = offline
    if model:
        found |= {"VOBO_MODEL": model, **{name: os.environ[name] for name in _OF_A_MODEL if name in os.environ}}
    return found
