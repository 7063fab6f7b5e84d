"""What both processes read from the environment and `.env`, every problem reported at once, by name, with the fix."""

from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import Field, SecretStr, ValidationError, ValidationInfo, field_validator, model_validator
from pydantic_core import PydanticCustomError
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

import policies
from approvals.settings_text import is_web_address, one_line, without_margins
from approvals.workspaces import SettingsRefused, team_of, text_of, texts_by_workspace
from policies.reviewers import Reviewers

__all__ = ["LawSettings", "Settings", "SettingsRefused"]


#: What pydantic says in words of its own about a number.
_NUMBERS = {
    "int_parsing": "it is not a whole number",
    "greater_than_equal": "the number is too small",
    "less_than_equal": "the number is too large",
}

#: The sample's people, wherever this checkout is.
SAMPLE_REVIEWERS = Path(policies.__file__).parent / "rules" / "reviewers.toml"

#: What to do about a variable that is missing or wrong.
FIXES = {
    "REDIS_URL": "Set it to the Redis or Valkey that keeps the state, for example redis://localhost:6379/0."
    " (`make demo` starts one of its own.)",
    "VOBO_STATE_KEYS": "Set it to one or more base64 keys of 32 bytes, newest first, the same for bot and worker."
    " `vobo keys new` makes one.",
    "SLACK_BOT_TOKEN": "Set it to the bot token (xoxb-...) of your Slack app; see OAuth & Permissions in its settings.",
    "SLACK_APP_TOKEN": "Set it to an app-level token (xapp-...) with connections:write, made under Basic Information in"
    " the Slack app's settings, or use HTTP mode: set SLACK_SIGNING_SECRET and PORT.",
    "SLACK_SIGNING_SECRET": "Set it to the signing secret under Basic Information in the Slack app's settings.",
    "VOBO_OPS_CHANNEL": "Set it to the id of the channel (C...) where ops reads alerts, and invite the bot there.",
    "VOBO_AGENT": "Set it to package.module:factory, for example worker.refund_desk:build_agent.",
    "VOBO_RULES": "Set it to the modules with your rules, comma-separated, for example policies.rules.",
    "VOBO_REVIEWERS": "Set it to the path of your reviewers.toml, or of a directory with one for each workspace.",
    "SLACK_CLIENT_ID": "Set it to the client id under Basic Information in the Slack app's settings.",
    "SLACK_CLIENT_SECRET": "Set it to the client secret under Basic Information in the Slack app's settings.",
    "VOBO_PUBLIC_URL": "Set it to the address under which Slack reaches the bot, for example https://vobo.example.com.",
    "VOBO_ALERT_WEBHOOK": 'Set it to the URL that takes {"text": ...}, or leave it out.',
    "VOBO_HEALTH_PORT": "Set it to a free port number, another one for each process on one machine, or leave it out.",
    "SLACK_API_URL": "Leave it out for Slack itself.",
    "PORT": "Set it to the number of the port at which Slack's requests arrive, for example 3000.",
    "OPENAI_API_KEY": "Set it to the key of the model's provider; any text will do for a local server.",
    "VOBO_LANGUAGE": "Set it to the language of what many read in Slack, for example en or es, or leave it out.",
    "VOBO_WEEKLY_REPORT": "Set it to off or on, or leave it out.",
    "VOBO_MODEL": "Set it to a model's name, or to offline for the sample's planner.",
}

#: Fields that hold several values, with commas between them.
_LISTED = {"rules", "shadow_rules", "state_keys", "agents", "agent"}
DOT_ENV = ".env"
NO_DOT_ENV = "There is no .env in {place}; start where yours lies, or make one with `vobo init`."


class LawSettings(BaseSettings):
    """What the law is read from."""

    model_config = SettingsConfigDict(env_file=DOT_ENV, extra="ignore", env_ignore_empty=True, populate_by_name=True)

    rules: Annotated[tuple[str, ...], NoDecode] = Field(("policies.rules",), alias="VOBO_RULES")
    reviewers: Path = Field(SAMPLE_REVIEWERS, alias="VOBO_REVIEWERS")
    workspace: str | None = Field(None, alias="VOBO_WORKSPACE")

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
            looked_here = "_env_file" not in overrides
            if looked_here and any(" is not set. " in line for line in lines) and not Path(DOT_ENV).is_file():
                lines.append(NO_DOT_ENV.format(place=Path.cwd()))
            raise SettingsRefused("\n".join(lines)) from None

    def reviewers_text(self) -> str:
        """The text of reviewers.toml; of VOBO_WORKSPACE's where VOBO_REVIEWERS names a directory.

        Raises:
            SettingsRefused: it cannot be read, or nothing tells which is meant.
        """
        return text_of(self.reviewers, "VOBO_REVIEWERS", self.workspace)

    def reviewers_texts(self) -> dict[str, str]:
        """The text for every workspace, by its id; of VOBO_WORKSPACE's alone where that is set.

        Raises:
            SettingsRefused: one of them cannot be read.
        """
        if self.workspace is None and self.reviewers.is_dir():
            return texts_by_workspace(self.reviewers, "VOBO_REVIEWERS")
        text = self.reviewers_text()
        return {team_of(text) or "": text}

    @model_validator(mode="before")
    @classmethod
    def _without_margins(cls, values: dict[str, Any]) -> dict[str, Any]:
        return without_margins(values)

    @field_validator("*", mode="before")
    @classmethod
    def _is_one_line(cls, value: object, told: ValidationInfo) -> object:
        return one_line(value, listed=told.field_name in _LISTED) if isinstance(value, str) else value

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
        if not error["loc"]:  # variables that do not fit each other: the sentence names them, and the fix
            return f"{_said(error)}."
        return f"{name} is wrong: {_said(error)}. {fix}".strip()


class Settings(LawSettings):
    """Shared by bot, worker, clock and the `vobo` command."""

    redis_url: str = Field(alias="REDIS_URL")
    state_keys: SecretStr = Field(alias="VOBO_STATE_KEYS")
    ledger_url: str = Field("sqlite:///.var/ledger.db", alias="VOBO_LEDGER_URL")
    anchor_key: SecretStr | None = Field(None, alias="VOBO_ANCHOR_KEY")
    ops_channel: str | None = Field(None, alias="VOBO_OPS_CHANNEL")
    alert_webhook: SecretStr | None = Field(None, alias="VOBO_ALERT_WEBHOOK")
    health_port: int | None = Field(None, alias="VOBO_HEALTH_PORT", ge=0, le=65535)
    health_host: str = Field("127.0.0.1", alias="VOBO_HEALTH_HOST")

    @field_validator("alert_webhook")
    @classmethod
    def _is_reached_over_the_web(cls, webhook: SecretStr | None) -> SecretStr | None:
        if webhook is not None and not is_web_address(webhook.get_secret_value()):
            raise PydanticCustomError("url", "It must begin with https:// or http:// and name a host")
        return webhook

    def ops_channel_of(self, reviewers: Reviewers) -> str | None:
        """Where ops reads alerts about this workspace: the channel of its own file, else VOBO_OPS_CHANNEL."""
        return reviewers.ops_channel or self.ops_channel


def _said(error: Any) -> str:
    """What is wrong, as the rest of a sentence; never the value, which may be a secret."""
    own = error["ctx"]["error"] if error["type"] == "value_error" else None
    said = _NUMBERS.get(error["type"]) or str(own or error["msg"])
    return said if own is not None and not error["loc"] else f"{said[0].lower()}{said[1:]}"
