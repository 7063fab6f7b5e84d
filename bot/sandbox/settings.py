"""How one workspace behaves; every default is Slack's own."""

from dataclasses import dataclass, field

from bot.sandbox import limits


@dataclass
class Settings:
    """Times in seconds.

    `retry_delays` are the waits before the three redeliveries of an event; `deliver_to` and `signing_secret`
    switch from Socket Mode to signed HTTP; `subscriptions` are the events the app asked for.
    """

    ack_timeout: float = limits.ACK_SECONDS
    trigger_seconds: float = limits.TRIGGER_SECONDS
    retry_delays: tuple[float, ...] = (0.5, 60.0, 300.0)
    rate_limits: bool = False
    post_burst: int = 5
    post_per_second: float = 1.0
    deliver_to: str | None = None
    signing_secret: str | None = None
    subscriptions: frozenset[str] = field(
        default_factory=lambda: frozenset({"app_mention", "message.channels", "message.im", "app_home_opened"})
    )
