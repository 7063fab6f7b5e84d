"""What the bot reads from the environment, beside what it shares with the worker."""

from pydantic import Field, SecretStr, ValidationInfo, field_validator
from pydantic_core import PydanticCustomError

from approvals.installed_tokens import DEFAULT_URL
from approvals.settings import Settings
from approvals.settings_text import is_web_address
from bot.language import ENGLISH, shipped


class BotSettings(Settings):
    """`read()` reports every problem at once."""

    signing_secret: SecretStr | None = Field(None, alias="SLACK_SIGNING_SECRET")
    port: int | None = Field(None, alias="PORT", ge=0, le=65535)
    client_id: str | None = Field(None, alias="SLACK_CLIENT_ID")
    client_secret: SecretStr | None = Field(None, alias="SLACK_CLIENT_SECRET", validate_default=True)
    bot_token: SecretStr | None = Field(None, alias="SLACK_BOT_TOKEN", validate_default=True)
    app_token: SecretStr | None = Field(None, alias="SLACK_APP_TOKEN", validate_default=True)
    public_url: str | None = Field(None, alias="VOBO_PUBLIC_URL")
    installations_url: str = Field(DEFAULT_URL, alias="VOBO_INSTALLATIONS_URL")
    api_url: str = Field("https://slack.com/api/", alias="SLACK_API_URL")
    agents: str = Field("", alias="VOBO_AGENT")
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

    @field_validator("client_id")
    @classmethod
    def _is_installed_over_http(cls, client_id: str | None, others: ValidationInfo) -> str | None:
        if client_id and None in (others.data.get("signing_secret"), others.data.get("port")):
            raise PydanticCustomError("http", "Workspaces install the app over HTTP; set SLACK_SIGNING_SECRET and PORT")
        return client_id

    @field_validator("client_secret")
    @classmethod
    def _belongs_together(cls, secret: SecretStr | None, others: ValidationInfo) -> SecretStr | None:
        if secret is None and others.data.get("client_id"):
            raise PydanticCustomError("missing", "Nobody could install the app")
        return secret

    @field_validator("bot_token")
    @classmethod
    def _is_bot_token(cls, token: SecretStr | None, others: ValidationInfo) -> SecretStr | None:
        if "client_id" not in others.data:  # told already
            return token
        installed = others.data["client_id"] is not None
        if token is None and not installed:
            raise PydanticCustomError("missing", "There is no token")
        if token is not None and installed:
            raise PydanticCustomError("both", "With SLACK_CLIENT_ID each workspace has a token of its own; remove it")
        if token is not None and not token.get_secret_value().startswith(("xoxb-", "xoxe.xoxb-")):
            raise PydanticCustomError("token", "It is not a bot token")
        return token

    @field_validator("app_token")
    @classmethod
    def _is_app_token(cls, token: SecretStr | None, others: ValidationInfo) -> SecretStr | None:
        if token is not None and not token.get_secret_value().startswith("xapp-"):
            raise PydanticCustomError("token", "It is not an app-level token")
        http = [others.data.get(name) for name in ("signing_secret", "port") if name in others.data]
        if "client_id" not in others.data:
            return token
        if token is not None and others.data["client_id"]:
            raise PydanticCustomError(
                "both", "Where workspaces install the app, Slack reaches the bot over HTTP; remove it"
            )
        if token is None and None in http:
            raise PydanticCustomError("missing", "Slack cannot reach the bot")
        return token

    @field_validator("api_url")
    @classmethod
    def _ends_with_slash(cls, url: str) -> str:
        if not is_web_address(url):
            raise PydanticCustomError("url", "It must begin with https://, or http:// for a stand-in on this machine")
        return url if url.endswith("/") else f"{url}/"

    @field_validator("public_url")
    @classmethod
    def _is_public(cls, url: str | None) -> str | None:
        if url is not None and not is_web_address(url):
            raise PydanticCustomError("url", "It must begin with https://, or http:// for a trial on this machine")
        return url.rstrip("/") if url else None
