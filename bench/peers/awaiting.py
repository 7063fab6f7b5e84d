"""The awaithumans server and its own client: from a reviewer's decision over HTTP until the waiting agent goes on."""

import asyncio
import base64
import importlib.metadata
import json
import os
import random
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import httpx
from awaithumans import await_human
from pydantic import BaseModel

ROUNDS = 24
WARM = 2
TOKEN = "of-this-bench"  # noqa: S105 - opens a server that lives for a minute
START_S = 60


class Asked(BaseModel):
    """What the reviewer reads."""

    recipient: str


class Answered(BaseModel):
    """What the reviewer says."""

    approved: bool


async def measured(url: str) -> list[float]:
    """Seconds of each round."""
    took, chance = [], random.Random(7)  # noqa: S311 - figures that can be repeated
    headers = {"Authorization": f"Bearer {TOKEN}"}
    async with httpx.AsyncClient(headers=headers) as reviewer:
        for number in range(ROUNDS):
            waiting = asyncio.create_task(
                await_human(
                    task=f"Mail customer {number}",
                    payload_schema=Asked,
                    payload=Asked(recipient=f"cus_{number:04d}"),
                    response_schema=Answered,
                    timeout_seconds=300,
                    server_url=url,
                    api_key=TOKEN,
                )
            )
            task = await asked(reviewer, url)
            await asyncio.sleep(chance.uniform(0.2, 1.2))  # people do not click in step with anybody's clock
            began = time.perf_counter()
            pressed = asyncio.create_task(
                reviewer.post(f"{url}/api/tasks/{task}/complete", json={"response": {"approved": True}})
            )
            if not (await waiting).approved:
                raise RuntimeError("the decision came back changed")
            took.append(time.perf_counter() - began)
            (await pressed).raise_for_status()
    return took[WARM:]


async def asked(reviewer: httpx.AsyncClient, url: str) -> str:
    """The id of the task that waits."""
    while True:
        found = (await reviewer.get(f"{url}/api/tasks")).json()
        waiting = [one for one in found if one["status"] not in {"completed", "cancelled", "timed_out"}]
        if waiting:
            return str(waiting[0]["id"])
        await asyncio.sleep(0.05)


def main() -> None:
    """Start the server, measure, stop it."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    with tempfile.TemporaryDirectory() as home:
        environment = {
            **os.environ,
            "AWAITHUMANS_PAYLOAD_KEY": base64.urlsafe_b64encode(os.urandom(32)).decode(),
            "AWAITHUMANS_ADMIN_API_TOKEN": TOKEN,
            "AWAITHUMANS_DB_PATH": str(Path(home) / "tasks.db"),
        }
        command = [Path(sys.executable).parent / "awaithumans", "serve", "--host", "127.0.0.1", "--port", str(port)]
        with (Path(home) / "log").open("wb") as log:
            server = subprocess.Popen(command, env=environment, cwd=home, stdout=log, stderr=log)  # noqa: S603 - as above
        try:
            url = f"http://127.0.0.1:{port}"
            wait_for(url, Path(home) / "log")
            took = asyncio.run(measured(url))
        finally:
            server.terminate()
            server.wait(20)
    found: list[dict[str, Any]] = [{"name": "awaithumans", "seconds": took}]
    versions = {"awaithumans": importlib.metadata.version("awaithumans")}
    sys.stdout.write(json.dumps({"versions": versions, "found": found}) + "\n")


def wait_for(url: str, log: Path) -> None:
    """Until the server answers."""
    until = time.monotonic() + START_S
    while time.monotonic() < until:
        try:
            if httpx.get(f"{url}/api/health").is_success:
                return
        except httpx.TransportError:
            time.sleep(0.2)
    raise RuntimeError(f"the server does not answer: {log.read_text()[-300:]}")


if __name__ == "__main__":
    main()
