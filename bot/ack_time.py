"""How long Slack waits for an acknowledgement, measured around all that happens before it."""

from typing import Any

from slack_bolt import App, BoltRequest, BoltResponse

from approvals.metrics import Timings

#: What Slack sends, as its acknowledgement time is told by.
KINDS = frozenset({"block_actions", "view_submission", "view_closed", "event_callback", "command", "block_suggestion"})


class TimedApp(App):
    """A Bolt app that says how long each payload waited for its acknowledgement."""

    def __init__(self, timings: Timings, **options: Any) -> None:
        super().__init__(**options)
        self._timings = timings

    def dispatch(self, req: BoltRequest) -> BoltResponse:
        """Handle one payload; the answer is its acknowledgement."""
        with self._timings.ack.labels(kind_of(req.body)).time():
            return super().dispatch(req)


def kind_of(body: dict[str, Any]) -> str:
    """The kind of a payload, of a few that are known."""
    said = str(body.get("type") or ("command" if "command" in body else ""))
    return said if said in KINDS else "other"
