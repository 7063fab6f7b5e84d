"""Who reads alone reads their own language; what many read is in the workspace's; what is kept is in neither."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
import redis

from approvals.lifecycle import State
from bot.reject_modal import OWN_WORDS
from bot.sandbox.errors import SandboxError
from bot_office import BRUNO, CHANNEL, OLGA, OMAR, OPS, RITA, ROSA, Office, a_refund, readable, running
from policies.rules.refunds import RefundFacts

FIRST = "call_000000000001"
SPANISH = {"locale": "es-ES", "tz": "Europe/Madrid"}


@pytest.fixture
def office(valkey_url: str, redis_client: redis.Redis) -> Iterator[Office]:
    with running(valkey_url, redis_client) as made:
        made.slack.set_user(BRUNO, **SPANISH)
        yield made


@pytest.fixture
def oficina(valkey_url: str, redis_client: redis.Redis) -> Iterator[Office]:
    with running(valkey_url, redis_client, language="es") as made:
        yield made


def directs(office: Office, user: str) -> list[dict[str, Any]]:
    try:
        return list(office.slack.messages(f"D{user}"))
    except SandboxError:  # nobody wrote to them yet
        return []


def readable_view(view: dict[str, Any]) -> str:
    return json.dumps(view["blocks"], ensure_ascii=False)


def test_each_reviewer_is_answered_in_their_language_and_the_card_keeps_the_workspaces(office: Office) -> None:
    run, _ = office.start()
    batch = office.pause(run, a_refund(31240, reviewers=2))
    office.card_with(batch, "To decide: Refund 1 payments, 312.40 EUR")
    office.press(BRUNO, batch, "call.approve")
    office.told(BRUNO, "Tu aprobación queda guardada. Falta 1 más, de Olga")
    office.press(RITA, batch, "call.approve")
    office.told(RITA, "Only billing may decide this")
    office.press(OLGA, batch, "call.approve")
    office.state(FIRST, State.APPROVED)
    assert "Approved by Bruno Billing" in readable(office.card_with(batch, "Olga Opslead"))


def test_a_first_click_is_answered_in_the_language_that_slack_tells_meanwhile(office: Office) -> None:
    office.slack.set_user(RITA, **SPANISH)
    run, _ = office.start()
    batch = office.pause(run, a_refund(31240))
    office.card(batch)
    assert office.store.people.get(RITA) is None
    office.press(RITA, batch, "call.approve")
    office.told(RITA, "Solo billing puede decidir esto")
    office.press(ROSA, batch, "call.approve")
    office.told(ROSA, "somebody else must decide")


def test_a_modal_its_errors_and_its_answers_are_the_readers(office: Office) -> None:
    run, _ = office.start()
    batch = office.pause(run, a_refund(31240))
    office.card(batch)
    office.bot.deps.desk.ask(BRUNO)
    office.press(BRUNO, batch, "call.reject", FIRST)
    modal = office.modal(BRUNO)
    assert (modal["submit"]["text"], modal["close"]["text"]) == ("Rechazar", "Cerrar")
    assert "Rechazar" in modal["title"]["text"]
    refused = office.slack.submit(BRUNO, {"common": {"value": OWN_WORDS}})
    assert "Di por qué" in str(refused["errors"])
    done = office.slack.submit(BRUNO, {"common": {"value": "0"}})
    assert not done.get("errors")
    office.state(FIRST, State.REJECTED)


def test_an_amount_typed_as_the_reader_writes_it_is_refused_in_their_language(office: Office) -> None:
    charged = {"pay_0001": {"minor": 31240, "currency": "EUR"}}
    facts = RefundFacts.model_validate_json(json.dumps({"customer_of": {"pay_0001": "cus_1"}, "charged": charged}))
    run, _ = office.start()
    batch = office.pause(run, a_refund(31240, facts=facts.model_dump_json()))
    office.card(batch)
    office.bot.deps.desk.ask(BRUNO)
    office.press(BRUNO, batch, "call.edit", FIRST)
    hint = readable_view(office.modal(BRUNO))
    assert "Como máximo 312.40 EUR. Escribe solo dígitos, por ejemplo 312.40." in hint
    refused = office.slack.submit(BRUNO, {"arg:/lines/0/amount": {"value": "250,00"}})
    assert "no es un importe. Usa un punto para los decimales: 250.00." in refused["errors"]["arg:/lines/0/amount"]
    assert office.call(FIRST).version == 1


def test_a_common_reason_is_kept_in_english_and_shown_in_the_workspaces_language(oficina: Office) -> None:
    oficina.slack.set_user(BRUNO, **SPANISH)
    run, _ = oficina.start()
    batch = oficina.pause(run, a_refund(31240), a_refund(100, number=2))
    oficina.card(batch)
    oficina.bot.deps.desk.ask(BRUNO)
    oficina.press(BRUNO, batch, "call.reject", FIRST)
    oficina.modal(BRUNO)
    oficina.slack.submit(BRUNO, {"common": {"value": "0"}, "reason": {"value": "son 90"}})
    (said,) = oficina.state(FIRST, State.REJECTED).decisions
    assert said.reason == "The amount is wrong: son 90"
    card = readable(oficina.card_with(batch, "Rechazada por Bruno Billing"))
    assert "El importe es incorrecto: son 90" in card


def test_a_workspace_with_a_language_reads_it_on_cards_replies_and_alerts(oficina: Office) -> None:
    run, thread = oficina.start()
    batch = oficina.pause(run, a_refund(31240))
    card = oficina.card(batch)
    assert "Por decidir: Refund 1 payments, 312.40 EUR" in readable(card)
    assert "Aprobar" in readable(card)
    assert "312.40 EUR" in readable(card), "amounts keep one notation"
    opening = next(one for one in oficina.slack.messages(CHANNEL, thread) if "En marcha" in readable(one))
    assert "Cancelar" in readable(opening)
    oficina.store.outbox.owe("alert", f"seal:{FIRST}")
    oficina.bot.deps.wake.set()

    def told() -> list[str]:
        return [readable(one) for one in oficina.slack.messages(OPS) if "Un sello no coincide" in readable(one)]

    (alert,) = oficina.until(told, "ops is told in Spanish")
    assert "Marcar como visto" in alert
    oficina.press(OMAR, batch, "call.approve")
    oficina.told(OMAR, "Only billing may decide this")


def test_a_direct_message_is_in_its_receivers_language(office: Office) -> None:
    run, _ = office.start()
    batch = office.pause(run, a_refund(31240))
    office.card(batch)
    for user in (BRUNO, OLGA):
        office.bot.deps.desk.ask(user)
        office.store.outbox.owe("direct", f"{batch}:{user}")
    office.bot.deps.wake.set()
    office.until(lambda: directs(office, BRUNO) and directs(office, OLGA), "both are told")
    assert "Refund 1 payments, 312.40 EUR: espera una decisión" in readable(directs(office, BRUNO)[0])
    assert "Abrir la tarjeta" in readable(directs(office, BRUNO)[0])
    assert "Refund 1 payments, 312.40 EUR: waits for a decision" in readable(directs(office, OLGA)[0])


def test_whoever_is_not_known_yet_is_answered_in_the_workspaces_language(oficina: Office) -> None:
    oficina.slack.mention(ROSA, CHANNEL, "help")
    oficina.told(ROSA, "Dime qué hacer")


def test_a_snapshot_that_cannot_be_read_costs_the_language_and_not_the_answer(office: Office) -> None:
    office.client.hset(office.store.keys.person(BRUNO), mapping={"json": "not json", "fetched_at": "1"})
    office.slack.mention(BRUNO, CHANNEL, "help")
    office.told(BRUNO, "Tell me what to do")


def test_what_is_kept_of_a_refusal_is_the_laws_own_word_whatever_the_reader_was_told(office: Office) -> None:
    office.bot.deps.desk.ask(BRUNO)
    office.slack.slash(BRUNO, CHANNEL, "freeze everything")
    office.told(BRUNO, "Solo operaciones puede hacer esto")
    events = [fields for _, fields in office.client.xrange(office.store.keys.ledger)]
    (kept,) = [one for one in events if b"Only ops may do this" in b"".join(one.values())]
    assert b"Solo operaciones" not in b"".join(kept.values())
