"""Connecting to the server that `REDIS_URL` names, and refusing one that could lose decisions."""

import functools
import ssl
from typing import Any

import redis
from redis.backoff import ExponentialWithJitterBackoff, NoBackoff
from redis.connection import SSLConnection
from redis.driver_info import DriverInfo
from redis.exceptions import AuthenticationError, InvalidResponse, RedisError, ResponseError
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import TimeoutError as RedisTimeoutError
from redis.retry import Retry
from redis.sentinel import MasterNotFoundError, Sentinel, SentinelConnectionPool

from approvals.errors import ApprovalsError
from approvals.redis_address import Address, RedisUrlError, without_password
from approvals.redis_refusals import NO_DISK, StoreUnusable, refusal
from approvals.replicas import ReplicatedRedis
from approvals.sentinel_connections import WholeAnswers, WholeEncryptedAnswers

__all__ = ["RedisUnreachable", "RedisUrlError", "UnsafeRedis", "check_server", "connect", "without_password"]

OLDEST_VERSION = (6, 2)
CONNECT_TIMEOUT_S = 5.0
ANSWER_TIMEOUT_S = 15.0
RETRIES = 3
#: A Sentinel that is down must not use up the patience meant for the next one.
SENTINEL_TIMEOUT_S = 1.0


class UnsafeRedis(ApprovalsError):
    """The server answers, but decisions could be lost on it. The text says which setting to change."""


class RedisUnreachable(ApprovalsError):
    """The server does not answer, or refuses the credentials. The text never holds the password."""


class RedisAway(RedisUnreachable):
    """The server does not answer now. For all that can be known here it may later, without any change of a setting."""


def connect(url: str) -> redis.Redis:
    """A client for `url`: redis, rediss, unix, or redis+sentinel://host:port,host:port/name-of-the-primary/db.

    redis-py repeats a command whose answer got lost, up to ten times by default, and so doubles whatever is
    not idempotent. All our writes carry an id chosen by the caller and may be repeated; three repeats bridge
    a restart of a second or two, and more would only hide an outage from the person waiting.
    No command is sent here; a server that is down shows at the first use, or in `check_server`.
    Through Sentinel every new connection asks who the primary is; one that became a replica is left.

    Raises:
        RedisUrlError: the URL cannot be understood.
    """
    address = Address.of(url)
    client: Any = _through_sentinels(address) if address.service else _straight(address)
    client.replicas = address.replicas
    found: redis.Redis = client
    return found


def check_server(client: redis.Redis) -> list[str]:
    """Refuse a server that could lose decisions; return the warnings an operator should see at start-up.

    Raises:
        RedisAway: no answer.
        RedisUnreachable: the credentials are refused, or the certificate is not trusted.
        UnsafeRedis: too old, a replica, or it evicts keys when its memory is full.
        StoreUnusable: it cannot save to its disk, and refuses even to be asked over a new connection.
    """
    try:
        info: dict[str, Any] = client.info()
        settings = _settings(client, info)
    except AuthenticationError:
        raise RedisUnreachable("Redis refuses the credentials in REDIS_URL. Correct user and password.") from None
    except (RedisConnectionError, RedisTimeoutError, InvalidResponse) as error:
        raise _unreachable(client, error) from None
    except RedisError as error:
        if str(error).startswith(NO_DISK):
            raise StoreUnusable(str(refusal(error))) from None
        if "DB index" in str(error):
            raise UnsafeRedis(
                "REDIS_URL ends in the number of a database that the server does not have; 0 is the first."
            ) from None
        raise UnsafeRedis(f"Redis does not tell its settings ({error}). Allow this user INFO.") from None
    _refuse(info, settings)
    return _warnings(settings) + _warnings_about_copies(client, info)


def server_in_words(client: redis.Redis) -> str:
    """Which server answers, and how it keeps what is written: `Valkey 9.1.2, appendonly yes, appendfsync always`."""
    info: dict[str, Any] = client.info()
    kept = _settings(client, info)
    name = f"Valkey {info['valkey_version']}" if info.get("valkey_version") else f"Redis {info['redis_version']}"
    return ", ".join(
        [name, *(f"{setting} {kept.get(setting, 'unknown')}" for setting in ("appendonly", "appendfsync"))]
    )


