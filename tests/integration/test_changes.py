"""Law and settings in the ledger: once per change, by name, never by value."""

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import jsonschema
import pytest
import redis
from pydantic import SecretStr

from approvals.drain import drain_once
from approvals.export import SCHEMA_FILE, export
from approvals.ledger import Ledger
from approvals.questions import Question, answer
from approvals.store import Store
from approvals.vault import Vault, new_key
from builders import STATE_KEY, TENANT
from policies.law import Law, load_law
from worker.settings import WorkerSettings

RULES = """
from policies.arguments import Arguments
from policies.requirement import Requirement
from policies.rule import Ask, NoFacts, Spend, rule
from policies.risk import Risk

class Nothing(Arguments):
    why: str

MOST = {most}

@rule(Nothing, risk=Risk.IRREVERSIBLE)
def {tool}(ask: Ask[Nothing, NoFacts], so_far: Spend) -> Requirement:
    return Requirement(radius="all").needs("desk")
"""
REVIEWERS = """
team = "T0HOME"
strictest = "desk"
ops = ["U0OMAR"]

[tiers.desk]
users = ["U0ANA", "U0BEN"]
usergroups = ["S0DESK"]
limits = {{ EUR = "{limit}" }}
"""


@pytest.fixture
def law(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> "MakeLaw":
    monkeypatch.syspath_prepend(str(tmp_path))
    return MakeLaw(tmp_path)


class MakeLaw:
    """Each law from a module of its own name, so that nothing is cached."""

    def __init__(self, home: Path) -> None:
        self._home, self._made = home, 0

    def __call__(
        self, *, most: int = 5, tools: tuple[str, ...] = ("ship",), limit: str = "50.00", people: str = ""
    ) -> Law:
        self._made += 1
        names = []
        for tool in tools:
            names.append(f"law_{self._made}_{tool}")
            (self._home / f"{names[-1]}.py").write_text(RULES.format(most=most, tool=tool))
        return load_law(names, people or REVIEWERS.format(limit=limit))


def told(store: Store, kind: str = "law_changed") -> list[str]:
    return [fields["reason"] for _, fields in store.ledger.read() if fields["type"] == kind]


def test_a_law_is_recorded_when_it_is_new_and_not_again_by_whoever_starts_with_the_same(
    store: Store, law: MakeLaw
) -> None:
    first = law()
    assert store.changes.note_law(first, process="bot")
    assert not store.changes.note_law(first, process="worker")
    assert not store.changes.note_law(first, process="bot")
    assert told(store) == [f"law none -> {first.version}: first law on record, 1 rules"]


def test_a_changed_law_names_versions_rules_people_and_the_process(store: Store, law: MakeLaw) -> None:
    first = law(tools=("ship", "wipe"))
    people = REVIEWERS.format(limit="75.00").replace('"U0BEN"', '"U0LEA"').replace('ops = ["U0OMAR"]', "ops = []")
    second = law(most=7, tools=("ship", "deploy"), people=people)
    store.changes.note_law(first, process="bot")
    store.changes.note_law(second, process="worker")
    (_, event) = (fields for _, fields in store.ledger.read() if fields["type"] == "law_changed")
    assert event["reason"] == (
        f"law {first.version} -> {second.version}: rules changed: ship; rules added: deploy; rules removed: wipe;"
        " ops: U0OMAR removed; tiers.desk: U0LEA added; tiers.desk: U0BEN removed; reviewers.toml changed in tiers"
    )
    assert (event["cause"], event["law"], event["rules"]) == ("worker", second.version, "deploy ship wipe")


def test_going_back_to_the_law_before_is_a_change_too(store: Store, law: MakeLaw) -> None:
    first, second = law(), law(limit="60.00")
    for one in (first, second, first):
        assert store.changes.note_law(one, process="bot")
    assert [text.partition(":")[0] for text in told(store)] == [
        f"law none -> {first.version}",
        f"law {first.version} -> {second.version}",
        f"law {second.version} -> {first.version}",
    ]


def test_many_processes_that_start_at_once_record_a_change_once(store: Store, law: MakeLaw) -> None:
    one = law()
    with ThreadPoolExecutor(8) as pool:
        recorded = list(pool.map(lambda number: store.changes.note_law(one, process=f"p{number}"), range(24)))
    assert sum(recorded) == 1
    assert len(told(store)) == 1


def test_two_laws_that_start_at_once_are_each_told_against_the_one_before(store: Store, law: MakeLaw) -> None:
    laws = [law(limit=f"{number}.00") for number in range(10, 16)]
    with ThreadPoolExecutor(6) as pool:
        assert all(pool.map(lambda one: store.changes.note_law(one, process="bot"), laws))
    steps = [text.removeprefix("law ").partition(":")[0].split(" -> ") for text in told(store)]
    assert [before for before, _ in steps] == ["none", *(after for _, after in steps[:-1])], "one chain"


def settings(**changes: object) -> WorkerSettings:
    fields = {
        "redis_url": "redis://localhost/0",
        "state_keys": STATE_KEY,
        "ledger_url": "postgresql://vobo:sql-password@db/vobo",
        "openai_key": SecretStr("sk-openai-key"),
        "model": "gpt-5",
    }
    return WorkerSettings.read(_env_file=None, **{**fields, **changes})


def test_settings_are_recorded_by_name_when_they_change_and_never_by_value(
    store: Store, ledger: Ledger, redis_client: redis.Redis
) -> None:
    assert store.changes.note_settings(settings(), process="worker")
    assert not store.changes.note_settings(settings(), process="worker")
    other = settings(openai_key=SecretStr("sk-other-key"), openai_url="http://model", model="offline")
    assert store.changes.note_settings(other, process="worker")
    assert store.changes.note_settings(settings(openai_key=None, model="offline"), process="worker")
    first, second, third = told(store, "configuration_changed")
    assert first.startswith("first on record, ")
    assert second == "changed: OPENAI_API_KEY, VOBO_MODEL; set: OPENAI_BASE_URL"
    assert third == "unset: OPENAI_API_KEY, OPENAI_BASE_URL"
    stored = json.dumps([{str(k): str(v) for k, v in redis_client.hgetall(store.keys.switches).items()}])
    drain_once(store, ledger)
    stored += json.dumps([row.raw for row in ledger.rows(TENANT)])
    for value in ("sk-openai-key", "sk-other-key", "sql-password", STATE_KEY, "http://model"):
        assert value not in stored


def test_a_print_of_a_setting_cannot_be_tried_out_without_the_state_keys(store: Store) -> None:
    store.changes.note_settings(settings(), process="worker")
    other = Store.open(store.runs.client, Vault.from_text(new_key()), tenant=TENANT)
    assert other.changes.note_settings(settings(), process="worker"), "nothing is recognised under another key"


def test_a_rotated_state_key_makes_no_other_setting_look_changed(store: Store) -> None:
    store.changes.note_settings(settings(), process="worker")
    both = f"{new_key()},{STATE_KEY}"
    rotated = Store.open(store.runs.client, Vault.from_text(both), tenant=TENANT)
    assert rotated.changes.note_settings(settings(state_keys=both), process="worker")
    assert told(store, "configuration_changed")[-1] == "changed: VOBO_STATE_KEYS"


def test_the_port_of_one_process_is_no_change(store: Store) -> None:
    store.changes.note_settings(settings(health_port=9001), process="worker")
    assert not store.changes.note_settings(settings(health_port=9002), process="worker")


def test_what_changed_can_be_asked_for_and_exported_like_every_event(
    store: Store, ledger: Ledger, law: MakeLaw
) -> None:
    first = law()
    store.changes.note_start(first, settings(), process="worker")
    drain_once(store, ledger)
    found = answer(ledger, TENANT, Question(types=("law_changed", "configuration_changed")))
    assert [one.row.body["cause"] for one in found] == ["worker", "worker"]
    validator = jsonschema.Draft202012Validator(json.loads(SCHEMA_FILE.read_text(encoding="utf-8")))
    lines = [json.loads(line) for line in export(ledger, TENANT)]
    assert [list(validator.iter_errors(line)) for line in lines] == [[], []]
    assert lines[0]["law"] == first.version
    assert lines[0]["body"]["rules"] == "ship"
    undone = {**lines[0], "type": "undo_contradicted"}
    assert list(validator.iter_errors(undone)) == [], "the schema names no types, so new ones fit"


def test_each_kind_of_process_has_settings_of_its_own(store: Store) -> None:
    assert store.changes.note_settings(settings(), process="worker")
    assert store.changes.note_settings(settings(), process="clock")
    causes = [fields["cause"] for _, fields in store.ledger.read()]
    assert causes == ["worker", "clock"]
