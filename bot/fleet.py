"""Many workspaces behind one address: whoever has installed the app is served, each by parts of its own.

The payload that Slack signed says which workspace it is about. Nothing of one workspace is in reach of another's
handlers: they have their own store (with keys of its own), law, token, relay and pool.
"""

import json
import logging
import threading
from collections.abc import Callable, Mapping
from typing import Protocol

from slack_bolt import BoltRequest, BoltResponse

from approvals.errors import ApprovalsError
from bot.errors import BotError
from bot.serving import Served
from bot.tokens import Tokens

#: Between two looks at who has installed the app, and whose token runs out.
ROUND_S = 20.0
_NOT_SERVED = (
    "vobo does not work in this workspace yet. Ask whoever runs it: it may be starting, or need an installation."
)


class Front(Protocol):
    """What a transport hands payloads to."""

    def dispatch(self, request: BoltRequest) -> BoltResponse:
        """Handle one payload; the answer is its acknowledgement."""
        ...

    def noted(self, request: BoltRequest) -> None:
        """A copy of an interaction was dropped."""
        ...

    def missing(self) -> str | None:
        """What keeps it from working, None when all is well."""
        ...


class Fleet:
    """`serve` makes the parts of one workspace from its token; `tell` reaches those who run the deployment.

    `note` is told of a workspace whether it has the app, once and whenever that changes.
    """

    def __init__(
        self,
        serve: Mapping[str, Callable[[str], Served]],
        tokens: Tokens,
        tell: Callable[[str], object],
        note: Callable[[str, bool], None],
    ) -> None:
        self._serve, self._tokens, self._tell, self._note = serve, tokens, tell, note
        self._noted: dict[str, bool] = {}
        self._served: dict[str, Served] = {}
        self._wake, self._stopping = threading.Event(), threading.Event()
        self._thread = threading.Thread(target=self._run, name="fleet", daemon=True)
        self._troubles: dict[str, str] = {}
        self._log = logging.getLogger("vobo.fleet")

    @property
    def teams(self) -> tuple[str, ...]:
        """The workspaces that are served now."""
        return tuple(self._served)

    def served(self, team: str) -> Served | None:
        """The parts of one workspace; None when it is not served."""
        return self._served.get(team)

    def start(self) -> None:
        """Serve whoever has installed the app, and go on looking."""
        self.round()
        self._thread.start()

    def stop(self) -> None:
        """Stop all of them, once nothing is received any more."""
        self._stopping.set()
        self._wake.set()
        self._thread.join()
        for team in list(self._served):
            self._served.pop(team).stop()
        self._tokens.store_held()

    def look(self) -> None:
        """Somebody installed or removed the app: look now."""
        self._wake.set()

    def dispatch(self, request: BoltRequest) -> BoltResponse:
        """Hand a payload to the workspace it is about. For any other it is acknowledged, and nothing else happens."""
        team = request.context.team_id or ""
        served = self._served.get(team)
        if served is not None:
            return served.dispatch(request)
        self._log.warning("a payload came for the workspace %s, which is not served", team[:20] or "unknown")
        if "command" not in request.body:
            return BoltResponse(status=200, body="")
        said = json.dumps({"response_type": "ephemeral", "text": _NOT_SERVED})
        return BoltResponse(status=200, body=said, headers={"content-type": ["application/json"]})

    def noted(self, request: BoltRequest) -> None:
        """Put a dropped copy of an interaction into the ledger of its workspace."""
        served = self._served.get(request.context.team_id or "")
        if served is not None:
            served.noted(request)

    def missing(self) -> str | None:
        """The first thing missing in any workspace. That nobody has installed the app yet is no fault."""
        return next((said for served in list(self._served.values()) if (said := served.missing())), None)

    def round(self) -> None:
        """Look after every workspace once."""
        for team in self._serve:
            try:
                self._look_after(team)
            except (ApprovalsError, BotError) as refused:
                self._trouble(team, str(refused))
            except Exception:  # noqa: BLE001 - the loop outlives whatever is wrong with one workspace
                self._log.exception("the workspace %s could not be looked after", team)
            else:
                self._trouble(team, self._tokens.trouble(team))

    def _look_after(self, team: str) -> None:
        served = self._served.get(team)
        token = self._tokens.of(team)
        if self._noted.get(team) is not (token is not None):
            self._note(team, token is not None)
            self._noted[team] = token is not None
        if token is None and served is not None:
            del self._served[team]
            served.stop()
            self._tell(
                f"vobo was removed from the workspace {team}: nothing is asked there any more, what waits expires."
                " Stop its worker and its clock a day from now."
            )
        elif token is not None and served is not None:
            served.deps.client.token = token
        elif token is not None:
            self._served[team] = found = self._serve[team](token)
            found.start()
            self._log.info("the workspace %s is served", team)

    def _trouble(self, team: str, sentence: str | None) -> None:
        """Told once for as long as it lasts; None when it is over."""
        if sentence is None:
            self._troubles.pop(team, None)
            return
        if self._troubles.get(team) != sentence:
            self._tell(f"The workspace {team}: {sentence}")
        self._troubles[team] = sentence

    def _run(self) -> None:
        while not self._stopping.is_set():
            self._wake.wait(self._tokens.wait_s(ROUND_S))
            self._wake.clear()
            if not self._stopping.is_set():
                self.round()
