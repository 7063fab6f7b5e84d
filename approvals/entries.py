"""A message that is owed, as a value."""

from typing import Literal

from policies.values import Frozen

Kind = Literal[
    "opening", "card", "outcome", "answer", "alert", "notice", "reminder", "direct", "undo", "report", "picture"
]


class OutboxEntry(Frozen):
    """One Slack message the bot owes: rendered from the newest state, sent until `delivered` reaches `desired`.

    `subject` is a run id, batch id, `run:pause` or call key, by kind. `error` is why the last attempt failed;
    `told_elsewhere` says that ops has read this version on another way than through Slack. `before` is the ts of the
    message that told of the matter when it came up before: another one, which nobody is notified of again.
    """

    id: str
    kind: Kind
    subject: str
    desired: int
    delivered: int = 0
    channel: str | None = None
    ts: str | None = None
    attempts: int = 0
    error: str | None = None
    told_elsewhere: bool = False
    before: str | None = None
    sending: bool = False
    closed_by: str | None = None
