"""What the workspace refuses, in Slack's own words and in ours."""

from typing import Any


class SlackError(Exception):
    """A Web API refusal. `code` is Slack's name for it; `extra` is merged into the JSON answer."""

    def __init__(self, code: str, **extra: Any) -> None:
        super().__init__(code)
        self.code = code
        self.extra = extra

    def body(self) -> dict[str, Any]:
        """The JSON object Slack would answer with."""
        return {"ok": False, "error": self.code, **self.extra}


class RateLimitedError(SlackError):
    """HTTP 429: the caller must wait `retry_after` whole seconds before it tries again."""

    def __init__(self, retry_after: int) -> None:
        super().__init__("ratelimited")
        self.retry_after = retry_after


class SandboxError(Exception):
    """A person (or a test) asked for something no Slack client offers; the text says what to do instead."""
