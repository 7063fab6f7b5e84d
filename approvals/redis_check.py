"""Connecting to the server that `REDIS_URL` names, and refusing one that could lose decisions."""

from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit, urlunsplit

import redis
from redis.backoff import ExponentialWithJitterBackoff
from redis.exceptions import AuthenticationError, RedisError, ResponseError
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import TimeoutError as RedisTimeoutError
from redis.retry import Retry
from redis.sentinel import Sentinel

from approvals.errors import ApprovalsError

SENTINEL_SCHEME = "redis+sentinel"
SCHEMES = ("redis", "rediss", "unix", SENTINEL_SCHEME)
OLDEST_VERSION = (6, 2)
CONNECT_TIMEOUT_S = 5.0
ANSWER_TIMEOUT_S = 15.0
RETRIES = 3


class UnsafeRedis(ApprovalsError):
    """The server answers, but decisions could be lost on it. The text says which setting to change."""


class RedisUnreachable(ApprovalsError):
    """The server does not answer, or refuses the credentials. The text never holds the password."""


class RedisUrlError(ApprovalsError):
    """`REDIS_URL` is not a URL this project understands."""


def connect(url: str) -> redis.Redis:
    """A client for `url`: redis, rediss, unix, or redis+sentinel://host:port,host:port/master.

    redis-py repeats a command whose answer got lost, up to ten times by default, and so doubles whatever is
    not idempotent. All our writes carry an id chosen by the caller and may be repeated; three repeats bridge
    a restart or a failover of a second or two, and more would only hide an outage from the person waiting.
    No command is sent here; a server that is down shows at the first use, or in `check_server`.

    Raises:
        RedisUrlError: the URL cannot be understood.
    """
    scheme = url.partition("://")[0]
    if scheme not in SCHEMES:
        raise RedisUrlError(f"REDIS_URL must start with one of {', '.join(f'{name}://' for name in SCHEMES)}.")
    try:
        if scheme == SENTINEL_SCHEME:
            return _sentinel_master(url)
        return redis.Redis.from_url(url, **_options())
    except ValueError as error:
        raise RedisUrlError(f"REDIS_URL {without_password(url)} is not a valid address: {error}.") from None


def check_server(client: redis.Redis) -> list[str]:
    """Refuse a server that could lose decisions; return the warnings an operator should see at start-up.

    Raises:
        RedisUnreachable: no answer, or the credentials are refused.
        UnsafeRedis: too old, a replica, or it evicts keys when its memory is full.
    """
    try:
        info: dict[str, Any] = client.info()
        settings = _settings(client, info)
    except AuthenticationError:
        raise RedisUnreachable("Redis refuses the credentials in REDIS_URL. Correct user and password.") from None
    except (RedisConnectionError, RedisTimeoutError) as error:
        raise RedisUnreachable(
            f"Redis does not answer at REDIS_URL ({_address(client)}): {type(error).__name__}."
            " Start it, or correct REDIS_URL."
        ) from None
    except RedisError as error:
        raise UnsafeRedis(f"Redis does not tell its settings ({error}). Allow this user INFO.") from None
    _refuse(info, settings)
    return _warnings(settings)


def without_password(url: str) -> str:
    """`url` fit for a log or an error: the password is replaced by stars, the query is dropped."""
    parts = urlsplit(url)
    credentials, at, hosts = parts.netloc.rpartition("@")
    user, colon, _ = credentials.partition(":")
    return urlunsplit((parts.scheme, f"{user}{':***' if colon else ''}{at}{hosts}", parts.path, "", ""))


def _options() -> dict[str, Any]:
    return {
        "decode_responses": False,
        "socket_connect_timeout": CONNECT_TIMEOUT_S,
        "socket_timeout": ANSWER_TIMEOUT_S,
        "retry": Retry(ExponentialWithJitterBackoff(base=0.1, cap=1.0), RETRIES),
        "health_check_interval": 30,
    }


def _sentinel_master(url: str) -> redis.Redis:
    parts = urlsplit(url)
    credentials, _, hosts = parts.netloc.rpartition("@")
    master = parts.path.strip("/")
    if not hosts or not master:
        raise RedisUrlError("REDIS_URL for Sentinel reads redis+sentinel://host:port,host:port/name-of-master.")
    user, _, password = (unquote(part) for part in credentials.partition(":"))
    query = parse_qs(parts.query)
    sentinels = [_host_and_port(host) for host in hosts.split(",")]
    make: Any = Sentinel  # redis-py leaves this class without types
    client: redis.Redis = make(sentinels, sentinel_kwargs={"socket_timeout": CONNECT_TIMEOUT_S}).master_for(
        master,
        username=user or None,
        password=password or None,
        db=int(query.get("db", ["0"])[0]),
        ssl=query.get("ssl", ["false"])[0] == "true",
        **_options(),
    )
    return client


def _host_and_port(text: str) -> tuple[str, int]:
    host, colon, port = text.rpartition(":")
    return (host, int(port)) if colon else (text, 26379)


def _address(client: redis.Redis) -> str:
    options = client.connection_pool.connection_kwargs
    return str(options.get("path") or f"{options.get('host', 'Sentinel')}:{options.get('port', '')}".rstrip(":"))


def _settings(client: redis.Redis, info: dict[str, Any]) -> dict[str, str]:
    """The three settings that matter; managed servers forbid CONFIG, INFO then tells two of them."""
    try:
        found = [client.config_get(name) for name in ("maxmemory-policy", "appendonly", "appendfsync")]
    except ResponseError:
        return {
            "maxmemory-policy": str(info.get("maxmemory_policy", "unknown")),
            "appendonly": "yes" if info.get("aof_enabled") else "no",
            "appendfsync": "unknown",
        }
    return {_text(name): _text(value) for answer in found for name, value in answer.items()}


def _refuse(info: dict[str, Any], settings: dict[str, str]) -> None:
    version = tuple(int(part) for part in str(info["redis_version"]).split(".")[:2])
    if version < OLDEST_VERSION:
        raise UnsafeRedis(f"Redis {info['redis_version']} is too old; use Redis 6.2 or Valkey 7.2, or newer.")
    if info.get("role") not in {"master", "primary"}:
        raise UnsafeRedis("REDIS_URL names a replica, which cannot record decisions. Point it at the primary.")
    policy = settings.get("maxmemory-policy", "unknown")
    if policy != "noeviction":
        raise UnsafeRedis(
            f"Redis may evict open approvals when its memory is full (maxmemory-policy is {policy})."
            " Set maxmemory-policy to noeviction."
        )


def _warnings(settings: dict[str, str]) -> list[str]:
    if settings.get("appendonly") != "yes":
        return ["REDIS KEEPS NOTHING ON DISK (appendonly is off): a restart forgets every open approval. Turn it on."]
    fsync = settings.get("appendfsync", "unknown")
    if fsync == "unknown":
        return ["Redis does not tell its appendfsync setting; make sure it is always, or accept losing seconds."]
    if fsync != "always":
        return [f"REDIS MAY FORGET THE LAST DECISIONS in a crash (appendfsync is {fsync}). Set appendfsync always."]
    return []


def _text(value: Any) -> str:
    return value.decode() if isinstance(value, bytes) else str(value)
