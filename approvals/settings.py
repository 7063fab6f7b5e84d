"""What both processes read from the environment and `.env`, every problem reported at once, by name, with the fix."""

from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import Field, SecretStr, ValidationError, field_validator
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

import policies
from approvals.errors import ApprovalsError


class SettingsRefused(ApprovalsError):
    """Something in the environment is missing or wrong; the text names every variable and its fix."""


#: The sample's people, wherever this checkout is.
SAMPLE_REVIEWERS = Path(policies.__file__).parent / "rules" / "reviewers.toml"

#: What to do about a variable that is missing or wrong.
FIXES = {
    "REDIS_URL": "Set it to the Redis or Valkey that keeps the state, for example redis://localhost:6379/0."
    " (`make demo` starts one of its own.)",
    "VOBO_STATE_KEYS": "Set it to one or more base64 keys of 32 bytes, newest first, the same for bot and worker."
    " `vobo keys new` makes one.",
    "SLACK_BOT_TOKEN": "Set it to the bot token (xoxb-...) of your Slack app; see OAuth & Permissions in its settings.",
    "SLACK_APP_TOKEN": "Set it to an app-level token (xapp-...) with connections:write, or use HTTP mode:"
    " set SLACK_SIGNING_SECRET and PORT.",
    "SLACK_SIGNING_SECRET": "Set it to the signing secret under Basic Information in the Slack app's settings.",
    "VOBO_OPS_CHANNEL": "Set it to the id of the channel (C...) where ops reads alerts, and invite the bot there.",
    "VOBO_AGENT": "Set it to package.module:factory, for example worker.refund_desk:build_agent.",
    "VOBO_RULES": "Set it to the modules with your rules, comma-separated, for example policies.rules.",
    "VOBO_REVIEWERS": "Set it to the path of your reviewers.toml.",
}


class LawSettings(BaseSettings):
    """What the law is read from."""

    model_config = SettingsConfigDict(env_file=".env", extra="ignore", env_ignore_empty=True, populate_by_name=True)

    rules: Annotated[tuple[str, ...], NoDecode] = Field(("policies.rules",), alias="VOBO_RULES")
    reviewers: Path = Field(SAMPLE_REVIEWERS, alias="VOBO_REVIEWERS")

    @classmethod
    def read(cls, **overrides: Any) -> Self:
        """Read the environment.

        Raises:
            SettingsRefused: naming every variable that is missing or wrong, and its fix.
        """
        try:
            return cls(**overrides)
        except ValidationError as refused:
            lines = [cls._told(error) for error in refused.errors()]
            raise SettingsRefused("\n".join(lines)) from None

    @field_validator("rules", mode="before")
    @classmethod
    def _split(cls, text: object) -> object:
        return tuple(part.strip() for part in text.split(",") if part.strip()) if isinstance(text, str) else text

    @classmethod
    def _told(cls, error: Any) -> str:
        place = str(error["loc"][0]) if error["loc"] else "the environment"
        field = cls.model_fields.get(place)  # a default that does not hold is reported under the field's own name
        name = field.alias or place if field else place
        fix = FIXES.get(name, "")
        if error["type"] == "missing":
            return f"{name} is not set. {fix}".strip()
        return f"{name} is wrong: {error['msg'][0].lower()}{error['msg'][1:]}. {fix}".strip()


class Settings(LawSettings):
    """Shared by bot, worker, clock and the `vobo` command."""

    redis_url: str = Field(alias="REDIS_URL")
    state_keys: SecretStr = Field(alias="VOBO_STATE_KEYS")
    ledger_url: str = Field("sqlite:///.var/ledger.db", alias="VOBO_LEDGER_URL")
    anchor_key: SecretStr | None = Field(None, alias="VOBO_ANCHOR_KEY")
    ops_channel: str | None = Field(None, alias="VOBO_OPS_CHANNEL")
    health_port: int | None = Field(None, alias="VOBO_HEALTH_PORT", ge=0, le=65535)
