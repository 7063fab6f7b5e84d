"""Undo as people press it: the real bot, the sandbox workspace, a real store; the worker's part is done by hand."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
import redis
from redis.exceptions import TimeoutError as Slow

from approvals.lifecycle import State, UndoState
from approvals.models import UndoClaim
from approvals.outcomes import Answer
from approvals.store import Store
from approvals.undos import Undos, undo_seal
from bot.people import Watch
from bot_builders import a_requirement
from bot_office import BRUNO, CHANNEL, GUS, OLGA, OMAR, OPS, RITA, ROSA, Office, a_refund, readable, running
from builders import events, waking
from orphans import nobody_at_work
from policies.arguments import canonical_text
from policies.money import Money
from policies.rules.refunds import RefundFacts

FIRST = "call_000000000001"
NINA = "U0008"
Json = dict[str, Any]


@pytest.fixture
def office(valkey_url: str, redis_client: redis.Redis) -> Iterator[Office]:
    with running(valkey_url, redis_client) as made:
        made.store.switches.set_worker("law", ["refund_payments"], ["refund_payments"])
        yield made


def ran(office: Office, *cents: int, reviewers: int = 1, sealed: int = 31240, undo: str | None = "Pay it back.") -> str:
    """A run whose one call was approved and had its effect; its id. `sealed` is the amount it was decided on.

    With `cents` its payments are known to the law, which is asked anew.
    """
    money = Money(minor=sealed, currency="EUR")
    need = a_requirement(reviewers=reviewers, amount=money, undo=undo)
    run, _ = office.start()
    call = a_refund(*(cents or (31240,)))
    content = call.content.model_copy(update={"requirement": need, "facts": known(*cents)})
    batch = office.pause(run, call.model_copy(update={"content": content}))
    approvers = (BRUNO, OLGA)[:reviewers]
    for number, user in enumerate(approvers, start=1):
        office.press(user, batch, "call.approve")
        office.until(lambda number=number: len(office.call(FIRST).decisions) == number, "the approval is kept")
    store = office.store
    lease = store.batches.lease(batch, token="w", ttl_ms=60_000)
    assert lease
    people = [store.people.put(store.people.get(user)) for user in approvers]  # type: ignore[arg-type]
    call_now = office.call(FIRST)
    answer, claim = store.effects.claim(
        FIRST, lease=lease, token="c", seal=call_now.seal, ttl_ms=60_000, people=people, day="2026-11-29"
    )
    assert claim, answer
    assert store.effects.intend(claim).ok
    assert store.effects.succeed(claim, receipt='{"paid": 1}').ok
    office.bot.deps.wake.set()
    return run


def known(*cents: int) -> str:
    """What the shop knows of these payments, each of another customer."""
    charged = {f"pay_{at:04d}": Money(minor=minor, currency="EUR") for at, minor in enumerate(cents, start=1)}
    facts = RefundFacts(customer_of={payment: f"customer of {payment}" for payment in charged}, charged=charged)
    return canonical_text(facts) if cents else "{}"


def outcome(office: Office, words: str = "Outcome") -> Json:
    """The outcome reply, once it shows these words."""

    def look() -> Json | None:
        found = [one for one in office.slack.messages(CHANNEL) if "Outcome" in one["text"] and words in readable(one)]
        return found[-1] if found else None

    return office.until(look, f"the outcome shows {words!r}")


def offered(message: Json) -> bool:
    return any(block.get("block_id") == f"undo:{FIRST}" for block in message["blocks"])


def press(office: Office, user: str, **options: Any) -> Json:
    shown = outcome(office, "Can be undone")
    return office.slack.click(user, CHANNEL, shown["ts"], "call.undo", f"undo:{FIRST}", **options)


def undo_state(office: Office, state: UndoState) -> None:
    def look() -> bool:
        undo = office.call(FIRST).undo
        return undo is not None and undo.state is state

    office.until(look, f"the undo is {state}, not {office.call(FIRST).undo}")


def claimed(store: Store, attempt: str = "u") -> UndoClaim:
    """The worker has written its intent."""
    call = store.calls.load(FIRST)
    assert call
    people = [person for user in store.undos.voters(FIRST) if (person := store.people.get(user))]
    seal = undo_seal(call, tenant=store.tenant)
    answer, claim = store.undos.claim(call, token=attempt, seal=seal, ttl_ms=60_000, people=people, needed=1)
    assert claim, answer
    assert store.undos.intend(claim, longest_ms=1000).ok
    return claim


def thread_told(office: Office, words: str) -> Json:
    def look() -> Json | None:
        return next((one for one in office.slack.messages(CHANNEL) if words in one["text"]), None)

    return office.until(look, f"the thread is told {words!r}")


def test_a_reviewer_takes_back_what_ran_and_everybody_reads_it(office: Office) -> None:
    ran(office)
    press(office, BRUNO)
    office.told(BRUNO, "It is being undone.")
    undo_state(office, UndoState.ASKED)
    assert not offered(outcome(office, "Being undone, as Bruno"))
    assert f"undo_call:{FIRST}" in waking(office.store)
    office.until(lambda: any("undo_call" in key.decode() for key in office.client.scan_iter("rq:job:*")), "a nudge")
    assert office.store.undos.succeed(claimed(office.store), receipt="1").ok
    office.bot.deps.wake.set()
    assert not offered(outcome(office, "1 undone since"))
    assert f"<@{BRUNO}> 1. Refund" in thread_told(office, "Undone by Bruno")["text"]
    assert office.call(FIRST).state is State.SUCCEEDED


@pytest.mark.parametrize(("asked", "broken"), [(Undos, "voters"), (Watch, "refresh")])
def test_an_undo_that_was_asked_for_is_not_denied_when_what_follows_fails(
    office: Office, monkeypatch: pytest.MonkeyPatch, asked: type, broken: str
) -> None:
    ran(office)
    shown = outcome(office, "Can be undone")

    def fails(*_: object) -> None:
        raise Slow("no answer")

    monkeypatch.setattr(asked, broken, fails)
    office.slack.click(BRUNO, CHANNEL, shown["ts"], "call.undo", f"undo:{FIRST}")
    office.told(BRUNO, "It is being undone.")
    office.until(lambda: any("undo_call" in key.decode() for key in office.client.scan_iter("rq:job:*")), "a nudge")


def test_two_reviewers_pressing_at_once_ask_for_one_undo_and_both_are_answered(office: Office) -> None:
    ran(office)
    shown = outcome(office, "Can be undone")
    with ThreadPoolExecutor(2) as pool:
        list(
            pool.map(
                lambda user: office.slack.click(user, CHANNEL, shown["ts"], "call.undo", f"undo:{FIRST}"),
                (BRUNO, OLGA),
            )
        )
    office.until(
        lambda: len(office.slack.ephemerals(BRUNO, CHANNEL)) + len(office.slack.ephemerals(OLGA, CHANNEL)) == 2, "two"
    )
    told = {one["text"].split(".")[0] for user in (BRUNO, OLGA) for one in office.slack.ephemerals(user, CHANNEL)}
    assert told == {"It is being undone", "It is being undone already"}
    assert events(office.store, FIRST).count("undo_asked") == 1


def test_a_press_on_an_old_message_says_what_became_of_it(office: Office) -> None:
    ran(office)
    press(office, BRUNO)
    undo_state(office, UndoState.ASKED)
    claim = claimed(office.store)
    office.slack.click(OLGA, CHANNEL, outcome(office)["ts"], "call.undo", f"undo:{FIRST}", stale=True)
    office.told(OLGA, "It is being undone already. Bruno")
    office.store.undos.succeed(claim, receipt="1")
    office.slack.click(OLGA, CHANNEL, outcome(office)["ts"], "call.undo", f"undo:{FIRST}", stale=True)
    office.told(OLGA, "It is undone already. Bruno")
    assert events(office.store, FIRST).count("undo_refused") == 2


@pytest.mark.parametrize(
    ("user", "words"),
    [
        (RITA, "Only those who may approve such a call may take it back"),
        (ROSA, "You started this run, so somebody else must take this back."),
        (GUS, "Guests may not do this"),
        (NINA, "tu límite"),  # she reads Spanish
    ],
)
def test_who_may_not_decide_the_call_may_not_take_it_back(office: Office, user: str, words: str) -> None:
    ran(office)
    press(office, user)
    office.told(user, words)
    assert office.call(FIRST).undo is None
    assert "undo_refused" in events(office.store, FIRST)


def test_a_stranger_with_the_same_user_id_takes_nothing_back(office: Office) -> None:
    ran(office)
    press(office, BRUNO, team_id="T0ELSEWHERE")
    office.until(lambda: "decision_refused" in events(office.store, FIRST), "it is noted")
    assert office.call(FIRST).undo is None


def test_a_call_that_two_people_approved_takes_two_to_undo(office: Office) -> None:
    ran(office, reviewers=2)
    press(office, OLGA)
    office.told(OLGA, "1 more person must want it undone")
    shown = outcome(office, "1 more must agree.")
    assert "Olga Opslead wants it undone." in readable(shown)
    assert offered(shown)
    press(office, BRUNO)
    office.told(BRUNO, "It is being undone.")
    shown = outcome(office, "Being undone, as Olga")
    assert "Bruno" in readable(shown)
    assert not offered(shown)


def test_where_the_law_asks_two_by_now_it_takes_two_to_undo_what_one_approved(office: Office) -> None:
    ran(office, 40_000, 40_000)  # over 250.00 in a run two must approve
    press(office, OLGA)
    office.told(OLGA, "1 more person must want it undone")
    assert office.call(FIRST).undo is not None
    undo_state(office, UndoState.WANTED)


def test_who_may_not_approve_such_a_call_by_now_hears_it_at_once(office: Office) -> None:
    ran(office, 31240, sealed=1_000)
    press(office, NINA)
    office.told(NINA, "tu límite")
    assert office.call(FIRST).undo is None


def test_what_a_late_receipt_proves_undone_is_offered_to_nobody_and_ops_knows(office: Office) -> None:
    an_unknown(office)
    orphan = UndoClaim(call=FIRST, run=office.call(FIRST).run, version=1, token="u")
    settle(office, OMAR, "ops.mark_not_undone", "nothing in the provider's log")
    undo_state(office, UndoState.FAILED)
    shown = outcome(office, "Not undone")
    office.store.undos.succeed(orphan, receipt="1")
    office.bot.deps.wake.set()
    letter(office, "A receipt came late: it was undone")
    thread_told(office, "A late answer says that it was undone")
    office.slack.click(BRUNO, CHANNEL, shown["ts"], "call.undo", f"undo:{FIRST}", stale=True)
    office.told(BRUNO, "A late answer says that it was undone, so it is not tried again. Ops has been told.")
    assert not offered(outcome(office, "A late answer says that it was undone"))
    assert events(office.store, FIRST).count("undo_asked") == 1


def test_nothing_is_undone_while_frozen(office: Office) -> None:
    ran(office)
    office.store.switches.freeze("Omar", "looking into it")
    press(office, BRUNO)
    office.told(BRUNO, "An operator has frozen everything, so nothing can be undone now")
    assert office.call(FIRST).undo is None


def test_a_tool_that_lost_its_undo_since_is_told_and_no_longer_offered(office: Office) -> None:
    ran(office)
    shown = outcome(office, "Can be undone")
    office.store.switches.set_worker("law", ["refund_payments"])
    office.slack.click(BRUNO, CHANNEL, shown["ts"], "call.undo", f"undo:{FIRST}")
    office.told(BRUNO, "This cannot be undone here")
    office.until(lambda: not offered(outcome(office)), "it is no longer offered")
    assert office.call(FIRST).undo is None


def test_what_the_law_knows_no_undo_for_is_not_offered_and_a_forged_press_does_nothing(office: Office) -> None:
    ran(office, undo=None)
    shown = outcome(office)
    assert not offered(shown)
    forged: Json = {"type": "button", "action_id": "call.undo", "value": f"{FIRST}:1", "text": {"type": "plain_text"}}
    answer = undo_by_hand(office, BRUNO, forged["value"])
    assert "This cannot be undone here" in answer
    assert office.call(FIRST).undo is None


def undo_by_hand(office: Office, user: str, value: str) -> str:
    """The handler's answer to a payload that no message of ours holds."""
    from bot.errors import Refused  # noqa: PLC0415 - only here
    from bot.payloads import Click, Sender  # noqa: PLC0415
    from bot.undoing import undo  # noqa: PLC0415

    fields = {"sender": Sender(user=user, team="T0000HOME"), "value": value}
    click = Click.model_construct(**fields)
    try:
        undo(office.bot.deps, click)
    except Refused as refused:
        return str(refused)
    return ""


