"""`.env` and the manifest of the Slack app, as `vobo init` writes them."""

import re
from collections.abc import Mapping
from importlib.resources import files

from approvals.settings import SettingsRefused

#: The same text as `.env.example` in the checkout, which an installed vobo does not have.
TEMPLATE = files("approvals.commands").joinpath("env.example")
_LINE = re.compile(r"^#?([A-Z_]+)=(.*)$")
_PLAIN = re.compile(r"[A-Za-z0-9_./:@,+=%?&-]*")
_HOST = re.compile(r"https://[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)+(:\d+)?")


def env_text(values: Mapping[str, str | None]) -> str:
    """The template with these values filled in; None comments a line out. Comments stay, what is not named stays.

    Raises:
        SettingsRefused: a value that no `.env` can hold.
    """
    lines = TEMPLATE.read_text(encoding="utf-8").splitlines()
    return "\n".join(_filled(line, values) for line in lines) + "\n"


def manifest_text(host: str | None) -> str:
    """The app's manifest: for Socket Mode, or for HTTP at the address `host`.

    Raises:
        SettingsRefused: `host` is no https address.
    """
    text = files("bot").joinpath("manifest.yaml").read_text(encoding="utf-8")
    if host is None:
        return text
    host = host.rstrip("/")
    if not _HOST.fullmatch(host):
        raise SettingsRefused(f"{host!r} is not an address that Slack can reach; write https://vobo.example.com.")
    text = text.replace("socket_mode_enabled: true", "socket_mode_enabled: false")
    return re.sub(r"^( +)# (url|request_url): https://<your host>(/\S+)$", rf"\1\2: {host}\3", text, flags=re.MULTILINE)


def _filled(line: str, values: Mapping[str, str | None]) -> str:
    found = _LINE.match(line)
    if found is None or found[1] not in values:
        return line
    value = values[found[1]]
    return f"#{found[1]}={found[2]}" if value is None else f"{found[1]}={_quoted(found[1], value)}"


def _quoted(name: str, value: str) -> str:
    if _PLAIN.fullmatch(value):
        return value
    # Whoever reads a .env puts variables into ${...}, inside quotes too.
    if not value.isprintable() or any(sign in value for sign in ("'", "\\", "${")):
        raise SettingsRefused(
            f"{name} holds a character that a .env cannot: a quote, a backslash, ${{, or one that is not printed."
        )
    return f"'{value}'"
