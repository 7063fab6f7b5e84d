"""The way to ops that needs neither Slack nor the store: VOBO_ALERT_WEBHOOK."""

import http.client
import json
import logging
import urllib.error
import urllib.request

from pydantic import SecretStr

TIMEOUT_S = 10.0

_log = logging.getLogger("vobo.alerts")


class AlertWebhook:
    """Takes `{"text": ...}` at the address; without one nothing is sent. The address is a secret: it lets one post."""

    def __init__(self, url: SecretStr | None) -> None:
        self._url = url.get_secret_value() if url else None

    def send(self, text: str) -> bool:
        """Whether nothing is left to do: it was taken, or there is no address. Why it was not taken is logged."""
        if self._url is None:
            return True
        try:
            said = urllib.request.Request(  # noqa: S310 - whoever sets the address may read files of this process anyway
                self._url,
                data=json.dumps({"text": text}).encode(),
                headers={"Content-Type": "application/json; charset=utf-8"},
            )
            with urllib.request.urlopen(said, timeout=TIMEOUT_S):  # noqa: S310 - as above
                return True
        except urllib.error.HTTPError as refused:
            refused.close()
            _log.warning("VOBO_ALERT_WEBHOOK refuses what it is told: %s", refused.code)
        except (OSError, http.client.HTTPException, ValueError) as failed:
            _log.warning("VOBO_ALERT_WEBHOOK does not answer: %s", type(failed).__name__)
        return False