def test_another_version_than_the_one_that_ran_is_refused(office: Office) -> None:
    ran(office)
    assert "has changed since you saw it" in undo_by_hand(office, BRUNO, f"{FIRST}:2")
    assert office.call(FIRST).undo is None


def test_a_call_whose_record_was_changed_is_not_undone_and_ops_is_told(office: Office) -> None:
    ran(office)
    outcome(office, "Can be undone")
    office.client.hset(office.store.keys.call(FIRST), "seal", "forged")
    press(office, BRUNO)
    office.told(BRUNO, "is not what was sealed")
    assert office.call(FIRST).undo is None
    office.until(lambda: any("seal" in one["text"].lower() for one in office.slack.messages(OPS)), "ops is told")


def letter(office: Office, words: str) -> Json:
    def look() -> Json | None:
        return next((one for one in office.slack.messages(OPS) if words in readable(one)), None)

    return office.until(look, f"ops reads {words!r}; it reads {office.slack.messages(OPS)}")


def an_unknown(office: Office, *, reviewers: int = 1, alone: bool = True) -> Json:
    """Nobody saw how the undo ended; unless `alone`, its worker may still be at work on it."""
    ran(office, reviewers=reviewers)
    for user in (BRUNO, OLGA)[:reviewers]:
        press(office, user)
        office.told(user, "undone")
    undo_state(office, UndoState.ASKED)
    claim = claimed(office.store)
    if alone:
        nobody_at_work(office.store, FIRST)
    assert office.store.undos.abandon(claim, reason="no answer").ok
    office.bot.deps.wake.set()
    thread_told(office, "Nobody can tell whether it was undone")
    return letter(office, "Nobody can tell whether it was undone")


