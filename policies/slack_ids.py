"""Slack's ids as `reviewers.toml` writes them."""

import re
from typing import Annotated

from pydantic import AfterValidator

from policies.plain_text import quoted


def _slack_id(kind: str, pattern: str) -> AfterValidator:
    def check(text: str) -> str:
        if not re.fullmatch(pattern, text):
            raise ValueError(f"{quoted(text)} is not a Slack {kind} id; ids look like {pattern[1]}0123ABCD, not @name")
        return text

    return AfterValidator(check)


ChannelId = Annotated[str, _slack_id("channel", "[CG][A-Z0-9_]+")]
UserId = Annotated[str, _slack_id("user", "[UW][A-Z0-9_]+")]
UsergroupId = Annotated[str, _slack_id("usergroup", "[S][A-Z0-9_]+")]
