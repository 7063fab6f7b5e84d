"""How one workspace behaves; every default is Slack's own."""

from dataclasses import dataclass, field

from bot.sandbox import limits
from bot.sandbox.model import HOME_TEAM


@dataclass
class Settings:
    """Times in seconds.

    `retry_delays` are the waits before the three redeliveries of an event; `deliver_to` and `signing_secret`
    switch from Socket Mode to signed HTTP; `subscriptions` are the events the app asked for. `team_id`, `team_name`
    and `team_domain` are the workspace's own. With `client_id` and `client_secret` it can be asked to install the app;
    the tokens then run out after `token_seconds`, where that is given. `redirect_uris` are the addresses the app may
    be answered at, and below; none allows any, and the first is taken when an app names none. `examples` are offered as
    first things to say, in the place of those for the sample.
    """

    ack_timeout: float = limits.ACK_SECONDS
    trigger_seconds: float = limits.TRIGGER_SECONDS
    retry_delays: tuple[float, ...] = (0.5, 60.0, 300.0)
    rate_limits: bool = False
    post_burst: int = 5
    post_per_second: float = 1.0
    deliver_to: str | None = None
    signing_secret: str | None = None
    team_id: str = HOME_TEAM
    team_name: str = "Home"
    team_domain: str = "home"
    client_id: str | None = None
    client_secret: str | None = None
    token_seconds: int | None = None
    redirect_uris: tuple[str, ...] = ()
    examples: tuple[str, ...] = ()
    subscriptions: frozenset[str] = field(
        default_factory=lambda: frozenset(
            {
                *("app_mention", "message.channels", "message.im", "app_home_opened"),
                *("app_uninstalled", "tokens_revoked"),
            }
        )
    )
