"""What Slack refuses about a modal or an app home."""

import json
from typing import Any, Literal

from bot.sandbox import limits
from bot.sandbox.errors import SlackError
from bot.sandbox.schema import Problems, anything, boolean, one_of, record, string
from bot.sandbox.schema_text import plain
from bot.sandbox.validate_blocks import check_blocks
from bot.sandbox.validate_message import decoded, refusal

_SHARED = {
    "private_metadata": string(limits.VIEW_METADATA, 0),
    "callback_id": string(limits.IDENTIFIER, 0),
    "external_id": string(limits.IDENTIFIER, 0),
}
_MODAL = record(
    {"type": one_of("modal"), "title": plain(limits.VIEW_TITLE), "blocks": anything},
    {
        **_SHARED,
        "close": plain(limits.VIEW_TITLE),
        "submit": plain(limits.VIEW_TITLE),
        "clear_on_close": boolean,
        "notify_on_close": boolean,
        "submit_disabled": boolean,
    },
)
_HOME = record({"type": one_of("home"), "blocks": anything}, {**_SHARED, "title": plain(limits.VIEW_TITLE)})


def checked_view(value: Any, kind: Literal["modal", "home"]) -> dict[str, Any]:
    """A view Slack would show.

    Raises:
        SlackError: invalid_arguments with every departure listed, or view_too_large.
    """
    view = decoded(value, "invalid_arguments")
    if not isinstance(view, dict):
        raise SlackError("invalid_arguments")
    if len(json.dumps(view, ensure_ascii=False).encode()) > limits.VIEW_BYTES:
        raise SlackError("view_too_large")
    problems = Problems()
    (_MODAL if kind == "modal" else _HOME)(view, "/view", problems)
    problems.extend(check_blocks(view.get("blocks"), kind, "/view/blocks", limits.VIEW_BLOCKS))
    if problems:
        raise refusal("invalid_arguments", problems)
    if kind == "modal" and not view.get("submit") and any(b["type"] == "input" for b in view["blocks"]):
        problems.add("missing required field: submit (the view has input blocks)", "/view")
        raise refusal("invalid_arguments", problems)
    return view