def settle(office: Office, user: str, control: str, reason: str) -> Json:
    office.slack.click(user, OPS, letter(office, "Unknown undo")["ts"], control, "ops")
    office.modal(user)
    return office.slack.submit(user, {"reason": {"value": reason}})


def test_not_undone_is_refused_with_when_to_say_it_again_while_a_worker_may_be_at_work(office: Office) -> None:
    message = an_unknown(office, alone=False)
    assert "A worker may still be at work on it until <!date^" in readable(message)
    refused = str(settle(office, OMAR, "ops.mark_not_undone", "nothing in the provider's log"))
    assert "Nothing was noted: a worker may still be at work on it until " in refused
    undo_state(office, UndoState.UNKNOWN)
    assert office.store.undos.marked(FIRST) is None
    nobody_at_work(office.store, FIRST)
    office.slack.submit(OMAR, {"reason": {"value": "looked again: nothing in the log"}})
    undo_state(office, UndoState.FAILED)


def test_undone_is_taken_while_a_worker_may_be_at_work(office: Office) -> None:
    an_unknown(office, alone=False)
    settle(office, OMAR, "ops.mark_undone", "seen in the provider's log")
    undo_state(office, UndoState.UNDONE)


def test_ops_settles_an_undo_that_nobody_saw_the_end_of(office: Office) -> None:
    message = an_unknown(office)
    names = [one["action_id"] for block in message["blocks"] if block["type"] == "actions" for one in block["elements"]]
    assert names == ["ops.reconcile_undo", "ops.mark_undone", "ops.mark_not_undone"]
    office.slack.click(OMAR, OPS, message["ts"], "ops.reconcile_undo", "ops")
    office.until(lambda: "provider_asked" in events(office.store, FIRST), "the provider is asked")
    settle(office, OMAR, "ops.mark_undone", "seen in the provider's log")
    undo_state(office, UndoState.UNDONE)
    outcome(office, "Undone by Bruno")
    closed = letter(office, "It was undone.")
    assert "ops.close" in readable(closed)


