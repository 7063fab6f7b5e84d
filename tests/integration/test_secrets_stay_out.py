"""The value of a configured secret is never stored: not in a state, a call, a receipt, the ledger or in clear."""

import json
from typing import Any

import pytest
import redis
from agents import Agent, function_tool
from pydantic import SecretStr

from approvals.known_secrets import WITHHELD, KnownSecrets, SecretRefused
from approvals.lifecycle import Cause, RunState, State
from approvals.store import Store
from approvals.vault import Vault
from builders import STATE_KEY, TEAM, TENANT, counting_ids, events, owed
from worker.settings import WorkerSettings
from workshop import LEA, Label, Workshop, function_call, saying, shipping

SECRET = 'sk-live-"quoted"/4711'
VAULT = Vault.from_text(STATE_KEY)


@pytest.fixture
def workshop(redis_client: redis.Redis) -> Workshop:
    secrets = KnownSecrets({"OPENAI_API_KEY": SECRET})
    store = Store.open(redis_client, VAULT, tenant=TENANT, ids=counting_ids(), secrets=secrets)
    store.people.set_home_team(TEAM)
    store.ledger.vouch(store.ledger.server())
    return Workshop(store, redis_client)


def everything(workshop: Workshop) -> str:
    """All that the store holds, decrypted where it can be, escapes undone."""
    store, found = workshop.store, []
    run = store.runs.load("run_1")
    if run is not None:
        found += [run.request, run.answer or "", run.reason or ""]
        found += [call.model_dump_json() for n in range(1, run.pause + 1) for call in store.calls.of_pause("run_1", n)]
        found.append((store.runs.load_state("run_1") or b"").decode())
    found += [json.dumps(fields) for _, fields in store.ledger.read()]
    for key in workshop.client.scan_iter("vobo:*"):
        if workshop.client.type(key) == b"hash":
            found += [value.decode(errors="replace") for value in workshop.client.hvals(key)]
    return "\n".join(found).replace("\\", "")


def test_a_secret_in_arguments_is_refused_by_a_sentence_before_anybody_is_asked(workshop: Workshop) -> None:
    asks = [function_call("ship", {"lines": [{"item": SECRET, "count": 3}]}, call_id="c1")]
    workshop.script.extend([asks, [saying("I leave it out.")]])
    workshop.start()
    (call,) = workshop.calls()
    assert (call.state, call.cause, call.batch, call.content.requested) == (State.REJECTED, Cause.POLICY, None, "{}")
    workshop.advance()
    (told,) = workshop.told()
    assert told["status"] == "refused"
    assert "a secret of this installation" in told["sentence"]
    assert workshop.run().answer == "I leave it out."
    assert "alert:secret:run_1" in owed(workshop.store)
    assert "secret_withheld" in events(workshop.store)
    assert SECRET not in everything(workshop)


def test_a_tool_without_required_arguments_is_refused_as_well(workshop: Workshop) -> None:
    @function_tool(strict_mode=False)
    def wipe(shelf: str = "all") -> str:
        """Wipe a shelf."""
        return shelf

    workshop.build = lambda model: Agent(name="desk", model=model, tools=[wipe])
    workshop.script.extend([[function_call("wipe", {"shelf": SECRET}, call_id="c1")], [saying()]])
    workshop.start()
    assert workshop.calls()[0].state is State.REJECTED


def test_a_state_that_would_hold_a_secret_is_not_stored_and_ops_reads_its_name_only(workshop: Workshop) -> None:
    workshop.shop.owners["cup"] = SECRET  # a look-up hands it to the agent
    workshop.script.extend([[function_call("find", {"item": "cup"}, call_id="c1")], [shipping(("pot", 3))]])
    workshop.start()
    run = workshop.run()
    assert run.state is RunState.FAILED
    assert "holds the value of OPENAI_API_KEY" in (run.reason or "")
    assert "alert:run:run_1" in owed(workshop.store)
    assert SECRET not in everything(workshop)
    assert workshop.store.runs.load_state("run_1") is not None, "the last checkpoint is kept"


