"""What the bot reads from the environment, beside what it shares with the worker."""

from pydantic import Field, SecretStr, ValidationInfo, field_validator
from pydantic_core import PydanticCustomError

from approvals.settings import Settings
from bot.language import ENGLISH, shipped


class BotSettings(Settings):
    """`read()` reports every problem at once."""

    bot_token: SecretStr = Field(alias="SLACK_BOT_TOKEN")
    signing_secret: SecretStr | None = Field(None, alias="SLACK_SIGNING_SECRET")
    port: int | None = Field(None, alias="PORT", ge=0, le=65535)
    app_token: SecretStr | None = Field(None, alias="SLACK_APP_TOKEN", validate_default=True)
    api_url: str = Field("https://slack.com/api/", alias="SLACK_API_URL")
    agents: str = Field("", alias="VOBO_AGENT")
    alert_webhook: SecretStr | None = Field(None, alias="VOBO_ALERT_WEBHOOK")
    language: str = Field(ENGLISH, alias="VOBO_LANGUAGE")

    @property
    def agent_names(self) -> tuple[str, ...]:
        """The names in VOBO_AGENT, in its order; empty for an agent that bears none. The bot imports no agent."""
        parts = (part.partition("=") for part in self.agents.split(","))
        return tuple(name.strip() if equals else "" for name, equals, _ in parts)

    @field_validator("language")
    @classmethod
    def _is_shipped(cls, language: str) -> str:
        if language not in shipped():
            raise PydanticCustomError(
                "language", f"It is none of the languages shipped ({', '.join(sorted(shipped()))})"
            )
        return language

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
        http = [others.data.get(name) for name in ("signing_secret", "port") if name in others.data]
        if token is None and None in http:
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