def test_not_undone_says_that_it_may_be_asked_for_again(office: Office) -> None:
    an_unknown(office)
    settle(office, OMAR, "ops.mark_not_undone", "nothing in the provider's log")
    undo_state(office, UndoState.FAILED)
    assert offered(outcome(office, ": nothing in the provider"))


def test_where_two_reviewers_decided_one_operator_alone_settles_nothing(office: Office) -> None:
    an_unknown(office, reviewers=2)
    settle(office, OMAR, "ops.mark_undone", "seen in the provider's log")
    letter(office, "a second operator must say the same")
    undo_state(office, UndoState.UNKNOWN)


def test_what_an_operator_says_of_one_attempt_says_nothing_of_the_next(office: Office) -> None:
    message = an_unknown(office)
    office.slack.click(OMAR, OPS, message["ts"], "ops.mark_not_undone", "ops")
    office.until(lambda: "reason" in str(office.modal(OMAR)["blocks"]), "the window asks how he knows")
    assert office.store.undos.settle(office.call(FIRST), happened=False, by=OLGA, name="Olga", reason="no").ok
    person = office.store.people.get(BRUNO)
    assert person is not None
    asked = office.store.undos.ask_for(office.call(FIRST), person=office.store.people.put(person), needed=1)
    assert asked.ok
    claim = claimed(office.store, "v")
    assert office.store.undos.abandon(claim, reason="no answer again").ok
    said = office.slack.submit(OMAR, {"reason": {"value": "nothing in the log"}})
    assert "Nothing was done" in str(said)
    undo_state(office, UndoState.UNKNOWN)


def test_who_is_no_operator_settles_nothing(office: Office) -> None:
    message = an_unknown(office)
    office.slack.click(BRUNO, OPS, message["ts"], "ops.reconcile_undo", "ops")
    office.until(lambda: "press_refused" in events(office.store), "it is noted")
    assert "provider_asked" not in events(office.store, FIRST)


def test_an_alert_about_an_open_undo_cannot_be_closed(office: Office) -> None:
    an_unknown(office)
    from bot.errors import Refused  # noqa: PLC0415 - only here
    from bot.undo_settling import refuse_open_undo  # noqa: PLC0415

    with pytest.raises(Refused, match="Settle it first"):
        refuse_open_undo(office.bot.deps, f"undo:{FIRST}")
    assert office.store.undos.settle(office.call(FIRST), happened=True, by=OMAR, name="Omar", reason="seen") == Answer(
        "ok", {"state": "undone"}
    )  # type: ignore[arg-type]  # the outcome's word
    refuse_open_undo(office.bot.deps, f"undo:{FIRST}")
