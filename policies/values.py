from pydantic import BaseModel, ConfigDict


class Frozen(BaseModel):
    """A value: equal by content, never changed, refusing what it does not know."""

    model_config = ConfigDict(frozen=True, extra="forbid")
