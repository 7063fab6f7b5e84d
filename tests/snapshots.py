"""What a version left in Valkey, so that the next one can be tried on it.

python tests/snapshots.py 0.1.0    records tests/snapshots/0.1.0.json.gz with today's code
"""

import base64
import gzip
import importlib.metadata
import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

import redis

from approvals.redis_check import connect
from approvals.valkey import ensure_server, stop_server
from refund_desk import ALL, BRUNO, RefundDesk, a_shop

HERE = Path(__file__).parent / "snapshots"
#: Whatever else stands in a field, a number within two days of the recording is an instant in ms.
_NEAR_MS = 2 * 24 * 3_600_000
UNDOABLE, WAITING = "run_2", "run_1"

Json = dict[str, Any]


def recorded(client: redis.Redis, desk: RefundDesk, version: str) -> Json:
    """One run with three cards, of which the refunds have one of two approvals; and one whose draft can be undone."""
    desk.run, desk.thread = UNDOABLE, "1700000000.000200"
    desk.ask("draft a refund report about yesterday's failed payments")
    desk.run, desk.thread = WAITING, "1700000000.000100"
    desk.ask(ALL)
    desk.decide("refund_payments", "approve", BRUNO)
    return {
        "version": version,
        "openai-agents": importlib.metadata.version("openai-agents"),
        "at": desk.store.now(),
        "keys": {_text(key): _read(client, key) for key in sorted(client.scan_iter(f"{desk.store.keys.prefix}*"))},
    }


def restore(client: redis.Redis, snapshot: Json, *, hours_ago: float) -> None:
    """Put it back as if it had been recorded so long ago: every instant moves, nothing else is changed."""
    seconds, micros = client.time()
    moved = int(seconds) * 1000 + int(micros) // 1000 - snapshot["at"] - int(hours_ago * 3_600_000)
    for key, (kind, value) in snapshot["keys"].items():
        _write(client, _bytes(key), kind, value, lambda text: _moved(text, snapshot["at"], moved))


def _moved(text: bytes, recorded_at: int, by: int) -> bytes:
    whole = text.isdigit() and abs(int(text) - recorded_at) < _NEAR_MS
    return str(int(text) + by).encode() if whole else text


def _read(client: redis.Redis, key: bytes) -> tuple[str, Any]:
    kind = client.type(key).decode()
    match kind:
        case "string":
            return kind, _text(client.get(key))
        case "hash":
            return kind, sorted((_text(name), _text(value)) for name, value in client.hgetall(key).items())
        case "zset":
            return kind, [(_text(member), score) for member, score in client.zrange(key, 0, -1, withscores=True)]
        case "set":
            return kind, sorted(_text(member) for member in client.smembers(key))
        case "list":
            return kind, [_text(member) for member in client.lrange(key, 0, -1)]
        case "stream":
            entries = client.xrange(key)
            return kind, [(_text(at), [(_text(k), _text(v)) for k, v in fields.items()]) for at, fields in entries]
    raise ValueError(f"{key!r} is a {kind}, which no snapshot holds; teach tests/snapshots.py to.")


def _write(client: redis.Redis, key: bytes, kind: str, value: Any, moved: Any) -> None:
    match kind:
        case "string":
            client.set(key, moved(_bytes(value)))
        case "hash":
            client.hset(key, mapping={_bytes(name): moved(_bytes(one)) for name, one in value})
        case "zset":
            client.zadd(key, {_bytes(member): int(moved(str(int(score)).encode())) for member, score in value})
        case "set":
            client.sadd(key, *(_bytes(member) for member in value))
        case "list":
            client.rpush(key, *(_bytes(member) for member in value))
        case "stream":
            for at, fields in value:
                client.xadd(key, {_bytes(name): _bytes(one) for name, one in fields}, id=at)


def _text(value: Any) -> str:
    """Readable where it is text, else base64."""
    try:
        return str(value.decode("utf-8"))
    except UnicodeDecodeError:
        return f"base64:{base64.b64encode(value).decode()}"


def _bytes(text: str) -> bytes:
    return base64.b64decode(text[7:]) if text.startswith("base64:") else text.encode()


def load(path: Path) -> Json:
    """A snapshot that some version has left."""
    with gzip.open(path, "rt") as file:
        found: Json = json.load(file)
    return found


def main(version: str) -> None:
    """Record one with today's code."""
    with tempfile.TemporaryDirectory(prefix="vobo-") as home:
        os.environ["VOBO_SHOP_URL"] = shop = f"sqlite:///{home}/shop.db"
        client = connect(ensure_server(Path(home)).url)
        try:
            snapshot = recorded(client, RefundDesk(client, a_shop(shop)), version)
        finally:
            stop_server(Path(home))
    HERE.mkdir(exist_ok=True)
    path = HERE / f"{version}.json.gz"
    path.write_bytes(gzip.compress(json.dumps(snapshot, indent=1).encode(), mtime=0))
    sys.stdout.write(f"{path.name}: {len(snapshot['keys'])} keys, {path.stat().st_size // 1000} KB\n")


if __name__ == "__main__":
    main(sys.argv[1])
