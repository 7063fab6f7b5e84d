"""What the bot reads from the environment, beside what it shares with the worker."""

from typing import Any, Self

from pydantic import Field, SecretStr, ValidationInfo, field_validator
from pydantic_core import PydanticCustomError

from approvals.settings import FIXES, Settings


class BotSettings(Settings):
    """`read()` reports every problem at once."""

    bot_token: SecretStr = Field(alias="SLACK_BOT_TOKEN")
    signing_secret: SecretStr | None = Field(None, alias="SLACK_SIGNING_SECRET")
    port: int | None = Field(None, alias="PORT", ge=0, le=65535)
    app_token: SecretStr | None = Field(None, alias="SLACK_APP_TOKEN", validate_default=True)
    api_url: str = Field("https://slack.com/api/", alias="SLACK_API_URL")
    agents: str = Field("", alias="VOBO_AGENT")
    alert_webhook: SecretStr | None = Field(None, alias="VOBO_ALERT_WEBHOOK")

    @property
    def first_agent(self) -> str:
        """The name of the first agent in VOBO_AGENT; empty when it bears none. The bot imports no agent."""
        name, equals, _ = self.agents.split(",")[0].partition("=")
        return name.strip() if equals else ""

    @field_validator("bot_token")
    @classmethod
    def _is_bot_token(cls, token: SecretStr) -> SecretStr:
        if not token.get_secret_value().startswith(("xoxb-", "xoxe.xoxb-")):
            raise PydanticCustomError("token", "It is not a bot token")
        return token

    @field_validator("app_token")
    @classmethod
    def _is_app_token(cls, token: SecretStr | None, others: ValidationInfo) -> SecretStr | None:
        if token is not None and not token.get_secret_value().startswith("xapp-"):
            raise PydanticCustomError("token", "It is not an app-level token")
        if token is None and None in {others.data.get("signing_secret"), others.data.get("port")}:
            raise PydanticCustomError("missing", "Slack cannot reach the bot")
        return token

    @field_validator("api_url")
    @classmethod
    def _ends_with_slash(cls, url: str) -> str:
        if not url.startswith(("https://", "http://")):
            raise PydanticCustomError("url", "It must begin with https://, or http:// for a stand-in on this machine")
        return url if url.endswith("/") else f"{url}/"

    @property
    def http(self) -> bool:
        """Whether the bot serves HTTP."""
        return self.signing_secret is not None and self.port is not None

    @classmethod
    def read(cls, **overrides: Any) -> Self:
        """As `Settings.read`."""
        FIXES.setdefault("SLACK_API_URL", "Leave it out for Slack itself.")
        FIXES.setdefault("PORT", "Set it to the port at which Slack's requests arrive, for example 3000.")
        return super().read(**overrides)