def test_a_request_that_holds_a_secret_is_not_recorded(workshop: Workshop) -> None:
    with pytest.raises(SecretRefused, match="The request of run_1 holds the value of OPENAI_API_KEY"):
        workshop.start(request=f"use {SECRET}")
    assert workshop.store.runs.load("run_1") is None


def test_a_receipt_is_kept_without_the_secret_in_it(workshop: Workshop) -> None:
    @function_tool
    async def wipe(shelf: str) -> str:
        """Wipe a shelf."""
        return f"wiped with {SECRET}"

    workshop.build = lambda model: Agent(name="desk", model=model, tools=[wipe])
    workshop.script.extend([[function_call("wipe", {"shelf": "top"}, call_id="c1")], [saying()]])
    workshop.start()
    assert workshop.decide(workshop.calls()[0], by=LEA).ok
    workshop.execute()
    (call,) = workshop.calls()
    assert (call.state, call.receipt) == (State.SUCCEEDED, json.dumps(f"wiped with {WITHHELD}"))
    workshop.advance()
    assert workshop.run().state is RunState.COMPLETED
    assert SECRET not in everything(workshop)


def test_an_answer_is_told_without_the_secret_in_it(workshop: Workshop) -> None:
    workshop.script.extend([[saying(f"The key is {SECRET}.")]])
    workshop.start()
    assert workshop.run().answer == f"The key is {WITHHELD}."


def test_a_reason_in_clear_is_kept_without_the_secret_in_it(workshop: Workshop) -> None:
    workshop.script.extend([[shipping(("cup", 3))]])
    workshop.start()
    assert workshop.decide(workshop.calls()[0], "reject", reason=f"never use {SECRET}").ok
    assert SECRET not in everything(workshop)
    assert WITHHELD in everything(workshop)


def test_what_settings_and_environment_keep_secret_is_known_and_never_shown() -> None:
    settings = WorkerSettings.read(
        _env_file=None,
        redis_url="redis://user:red%2Fis-pass@localhost:6379/0",
        state_keys=f"{STATE_KEY},{STATE_KEY.lower()}",
        ledger_url="postgresql://vobo:sql-password@db/vobo",
        openai_key=SecretStr("sk-openai-key"),
        model="gpt-5",
    )
    environment = {
        "SHOP_API_TOKEN": "shop-token-1\n",
        "PATH": "/usr/bin:/usr/local",
        "MONKEY": "banana-banana",
        "API_KEY": "x",
    }
    known = KnownSecrets.of(settings, environment)
    names = {
        "red/is-pass": "REDIS_URL",
        STATE_KEY: "VOBO_STATE_KEYS",
        STATE_KEY.lower(): "VOBO_STATE_KEYS (2)",
        "sql-password": "VOBO_LEDGER_URL",
        "sk-openai-key": "OPENAI_API_KEY",
        "shop-token-1": "SHOP_API_TOKEN",
    }
    assert {value: known.named_in(f"a {value} b") for value in names} == names
    assert known.named_in("/usr/bin:/usr/local banana-banana x") is None
    assert not any(value in repr(known) for value in names)
    assert all(value not in known.without(" ".join(names)) for value in names)


@pytest.mark.parametrize("levels", [0, 1, 2, 3])
def test_a_secret_is_found_however_often_it_was_written_as_json(levels: int) -> None:
    text = SECRET
    for _ in range(levels):
        text = json.dumps({"k": text})
    known = KnownSecrets({"KEY": SECRET})
    assert known.named_in(text) == "KEY"
    assert known.named_in(known.without(text)) is None


def test_nothing_is_withheld_when_nothing_is_secret(redis_client: redis.Redis) -> None:
    store: Any = Store.open(redis_client, VAULT, tenant=TENANT)
    assert store.secrets.named_in(f"{SECRET} {Label}") is None
