"""How Slack writes a message's blocks back to the app: text escaped once more, so never fit to be sent again."""

import re
from typing import Any

_BARE_AMPERSAND = re.compile(r"&(?!(?:amp|lt|gt);)")


def echoed(value: Any) -> Any:
    """A copy in which every text object is escaped, as in the payload of a click.

    An app that rebuilds a message from this grows it past the limits; it should render from its own state.
    """
    if isinstance(value, list):
        return [echoed(one) for one in value]
    if not isinstance(value, dict):
        return value
    copied = {key: echoed(one) for key, one in value.items()}
    if copied.get("type") in ("plain_text", "mrkdwn") and isinstance(copied.get("text"), str):
        text = _BARE_AMPERSAND.sub("&amp;", copied["text"])
        if copied["type"] == "plain_text":
            text = text.replace("<", "&lt;").replace(">", "&gt;")
        copied["text"] = text
    return copied