def _options() -> dict[str, Any]:
    return {
        "decode_responses": False,
        "socket_connect_timeout": CONNECT_TIMEOUT_S,
        "socket_timeout": ANSWER_TIMEOUT_S,
        "retry": Retry(ExponentialWithJitterBackoff(base=0.1, cap=1.0), RETRIES),
        "health_check_interval": 30,
        "driver_info": _driver(),
    }


@functools.cache
def _driver() -> DriverInfo:
    """What every connection tells about itself. Left alone, redis-py reads its own package's metadata for each."""
    return DriverInfo()


def _straight(address: Address) -> redis.Redis:
    try:
        return ReplicatedRedis.from_url(address.url, **_options())
    except ValueError:  # its text may quote what it could not read
        raise RedisUrlError(f"REDIS_URL {without_password(address.url)} is not a valid address.") from None


def _through_sentinels(address: Address) -> ReplicatedRedis:
    brief = {"socket_connect_timeout": SENTINEL_TIMEOUT_S, "socket_timeout": SENTINEL_TIMEOUT_S}
    make: Any = Sentinel  # redis-py leaves this class without types
    sentinels = make(address.sentinels, sentinel_kwargs={**brief, "retry": Retry(NoBackoff(), 0), **address.sentinel})
    client: ReplicatedRedis = sentinels.master_for(
        address.service,
        redis_class=ReplicatedRedis,
        connection_class=WholeEncryptedAnswers if address.primary.get("ssl") else WholeAnswers,
        db=address.db,
        **address.primary,
        **_options(),
    )
    return client


def _unreachable(client: redis.Redis, error: Exception) -> RedisUnreachable:
    untrusted = isinstance(error.__cause__ or error.__context__, ssl.SSLCertVerificationError)
    return (RedisUnreachable if untrusted else RedisAway)(_why_unreachable(client, error))


def _why_unreachable(client: redis.Redis, error: Exception) -> str:
    """One sentence with what to do. redis-py's own texts are not quoted: nothing says that they hold no password."""
    where, cause = _address(client), error.__cause__ or error.__context__
    if isinstance(error, MasterNotFoundError):
        return (
            f"No Sentinel at REDIS_URL ({where}) names a primary that lives. Correct the Sentinels' addresses, the"
            " name of the primary, sentinel_password, or for TLS ssl=true and ssl_ca_certs; during a failover wait a"
            " few seconds."
        )
    if isinstance(cause, ssl.SSLCertVerificationError):
        return (
            f"The certificate of Redis at REDIS_URL ({where}) is not trusted: {cause.verify_message}. Name the file of"
            " its authority: rediss://...?ssl_ca_certs=ca.pem."
        )
    said = f"Redis does not answer at REDIS_URL ({where}): {type(error).__name__}. Start it, or correct REDIS_URL."
    if isinstance(cause, ConnectionRefusedError):
        return said
    # What follows looks the same from here as a server that hangs.
    if issubclass(client.connection_pool.connection_class, SSLConnection):
        return (
            f"{said} If it is not encrypted, REDIS_URL begins with redis://; if it wants a client's certificate, name"
            " ssl_certfile and ssl_keyfile."
        )
    return f"{said} If it is encrypted, REDIS_URL begins with rediss://."


def _address(client: redis.Redis) -> str:
    pool = client.connection_pool
    if isinstance(pool, SentinelConnectionPool):
        there = [one.connection_pool.connection_kwargs for one in pool.sentinel_manager.sentinels]
        return f"{pool.service_name} of " + ", ".join(f"{one['host']}:{one['port']}" for one in there)
    options = pool.connection_kwargs
    return str(options.get("path") or f"{options.get('host', '')}:{options.get('port', '')}")


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


def _warnings_about_copies(client: redis.Redis, info: dict[str, Any]) -> list[str]:
    wanted = client.replicas if isinstance(client, ReplicatedRedis) else 0
    through_sentinel = isinstance(client.connection_pool, SentinelConnectionPool)
    if through_sentinel and not wanted:
        return ["A FAILOVER MAY FORGET THE LAST DECISIONS. Add wait_replicas=1 to REDIS_URL; see docs/deployment.md."]
    there = int(info.get("connected_slaves", 0))
    if there < wanted:
        return [f"REDIS HAS {there} OF {wanted} REPLICAS (wait_replicas): decisions are not taken until they are back."]
    return []


def _text(value: Any) -> str:
    return value.decode() if isinstance(value, bytes) else str(value)
