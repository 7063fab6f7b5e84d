"""A browser, as far as installing an app needs one: it presses a button and tells where it was sent."""

import http
import urllib.error
import urllib.parse
import urllib.request
from typing import Any

from bot.sandbox.errors import SandboxError


class _Stay(urllib.request.HTTPRedirectHandler):
    """The address is the answer; nobody goes there."""

    def redirect_request(self, *_args: Any, **_kwargs: Any) -> None:
        """None: do not follow."""


_NO_REDIRECT = urllib.request.build_opener(_Stay)


def pressed(base: str, url: str, decision: str) -> str:
    """Answer the question at `url` on the workspace at `base`.

    Raises:
        SandboxError: it asks no question there.
    """
    split = urllib.parse.urlsplit(url)
    try:
        _NO_REDIRECT.open(f"{base}{split.path}?{split.query}", f"decision={decision}".encode(), timeout=10)
    except urllib.error.HTTPError as answer:
        if answer.code == http.HTTPStatus.FOUND:
            return str(answer.headers["Location"])
        raise SandboxError(f"The workspace does not install the app: {answer.read().decode()}.") from None
    raise SandboxError("The workspace answered with a page instead of the way back.")
