"""A strict Slack workspace in a browser tab, for the demo and the tests.

`python -m bot.sandbox` serves it; in a test::

    with Workspace.serve() as workspace:            # keywords: the fields of Settings, e.g. ack_timeout=0.5
        client = WebClient("xoxb-sandbox", base_url=workspace.api_url)
        said = workspace.mention("U0005", "C_REFUNDS", "refund yesterday's failed payments")
        card = workspace.wait_message("C_REFUNDS", "Refund", thread_ts=said["ts"])
        workspace.click("U0001", "C_REFUNDS", card["ts"], "call.approve", block_id="call:k1")

The app's tokens are `xoxb-sandbox` and `xapp-sandbox`; who is who stands in `seed.py`. On the page every control bears
`data-action-id`, `data-block-id`, `data-value` and, for Playwright, its action id as `data-testid`; an input
`input-<block id>` as `data-testid`; a message `data-ts`; a person `person-<user id>`; a channel `channel-<id>`.
"""

from bot.sandbox.client import WorkspaceClient
from bot.sandbox.errors import SandboxError
from bot.sandbox.workspace import Workspace

__all__ = ["SandboxError", "Workspace", "WorkspaceClient"]
