"""Two companies with the same people's ids, one Slack host in front of them, and one bot that both can install."""

import http.client
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

import redis

from bot.assembly import Bot, assemble
from bot.fleet import Fleet
from bot.sandbox import Workspace
from bot.settings import BotSettings
from bot_office import OPS, REVIEWERS, SECRET, STATE_KEY, Office
from free_ports import free_port
from slack_gateway import gateway

ACME, BOLT, NOBODY = "T0ACME", "T0BOLT", "T0NOBODY"
APP = {"client_id": "111.222", "client_secret": "secret-of-the-app"}


class Answer(NamedTuple):
    """What a browser was told."""

    status: int
    text: str
    location: str
    cookie: str


class Companies:
    """Two workspaces that may install the app, and one that is not expected."""

    def __init__(
        self, bot: Bot, port: int, workspaces: dict[str, Workspace], settings: BotSettings, client: redis.Redis
    ) -> None:
        self.bot, self.port, self.workspaces, self.settings, self._client = bot, port, workspaces, settings, client

    @property
    def fleet(self) -> Fleet:
        assert isinstance(self.bot.front, Fleet)
        return self.bot.front

    def browse(self, path: str, cookie: str = "") -> Answer:
        """One GET at the bot, as a browser does it."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=10)
        connection.request("GET", path, headers={"Cookie": cookie} if cookie else {})
        told = connection.getresponse()
        text = told.read().decode()
        connection.close()
        set_cookie = (told.headers["Set-Cookie"] or "").partition(";")[0]
        return Answer(told.status, text, told.headers["Location"] or "", set_cookie)

    def come_back(self, team: str, *, allow: bool = True) -> tuple[str, str]:
        """Leave for Slack, press, and be sent back: the path and the cookie to come back with."""
        left = self.browse(f"/slack/install?team={team}")
        assert left.status == 302
        back = urlsplit(self.workspaces[team].allow(left.location, allow=allow))
        return f"{back.path}?{back.query}", left.cookie

    def install(self, team: str) -> Answer:
        """What somebody in a browser does."""
        return self.browse(*self.come_back(team))

    def office(self, team: str) -> Office:
        """A workspace that has installed the app, once it is served."""
        workspace = self.workspaces[team]
        served = workspace.until(lambda: self.fleet.served(team), 10, f"{team} is served")
        served.deps.store.ledger.vouch(served.deps.store.ledger.server())
        return Office(workspace, served, self._client)


@contextmanager
def companies(url: str, client: redis.Redis, home: Path, *, token_seconds: int | None = None) -> Iterator[Companies]:
    """The bot is up, and nobody has installed it yet."""
    people, port = home / "people", free_port()
    people.mkdir()
    for team in (ACME, BOLT):
        text = REVIEWERS.read_text().replace("T0000HOME", team)
        (people / f"{team}.toml").write_text(f'ops_channel = "{OPS}"\n{text}')
    sends = {"deliver_to": f"http://127.0.0.1:{port}/slack/events", "signing_secret": SECRET}
    with ExitStack() as stack:
        workspaces = {
            team: stack.enter_context(
                Workspace.serve(team_id=team, team_name=team.title(), token_seconds=token_seconds, **APP, **sends)
            )
            for team in (ACME, BOLT, NOBODY)
        }
        host = stack.enter_context(gateway({team: one.url for team, one in workspaces.items()}))
        settings = settings_of(url, home, people, port, host)
        bot = assemble(settings)
        bot.start()
        stack.callback(bot.stop)
        yield Companies(bot, port, workspaces, settings, client)


def settings_of(url: str, home: Path, people: Path, port: int, host: str) -> BotSettings:
    """Of a bot that companies install."""
    return BotSettings.read(
        _env_file=None,
        redis_url=url,
        state_keys=STATE_KEY,
        reviewers=people,
        signing_secret=SECRET,
        port=port,
        api_url=f"{host}/api/",
        installations_url=f"sqlite:///{home}/installations.db",
        public_url=f"http://127.0.0.1:{port}",
        **APP,
    )
