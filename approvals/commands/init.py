import os
import shlex
import shutil
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import click

from approvals.commands.init_ask import OFFLINE, PORT, REDIS, SAMPLE_LIMIT, how_it_runs, who_decides
from approvals.commands.init_checks import SAMPLE, check_channel, check_who_decides, token_check
from approvals.commands.init_env import env_text, manifest_text
from approvals.commands.init_law import first_rule, reviewers_toml
from approvals.redis_address import Address
from approvals.settings import SettingsRefused
from approvals.vault import new_key
from policies.law import Law, load_law
from policies.reviewers import Reviewers

#: Only the owner reads it: it holds tokens and the keys to what is stored.
_SECRET_MODE = 0o600
#: So many people that two of them are left beside whoever started a run.
ENOUGH = 2


@click.command()
@click.option("--into", default=".", type=click.Path(path_type=Path, file_okay=False), help="Where to write.")
@click.option("--team", help="Id of your Slack workspace.")
@click.option(
    "--reviewer",
    "reviewers",
    multiple=True,
    help="Slack user id of somebody who may decide, with a name if you like: U0123ABCD=Ana; repeatable.",
)
@click.option("--ops", "operators", multiple=True, help="Slack user id of an operator; the reviewers when not given.")
@click.option("--tool", help=f"Name of the function tool that needs approval, or `{SAMPLE}`.")
@click.option("--zone", help="Time zone of your business hours, for example Europe/Berlin; UTC when not given.")
@click.option("--limit", help=f"The highest amount in EUR each of them may decide; for the sample {SAMPLE_LIMIT}.")
@click.option("--self-approval", is_flag=True, help="Development only: whoever starts a run may approve it.")
@click.option("--redis-url", help="Where the state is kept.")
@click.option("--http", "host", help="HTTP instead of Socket Mode: the https address at which Slack reaches the bot.")
@click.option("--port", type=click.IntRange(1, 65535), help=f"With --http: where the bot listens, {PORT} if not given.")
@click.option("--ops-channel", help="Id of the channel where ops reads alerts (C...).")
@click.option("--model", help="Name of the model; left out, the sample's offline planner.")
@click.option("--ask/--no-ask", default=None, help="Ask for what is not given. Default: at a terminal.")
def init(*, into: Path, ask: bool | None, **given: Any) -> None:
    """Write .env, the Slack app's manifest, a reviewers.toml, and a first rule. Nothing is overwritten.

    Tokens are only ever typed in, and never shown: what is left out is written into .env later.
    """
    asking = sys.stdin.isatty() if ask is None else ask
    _refuse_existing([into / name for name in (".env", "manifest.yaml", "reviewers.toml")])  # before anything is asked
    given = who_decides(given, asking=asking, never=ask is False)
    check_who_decides(given)
    files = {**_law_files(into, given), **_deployment_files(into, {**given, **(how_it_runs(given) if asking else {})})}
    _write(files)
    click.echo(f"Written: {', '.join(map(str, files))}.")
    for line in _next(into, given, people=files[into / "reviewers.toml"]):
        click.echo(line)


def _law_files(into: Path, given: Mapping[str, Any]) -> dict[Path, str]:
    sample = given["tool"] == SAMPLE
    named = {name: given[name] for name in ("team", "reviewers", "operators", "zone", "self_approval", "limit")}
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


