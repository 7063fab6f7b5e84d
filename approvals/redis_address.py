"""What `REDIS_URL` says: which servers or Sentinels, how the way there is encrypted, how many copies a write needs."""

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Self
from urllib.parse import SplitResult, parse_qs, unquote, urlencode, urlsplit, urlunsplit

from approvals.errors import ApprovalsError

SENTINEL_SCHEME = "redis+sentinel"
SCHEMES = ("redis", "rediss", "unix", SENTINEL_SCHEME)
SENTINEL_PORT = 26379
MOST_REPLICAS = 9

_FILES = ("ssl_ca_certs", "ssl_certfile", "ssl_keyfile")
_TLS = (*_FILES, "ssl_check_hostname", "ssl_cert_reqs")
_OF_SENTINELS = ("ssl", "sentinel_username", "sentinel_password")
_EVERYWHERE = ("db", "wait_replicas")
_SENTINEL_FORM = (
    "REDIS_URL for Sentinel reads redis+sentinel://[user:password@]host:port,host:port/name-of-the-primary[/db],"
    " with %XX for special characters in a password."
)


class RedisUrlError(ApprovalsError):
    """`REDIS_URL` is not a URL this project understands. The text never holds a password."""


@dataclass(frozen=True, slots=True)
class Address:
    """A REDIS_URL, read. Without `service` it is `url` alone that counts, else everything but `url`."""

    url: str = field(repr=False)
    #: How many replicas must have what people decide before it counts; see approvals/replicas.py.
    replicas: int = 0
    sentinels: tuple[tuple[str, int], ...] = ()
    service: str = ""
    db: int = 0
    #: redis-py's options for the primary and for the Sentinels: who logs in there, how the way is encrypted.
    primary: Mapping[str, Any] = field(default_factory=dict, repr=False)
    sentinel: Mapping[str, Any] = field(default_factory=dict, repr=False)

    @classmethod
    def of(cls, url: str) -> Self:
        """Read a URL.

        Raises:
            RedisUrlError: it cannot be understood, or would not be as safe as it looks.
        """
        scheme = url.partition("://")[0]
        if scheme not in SCHEMES:
            raise RedisUrlError(f"REDIS_URL must start with one of {', '.join(f'{name}://' for name in SCHEMES)}.")
        if not _is_address(url, with_port=scheme != SENTINEL_SCHEME):
            raise RedisUrlError(
                f"REDIS_URL {without_password(url)} is not a valid address. Write redis://[user:password@]host:port/db,"
                " with %XX for special characters in the password."
            )
        parts = _split(url)
        options = _options(url, parts.query, _known(scheme))
        replicas = _whole("wait_replicas", options.pop("wait_replicas", "0"), most=MOST_REPLICAS)
        if scheme == SENTINEL_SCHEME:
            return cls(url, replicas, **_sentinel(parts.netloc, parts.path, options))
        _tls(options)
        _whole("db", options.get("db", "0"))
        bare = url.partition("?")[0]
        return cls(f"{bare}?{urlencode(options)}" if options else bare, replicas)


def without_password(url: str) -> str:
    """`url` fit for a log or an error: the password is replaced by stars, the query is dropped.

    Where an unquoted `/`, `?` or `#` tears a password apart nothing can be told of the rest, so nothing is shown.
    """
    scheme, _, rest = url.partition("://")
    try:
        parts = _split(url)
    except ValueError:
        return f"{scheme}://***"
    if scheme != "unix" and "@" in rest[len(parts.netloc) :]:
        return f"{scheme}://***"
    credentials, at, hosts = parts.netloc.rpartition("@")
    user, colon, _ = credentials.partition(":")
    return urlunsplit((parts.scheme, f"{user}{':***' if colon else ''}{at}{hosts}", parts.path, "", ""))


def passwords_in(url: str) -> list[str]:
    """Every password a URL holds, as it is typed in at the server."""
    parts = _split(url)
    asked = parse_qs(parts.query).get("sentinel_password", [])
    return [*([unquote(parts.password)] if parts.password else []), *asked]


def _split(url: str) -> SplitResult:
    """As urlsplit, which in newer Pythons refuses an IPv6 address beside other hosts, as a list of Sentinels has it."""
    scheme, _, rest = url.partition("://")
    hosts = re.split(r"[/?#]", rest, maxsplit=1)[0] if scheme == SENTINEL_SCHEME else ""
    return urlsplit(f"{scheme}://{rest[len(hosts) :]}")._replace(netloc=hosts) if hosts else urlsplit(url)


