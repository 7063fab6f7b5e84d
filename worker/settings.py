"""What the worker reads from the environment beside what both processes share."""

from pathlib import Path
from typing import Annotated

from pydantic import Field, SecretStr, field_validator, model_validator
from pydantic_settings import NoDecode

from approvals.settings import Settings

OFFLINE = "offline"
#: The sample, whose planner can drive no other agent.
SAMPLE = "worker.refund_desk"


class WorkerSettings(Settings):
    """Read with `WorkerSettings.read()`, which names every problem and its fix."""

    agent: str = Field(f"{SAMPLE}:build_agent", alias="VOBO_AGENT")
    model: str = Field("", alias="VOBO_MODEL")
    offline: str = Field(f"{SAMPLE}.planner:OfflinePlanner", alias="VOBO_OFFLINE")
    shadow_rules: Annotated[tuple[str, ...], NoDecode] = Field((), alias="VOBO_SHADOW_RULES")
    shadow_reviewers: Path | None = Field(None, alias="VOBO_SHADOW_REVIEWERS")
    weekly_report: bool = Field(True, alias="VOBO_WEEKLY_REPORT")
    openai_key: SecretStr | None = Field(None, alias="OPENAI_API_KEY")
    openai_url: str | None = Field(None, alias="OPENAI_BASE_URL")

    @field_validator("shadow_rules", mode="before")
    @classmethod
    def _split_shadow(cls, text: object) -> object:
        return tuple(part.strip() for part in text.split(",") if part.strip()) if isinstance(text, str) else text

    @model_validator(mode="after")
    def _model_has_a_key(self) -> "WorkerSettings":
        if self.model not in {"", OFFLINE} and self.openai_key is None:
            raise ValueError(
                f"VOBO_MODEL is {self.model}, but OPENAI_API_KEY is not set; set it (any text will do for a local"
                " server), or set VOBO_MODEL to offline"
            )
        if self.openai_key is not None and not self.model:
            raise ValueError("OPENAI_API_KEY is set, but VOBO_MODEL is not; set it to a model's name, or to offline")
        return self

    @property
    def is_offline(self) -> bool:
        """Whether the sample's planner stands in for a model."""
        return self.model in {"", OFFLINE}
