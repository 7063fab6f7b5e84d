import keyword
import os
import re
import shlex
import shutil
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from approvals.commands.init_env import env_text, manifest_text
from approvals.commands.init_law import first_rule, reviewers_toml
from approvals.redis_address import Address
from approvals.settings import SettingsRefused
from approvals.vault import new_key
from policies.law import load_law
from policies.reviewers import Reviewers

_TEAM = re.compile(r"[TE][A-Z0-9_]+")
_USER = re.compile(r"[UW][A-Z0-9_]+")
_CHANNEL = re.compile(r"[CG][A-Z0-9_]+")
_ZONE = re.compile(r"[A-Za-z0-9_+/-]+")
_SAMPLE = "sample"
_OFFLINE = "offline"
_PORT = 3000
_LATER = "(Enter: later)"
#: Only the owner reads it: it holds tokens and the keys to what is stored.
_SECRET_MODE = 0o600


@click.command()
@click.option("--into", default=".", type=click.Path(path_type=Path, file_okay=False), help="Where to write.")
@click.option("--team", prompt="Id of your Slack workspace (T...)", help="Id of your Slack workspace.")
@click.option("--reviewer", "reviewers", multiple=True, help="Slack user id of somebody who may decide; repeatable.")
@click.option("--ops", "operators", multiple=True, help="Slack user id of an operator; the reviewers when not given.")
@click.option("--tool", help=f"Name of the function tool that needs approval, or `{_SAMPLE}`.")
@click.option("--zone", default="UTC", help="Time zone of your business hours, for example Europe/Berlin.")
@click.option("--self-approval", is_flag=True, help="Development only: whoever starts a run may approve it.")
@click.option("--redis-url", help="Where the state is kept.")
@click.option("--http", "host", help="HTTP instead of Socket Mode: the https address at which Slack reaches the bot.")
@click.option(
    "--port", type=click.IntRange(1, 65535), help=f"With --http: where the bot listens, {_PORT} if not given."
)
@click.option("--ops-channel", help="Id of the channel where ops reads alerts (C...).")
@click.option("--model", help="Name of the model; left out, the sample's offline planner.")
@click.option("--ask/--no-ask", default=None, help="Ask for what is not given. Default: at a terminal.")
def init(*, into: Path, ask: bool | None, **given: Any) -> None:
    """Write .env, the Slack app's manifest, a reviewers.toml, and a first rule. Nothing is overwritten.

    Tokens are only ever typed in, and never shown: what is left out is written into .env later.
    """
    asking = sys.stdin.isatty() if ask is None else ask
    if given["tool"] is None:
        given["tool"] = _tool() if asking or not given["reviewers"] else _SAMPLE
    if not given["reviewers"]:
        typed = click.prompt("Slack user ids of those who may decide (U..., comma-separated)")
        given["reviewers"] = tuple(part.strip() for part in str(typed).split(",") if part.strip())
    _check(given["tool"], given["team"], given["zone"], (*given["reviewers"], *given["operators"]))
    files = {**_law_files(into, given), **_deployment_files(into, {**given, **(_asked(given) if asking else {})})}
    _write(files)
    click.echo(f"Written: {', '.join(map(str, files))}.")
    for line in _next(into, sample=given["tool"] == _SAMPLE, people=files[into / "reviewers.toml"]):
        click.echo(line)


def _tool() -> str:
    return str(click.prompt(f"Name of your first tool ({_SAMPLE}: begin with the sample refund desk)", default=_SAMPLE))


def _law_files(into: Path, given: Mapping[str, Any]) -> dict[Path, str]:
    sample = given["tool"] == _SAMPLE
    named = {name: given[name] for name in ("team", "reviewers", "operators", "zone", "self_approval")}
    text = reviewers_toml(**named, sample=sample)
    Reviewers.from_toml(text)
    load_law(["policies.rules.lookups"], text)  # the tables that are not about people, such as the zone
    if sample:
        return {into / "reviewers.toml": text}
    rules = into / "rules"
    return {
        into / "reviewers.toml": text,
        rules / "__init__.py": "",
        rules / f"{given['tool']}.py": first_rule(given["tool"]),
    }


def _asked(given: Mapping[str, Any]) -> dict[str, Any]:
    """What somebody at a terminal is asked beside the law. An empty answer means later."""
    found: dict[str, Any] = {}
    if given["redis_url"] is None:
        found["redis_url"] = click.prompt("Redis or Valkey that keeps the state", default="redis://localhost:6379/0")
    if given["host"] is None:
        found["host"] = click.prompt("Address at which Slack reaches the bot (Enter: Socket Mode)", default="") or None
    host = given["host"] or found.get("host")
    if host and given["port"] is None:
        found["port"] = click.prompt("Port where the bot listens", default=_PORT, type=click.IntRange(1, 65535))
    if given["ops_channel"] is None:
        found["ops_channel"] = click.prompt(f"Id of the channel for ops, C... {_LATER}", default="")
    if given["model"] is None:
        found["model"] = click.prompt("Name of the model (Enter: the offline planner)", default="")
    secrets = {"SLACK_BOT_TOKEN": "Bot token, xoxb-..."}
    model = given["model"] or found.get("model")
    secrets |= {"SLACK_SIGNING_SECRET": "Signing secret"} if host else {"SLACK_APP_TOKEN": "App token, xapp-..."}
    secrets |= {"OPENAI_API_KEY": "OPENAI_API_KEY"} if model and model != _OFFLINE else {}
    for name, words in secrets.items():
        found[name] = click.prompt(f"{words} {_LATER}", default="", hide_input=True, show_default=False)
    return found


