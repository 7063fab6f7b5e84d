"""`python -m bot.sandbox`: a Slack workspace in a browser tab."""

import asyncio
import contextlib
import signal
import sys
from pathlib import Path

import click

from bot.sandbox.office import Office
from bot.sandbox.seed import APP_TOKEN, BOT_TOKEN, HOME_TEAM
from bot.sandbox.server import Server
from bot.sandbox.settings import Settings


@click.command(context_settings={"auto_envvar_prefix": "VOBO_SANDBOX"})
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option("--port", default=8055, show_default=True, help="Port; 0 takes a free one.")
@click.option("--deliver-to", help="Post signed requests to this URL instead of using Socket Mode.")
@click.option("--signing-secret", help="Secret of those signatures.")
@click.option("--team-id", default=HOME_TEAM, show_default=True, help="The workspace's id.")
@click.option("--team-name", default="Home", show_default=True, help="The workspace's name.")
@click.option("--team-domain", default="home", show_default=True, help="The workspace's domain.")
@click.option("--client-id", help="Lets the app with this id be installed at /oauth/v2/authorize.")
@click.option("--client-secret", help="The secret of that app.")
@click.option("--redirect-uri", multiple=True, help="Where that app may be answered; may be repeated. None: anywhere.")
@click.option(
    "--token-seconds",
    type=click.IntRange(min=1),
    help="Token rotation: tokens of installations run out after so long (Slack: 43200).",
)
@click.option("--rate-limits", is_flag=True, help="Answer 429 as Slack does.")
@click.option("--example", "examples", multiple=True, help="Something to say to the bot; may be repeated.")
@click.option("--port-file", type=click.Path(path_type=Path), help="Write the base URL here once listening.")
def main(
    host: str,
    port: int,
    deliver_to: str | None,
    signing_secret: str | None,
    *,
    team_id: str,
    team_name: str,
    team_domain: str,
    client_id: str | None,
    client_secret: str | None,
    redirect_uri: tuple[str, ...],
    token_seconds: int | None,
    rate_limits: bool,
    examples: tuple[str, ...],
    port_file: Path | None,
) -> None:
    """A strict stand-in for Slack's cloud: Web API, Socket Mode or signed HTTP, and a page to click in.

    Each option may also stand in the environment, as VOBO_SANDBOX_TEAM_ID does for --team-id.
    """
    if deliver_to and not signing_secret:
        raise click.UsageError("--deliver-to needs --signing-secret, the one the bot verifies with.")
    if bool(client_id) != bool(client_secret):
        raise click.UsageError("--client-id and --client-secret belong together; give both to have the app installed.")
    if token_seconds and not client_id:
        raise click.UsageError("--token-seconds needs --client-id: only tokens of installations run out.")
    settings = Settings(
        deliver_to=deliver_to,
        signing_secret=signing_secret,
        rate_limits=rate_limits,
        team_id=team_id,
        team_name=team_name,
        team_domain=team_domain,
        client_id=client_id,
        client_secret=client_secret,
        redirect_uris=redirect_uri,
        examples=examples,
        token_seconds=token_seconds,
    )
    try:
        asyncio.run(_serve(settings, host, port, port_file))
    except OSError as problem:
        click.echo(f"Cannot listen on {host}:{port}: {problem.strerror}. Choose another --port.", err=True)
        sys.exit(1)


async def _serve(settings: Settings, host: str, port: int, port_file: Path | None) -> None:
    server = Server(Office(settings))
    await server.start(host, port)
    url = server.office.world.base_url
    if port_file is not None:
        port_file.write_text(url, encoding="utf-8")  # noqa: ASYNC240 - once, before anything is served
    click.echo(f"The workspace is open at {url}/")
    click.echo(f"  SLACK_API_URL={url}/api/")
    click.echo(f"  SLACK_BOT_TOKEN={BOT_TOKEN}")
    if settings.deliver_to is None:
        click.echo(f"  SLACK_APP_TOKEN={APP_TOKEN}")
    stop = asyncio.Event()
    for name in (signal.SIGINT, signal.SIGTERM):
        with contextlib.suppress(NotImplementedError):
            asyncio.get_running_loop().add_signal_handler(name, stop.set)
    await stop.wait()
    await server.stop()


if __name__ == "__main__":
    main()
