"""What the worker reads from the environment beside what both processes share."""

from pydantic import Field, SecretStr, model_validator

from approvals.settings import Settings

OFFLINE = "offline"


class WorkerSettings(Settings):
    """Read with `WorkerSettings.read()`, which names every problem and its fix."""

    agent: str = Field("worker.refund_desk:build_agent", alias="VOBO_AGENT")
    model: str = Field("", alias="VOBO_MODEL")
    offline: str = Field("worker.refund_desk.planner:OfflinePlanner", alias="VOBO_OFFLINE")
    openai_key: SecretStr | None = Field(None, alias="OPENAI_API_KEY")
    openai_url: str | None = Field(None, alias="OPENAI_BASE_URL")

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