def _is_address(url: str, *, with_port: bool) -> bool:
    try:
        parts = _split(url)
        port = parts.port if with_port else None  # raises where it is no number
    except ValueError:
        return False
    return port != 0 and not parts.fragment


def _known(scheme: str) -> tuple[str, ...]:
    own = {"rediss": _TLS, SENTINEL_SCHEME: (*_TLS, *_OF_SENTINELS)}
    return (*_EVERYWHERE, *own.get(scheme, ()))


def _options(url: str, query: str, known: tuple[str, ...]) -> dict[str, str]:
    """The options behind the question mark; one that nobody would read is refused, since it was meant to matter."""
    given = parse_qs(query, keep_blank_values=True)
    for name, values in given.items():
        if name in _TLS and name not in known:
            raise RedisUrlError(f"REDIS_URL has {name} but is not encrypted. Let it begin with rediss://.")
        if name not in known:
            raise RedisUrlError(
                f"REDIS_URL {without_password(url)} has an option that nobody reads. Known here: {', '.join(known)}."
            )
        if len(values) > 1:
            raise RedisUrlError(f"REDIS_URL has {name} twice. Leave one of them out.")
    return {name: values[0] for name, values in given.items()}


def _sentinel(netloc: str, path: str, options: dict[str, str]) -> dict[str, Any]:
    credentials, _, hosts = netloc.rpartition("@")
    service, _, db = path.strip("/").partition("/")
    if not all(hosts.split(",")) or not service:
        raise RedisUrlError(_SENTINEL_FORM)
    user, _, password = (unquote(part) or None for part in credentials.partition(":"))
    encrypted = _yes("ssl", options.pop("ssl", "false"))
    tls = _tls({name: value for name, value in options.items() if name in _TLS})
    if tls and not encrypted:
        raise RedisUrlError(f"REDIS_URL has {next(iter(tls))} but is not encrypted. Add ssl=true.")
    way = {"ssl": True, **tls} if encrypted else {}
    return {
        "sentinels": tuple(_host_and_port(host) for host in hosts.split(",")),
        "service": unquote(service),
        "db": _whole("db", db or options.get("db", "0")),
        "primary": {"username": user, "password": password, **way},
        "sentinel": {
            "username": options.get("sentinel_username"),
            "password": options.get("sentinel_password"),
            **way,
        },
    }


def _tls(options: dict[str, str]) -> dict[str, Any]:
    """The options about encryption among these, checked.

    Raises:
        RedisUrlError: a file cannot be read, or anybody's certificate would be taken.
    """
    found: dict[str, Any] = {name: value for name, value in options.items() if name in _TLS}
    for name in _FILES:
        if name in found and not os.access(found[name], os.R_OK):
            raise RedisUrlError(f"REDIS_URL names {found[name]} as {name}, which cannot be read. Correct its path.")
    if found.get("ssl_cert_reqs", "required") != "required" or not _yes(
        "ssl_check_hostname", found.get("ssl_check_hostname", "true")
    ):
        raise RedisUrlError(
            "REDIS_URL would take anybody's certificate, and with it anybody's server. Leave out ssl_cert_reqs and"
            " ssl_check_hostname, and name the file of your own authority with ssl_ca_certs."
        )
    return {name: found[name] for name in _FILES if name in found}


def _host_and_port(text: str) -> tuple[str, int]:
    host, colon, port = text.rpartition(":")
    if not colon or text.endswith("]"):
        host, port = text, str(SENTINEL_PORT)
    if not host or not port.isdecimal():
        raise RedisUrlError(_SENTINEL_FORM)
    return host.strip("[]"), int(port)


def _whole(name: str, text: str, *, most: int = 65535) -> int:
    if not text.isdecimal() or int(text) > most:
        raise RedisUrlError(f"REDIS_URL has a {name} that is no number from 0 to {most}.")
    return int(text)


def _yes(name: str, text: str) -> bool:
    if text.lower() not in {"true", "false"}:
        raise RedisUrlError(f"REDIS_URL has a {name} that is neither true nor false.")
    return text.lower() == "true"