def _deployment_files(into: Path, given: Mapping[str, Any]) -> dict[Path, str]:
    url, host, channel = given["redis_url"] or REDIS, given["host"], given["ops_channel"] or ""
    Address.of(url)
    if given["port"] is not None and not host:
        raise SettingsRefused("--port is where the bot listens with --http; in Socket Mode it listens nowhere.")
    check_channel(channel)
    for name in ("SLACK_BOT_TOKEN", "SLACK_APP_TOKEN"):
        token_check(name)(given.get(name) or "")
    by_http = {"SLACK_APP_TOKEN": None, "SLACK_SIGNING_SECRET": given.get("SLACK_SIGNING_SECRET", "")}
    values: dict[str, str | None] = {
        "REDIS_URL": url,
        "VOBO_STATE_KEYS": new_key(),
        "SLACK_BOT_TOKEN": given.get("SLACK_BOT_TOKEN", ""),
        "VOBO_OPS_CHANNEL": channel,
        "VOBO_REVIEWERS": "reviewers.toml",
        **(
            {**by_http, "PORT": str(given["port"] or PORT)}
            if host
            else {"SLACK_APP_TOKEN": given.get("SLACK_APP_TOKEN", "")}
        ),
        **({} if given["tool"] == SAMPLE else {"VOBO_RULES": "rules"}),
        **({"VOBO_MODEL": given["model"]} if given["model"] else {}),
        **({"OPENAI_API_KEY": given.get("OPENAI_API_KEY", "")} if given["model"] not in {None, "", OFFLINE} else {}),
    }
    return {into / ".env": env_text(values), into / "manifest.yaml": manifest_text(host)}


def _next(into: Path, given: Mapping[str, Any], *, people: str) -> list[str]:
    """What to do now, in order, as it is typed."""
    stays, sample = into == Path(), given["tool"] == SAMPLE
    before = _environment(relative=stays)
    own = (
        f"Write the tool {given['tool']} with the arguments of rules/{given['tool']}.py, an agent that has it"
        f" (docs/your-own-agent.md), and set VOBO_AGENT, VOBO_MODEL and OPENAI_API_KEY in .env;"
        f" `{before}vobo policies check`."
    )
    return [
        "Now:",
        *([] if stays else [f"  cd {shlex.quote(str(into))}"]),
        "  Create the Slack app from manifest.yaml (api.slack.com/apps, From a manifest), install it, invite it.",
        *(f"  {line}" for line in _who_is_missing(given)),
        *(f"  Raise limits in reviewers.toml: {gap}" for gap in (_law(people).gaps() if sample else ())),
        *([] if sample else [f"  {own}"]),
        *([f"  {before}python -m worker.refund_desk.shop load    # fills the sample's shop"] if sample else []),
        f"  {before}vobo doctor            # says what is missing in .env and in Slack",
        f"  {before}python -m bot          # and beside it, in terminals of their own:",
        f"  {before}python -m worker",
        f"  {before}python -m worker.clock",
    ]


def _who_is_missing(given: Mapping[str, Any]) -> list[str]:
    """That nobody approves what they started themselves, where it leaves too few."""
    if given["self_approval"] or len(given["reviewers"]) > ENOUGH:
        return []
    if len(given["reviewers"]) == 1:
        second = "Name a second person in reviewers.toml: who starts a run may not approve it"
        return [f"{second} (to try it out alone, set self_approval = true)."]
    if given["tool"] != SAMPLE:
        return []
    return [
        "What one of the two starts, the other cannot approve alone where two are asked: let somebody else start it."
    ]


def _law(people: str) -> Law:
    return load_law(["policies.rules"], people)


def _environment(*, relative: bool) -> str:
    """What is typed before `vobo` and `python`: nothing where the environment is activated."""
    here = Path(sys.executable).parent
    found = shutil.which("python")
    if found and Path(found).parent == here:
        return ""
    near = relative and here.is_relative_to(Path.cwd())
    return f"{shlex.quote(str(here.relative_to(Path.cwd()) if near else here))}/"


def _refuse_existing(paths: Iterable[Path]) -> None:
    there = [path for path in paths if os.path.lexists(path)]  # also a link that leads nowhere yet
    if there:
        raise SettingsRefused(
            f"{there[0]} exists already, and nothing is overwritten. Edit it, or move what was written"
            " away and begin anew, or use --into another directory."
        )


def _write(files: dict[Path, str]) -> None:
    """All of them, or none."""
    _refuse_existing(files)
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