def _deployment_files(into: Path, given: Mapping[str, Any]) -> dict[Path, str]:
    url, host, channel = given["redis_url"] or "redis://localhost:6379/0", given["host"], given["ops_channel"] or ""
    Address.of(url)
    if given["port"] is not None and not host:
        raise SettingsRefused("--port is where the bot listens with --http; in Socket Mode it listens nowhere.")
    if channel and not _CHANNEL.fullmatch(channel):
        raise SettingsRefused(f"{channel!r} is not a Slack channel id; ids look like C0123ABCD, not #name.")
    for name, start in (("SLACK_BOT_TOKEN", "xoxb-"), ("SLACK_APP_TOKEN", "xapp-")):
        if given.get(name) and not given[name].startswith(start):
            raise SettingsRefused(f"What you typed as {name} is none: it begins with {start}.")
    by_http = {"SLACK_APP_TOKEN": None, "SLACK_SIGNING_SECRET": given.get("SLACK_SIGNING_SECRET", "")}
    values: dict[str, str | None] = {
        "REDIS_URL": url,
        "VOBO_STATE_KEYS": new_key(),
        "SLACK_BOT_TOKEN": given.get("SLACK_BOT_TOKEN", ""),
        "VOBO_OPS_CHANNEL": channel,
        "VOBO_REVIEWERS": "reviewers.toml",
        **(
            {**by_http, "PORT": str(given["port"] or _PORT)}
            if host
            else {"SLACK_APP_TOKEN": given.get("SLACK_APP_TOKEN", "")}
        ),
        **({} if given["tool"] == _SAMPLE else {"VOBO_RULES": "rules"}),
        **({"VOBO_MODEL": given["model"]} if given["model"] else {}),
        **({"OPENAI_API_KEY": given.get("OPENAI_API_KEY", "")} if given["model"] not in {None, "", _OFFLINE} else {}),
    }
    return {into / ".env": env_text(values), into / "manifest.yaml": manifest_text(host)}


def _next(into: Path, *, sample: bool, people: str) -> list[str]:
    """What to do now, in order, as it is typed."""
    stays = into == Path()
    before = _environment(relative=stays)
    own = f"Write the tool (docs/your-own-agent.md) and set VOBO_AGENT in .env; `{before}vobo policies check`."
    return [
        "Now:",
        *([] if stays else [f"  cd {shlex.quote(str(into))}"]),
        "  Create the Slack app from manifest.yaml (api.slack.com/apps, From a manifest), install it, invite it.",
        *([f"  Name more people: {one}" for one in load_law(["policies.rules"], people).problems()] if sample else []),
        *([] if sample else [f"  {own}"]),
        f"  {before}vobo doctor            # says what is missing in .env and in Slack",
        f"  {before}python -m bot          # and beside it, in terminals of their own:",
        f"  {before}python -m worker",
        f"  {before}python -m worker.clock",
    ]


def _environment(*, relative: bool) -> str:
    """What is typed before `vobo` and `python`: nothing where the environment is activated."""
    here = Path(sys.executable).parent
    found = shutil.which("python")
    if found and Path(found).parent == here:
        return ""
    near = relative and here.is_relative_to(Path.cwd())
    return f"{shlex.quote(str(here.relative_to(Path.cwd()) if near else here))}/"


def _check(tool: str, team: str, zone: str, users: Sequence[str]) -> None:
    if not re.fullmatch(r"[a-z][a-z0-9_]{0,62}", tool) or keyword.iskeyword(tool):
        raise SettingsRefused(
            f"{tool!r} cannot be the name of a tool; write it as a Python function, such as send_mail."
        )
    if not _TEAM.fullmatch(team):
        raise SettingsRefused(f"{team!r} is not the id of a Slack workspace; ids look like T0123ABCD, not a name.")
    if not _ZONE.fullmatch(zone):
        raise SettingsRefused(f"{zone!r} is not a time zone; write for example Europe/Berlin.")
    for user in users:
        if not _USER.fullmatch(user):
            raise SettingsRefused(f"{user!r} is not a Slack user id; ids look like U0123ABCD, not @name.")


def _write(files: dict[Path, str]) -> None:
    """All of them, or none."""
    there = [path for path in files if os.path.lexists(path)]  # also a link that leads nowhere yet
    if there:
        raise SettingsRefused(f"{there[0]} exists already, and nothing is overwritten. Use --into another directory.")
    written: list[Path] = []
    try:
        for path, text in files.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            mode = _SECRET_MODE if path.name == ".env" else 0o666
            with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "w", encoding="utf-8") as file:
                written.append(path)  # only now it is ours to take back
                file.write(text)
    except OSError as failed:
        for path in written:
            path.unlink(missing_ok=True)
        named = failed.filename or path
        raise SettingsRefused(f"{named} cannot be written ({failed.strerror}); nothing was kept.") from failed
