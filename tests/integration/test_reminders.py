from typing import Any

from approvals.models import Batch
from approvals.outcomes import Outcome
from bot.sandbox.errors import SandboxError
from bot_office import BRUNO, CHANNEL, OLGA, OMAR, RITA, ROSA, Office, a_refund, readable
from builders import events, move, owed
from clocks import a_clock

FIRST = "call_000000000001"
Json = dict[str, Any]


def tick(office: Office) -> None:
    """One round of a clock that reads the same law as the bot."""
    a_clock(office.store, office.bot.deps.law).tick()
    office.bot.deps.wake.set()


def waiting_card(office: Office, **changes: Any) -> tuple[str, str]:
    """A card that waits, and its thread."""
    run, thread = office.start()
    batch = office.pause(run, a_refund(31240, **changes))
    office.card_with(batch, "decide by")
    return batch, thread


def spend_time(office: Office, batch: str, share: float) -> None:
    """Move the card's instants into the past, until `share` of its time is over."""
    keys, client, now = office.store.keys, office.client, office.store.now()
    found = of(office, batch)
    assert found.posted_at
    assert found.decide_by
    ttl = found.decide_by - found.posted_at
    posted = now - int(ttl * share) - 1
    move(client, keys.batch(batch), posted_at=posted, decide_by=posted + ttl)
    places = {"remind": posted + ttl // 2, "escalate": posted + ttl * 4 // 5, "decide": posted + ttl}
    members = {f"{kind}:{batch}": at for kind, at in places.items()}
    client.zadd(keys.deadlines, {member: at for member, at in members.items() if client.zscore(keys.deadlines, member)})


def of(office: Office, batch: str) -> Batch:
    found = office.store.batches.load(batch)
    assert found
    return found


def replies(office: Office, thread: str, words: str) -> list[Json]:
    return [message for message in office.slack.messages(CHANNEL, thread) if words in readable(message)]


def directs(office: Office, user: str) -> list[Json]:
    try:
        return list(office.slack.messages(f"D{user}"))
    except SandboxError:  # nobody wrote to them yet
        return []


def test_at_half_time_the_thread_and_those_who_have_not_answered_are_reminded_once(office: Office) -> None:
    batch, thread = waiting_card(office, reviewers=2)
    office.press(BRUNO, batch, "call.approve")
    office.card_with(batch, "one more approval needed")
    tick(office)
    assert "reminded" not in events(office.store)
    spend_time(office, batch, 0.5)
    for _ in range(3):
        tick(office)
    office.until(lambda: replies(office, thread, "Half of the time is over"), "the thread is reminded")
    office.until(lambda: directs(office, OLGA), "Olga is reminded")
    (direct,) = directs(office, OLGA)
    assert "Open the card" in readable(direct)
    assert directs(office, BRUNO) == []
    assert directs(office, ROSA) == []
    assert len(replies(office, thread, "Half of the time is over")) == 1
    assert events(office.store).count("reminded") == 1


def test_a_reminder_that_comes_too_late_is_dropped(office: Office) -> None:
    batch, thread = waiting_card(office)
    spend_time(office, batch, 0.9)
    tick(office)
    assert "reminded" not in events(office.store)
    assert not replies(office, thread, "Half of the time is over")


def test_whoever_was_interrupted_often_enough_gets_no_direct_message(office: Office) -> None:
    batch, thread = waiting_card(office)
    limit = office.bot.deps.law.budgets.interruptions_per_hour
    now = office.store.now()
    office.client.zadd(office.store.keys.heard(OLGA), {f"batch_{n}": now - n for n in range(limit)})
    spend_time(office, batch, 0.5)
    tick(office)
    office.until(lambda: replies(office, thread, "Half of the time is over"), "the thread is reminded")
    office.until(lambda: directs(office, BRUNO), "Bruno is reminded")
    assert directs(office, OLGA) == []
    assert f"direct:{batch}:{OLGA}" not in owed(office.store)


def test_a_reminder_about_what_is_decided_meanwhile_is_not_sent_and_alarms_nobody(office: Office) -> None:
    batch, _ = waiting_card(office)
    office.press(BRUNO, batch, "call.approve")
    office.card_with(batch, "Approved by")
    office.store.outbox.owe("reminder", f"half:{batch}", channel=CHANNEL)
    office.store.outbox.owe("direct", f"{batch}:{OLGA}")
    office.bot.deps.wake.set()
    office.until(lambda: not owed(office.store), "both are dropped")
    assert directs(office, OLGA) == []
    assert office.store.outbox.load(f"alert:outbox:direct:{batch}:{OLGA}") is None


def test_when_most_of_the_time_is_over_the_next_tier_is_added_and_may_decide(office: Office) -> None:
    batch, thread = waiting_card(office)
    office.press(OMAR, batch, "call.reject", call=FIRST)
    office.told(OMAR, "Only billing may decide this")
    spend_time(office, batch, 0.81)
    tick(office)
    tick(office)
    assert events(office.store).count("escalated") == 1
    office.until(lambda: replies(office, thread, "The next tier may decide too"), "the thread is told")
    office.until(lambda: directs(office, OMAR), "the next tier is told")
    assert directs(office, BRUNO) == []
    office.card_with(batch, "the next tier may decide too")
    office.press(OMAR, batch, "call.reject", call=FIRST)
    office.until(lambda: office.modal(OMAR).get("submit"), "Omar may decide now")
    office.slack.submit(OMAR, {"common": {"value": "own"}, "reason": {"value": "not this one"}})
    office.card_with(batch, "Rejected by Omar")


def test_im_on_it_stops_the_escalation_and_decides_nothing(office: Office) -> None:
    batch, _ = waiting_card(office)
    office.press(BRUNO, batch, "batch.on_it")
    office.card_with(batch, "Bruno Billing is on it")
    office.press(BRUNO, batch, "batch.on_it")
    spend_time(office, batch, 0.81)
    tick(office)
    assert of(office, batch).on_it == BRUNO
    assert of(office, batch).escalated_at is None
    kinds = events(office.store)
    assert (kinds.count("on_it"), kinds.count("escalated")) == (1, 0)
    assert office.call(FIRST).decisions == ()
    spend_time(office, batch, 1.0)
    tick(office)
    office.card_with(batch, "nobody decided in time")


def test_the_second_reviewer_is_reminded_though_the_first_was_on_it_until_they_approved(office: Office) -> None:
    run, _ = office.start()
    batch = office.pause(run, a_refund(31240, reviewers=2))
    office.card_with(batch, "decide by")
    office.press(BRUNO, batch, "batch.on_it")
    office.card_with(batch, "Bruno Billing is on it")
    spend_time(office, batch, 0.5)
    tick(office)
    assert "reminded" in events(office.store)
    assert directs(office, OLGA) == []
    move(office.client, office.store.keys.batch(batch), remind_at=1)
    office.press(BRUNO, batch, "call.approve")
    office.card_with(batch, "one more approval needed")
    assert of(office, batch).on_it is None
    tick(office)
    office.until(lambda: directs(office, OLGA), "Olga is reminded")
    office.press(BRUNO, batch, "batch.on_it")
    office.told(BRUNO, "You have approved all that waits here, and somebody else must decide too.")
    assert of(office, batch).on_it is None
    spend_time(office, batch, 0.81)
    tick(office)
    office.until(lambda: directs(office, OMAR), "the next tier is told")


def test_only_who_may_decide_can_be_on_it(office: Office) -> None:
    batch, _ = waiting_card(office)
    office.press(ROSA, batch, "batch.on_it")
    office.told(ROSA, "somebody else must decide")
    office.press(OMAR, batch, "batch.on_it")
    office.told(OMAR, "Only billing may decide this")
    assert of(office, batch).on_it is None
    assert events(office.store).count("decision_refused") == 2


def test_a_decided_card_is_neither_reminded_nor_escalated(office: Office) -> None:
    batch, _ = waiting_card(office)
    office.press(BRUNO, batch, "call.approve")
    office.card_with(batch, "Approved by")
    members = [member.decode() for member in office.client.zrange(office.store.keys.deadlines, 0, -1)]
    assert not [member for member in members if batch in member]
    assert office.store.batches.on_it(batch, by=OLGA, name="Olga").outcome is Outcome.NOT_PENDING


def test_a_card_nobody_comes_after_is_not_escalated(office: Office) -> None:
    run, _ = office.start()
    call = a_refund(31240)
    need = call.content.requirement.model_copy(update={"tier": "ops_leads"})
    content = call.content.model_copy(update={"requirement": need})
    batch = office.pause(run, call.model_copy(update={"content": content}))
    office.card_with(batch, "decide by")
    spend_time(office, batch, 0.81)
    tick(office)
    assert of(office, batch).escalated_at is None
    assert office.client.zscore(office.store.keys.deadlines, f"escalate:{batch}") is None


def waiting_since_half(office: Office, **changes: Any) -> tuple[str, Json]:
    """A card about which Olga got a direct message."""
    batch, _ = waiting_card(office, **changes)
    spend_time(office, batch, 0.5)
    tick(office)
    office.until(lambda: directs(office, OLGA), "Olga is reminded")
    (direct,) = directs(office, OLGA)
    assert "waits for a decision" in readable(direct)
    return batch, direct


def test_a_direct_message_says_who_decided_and_that_nothing_is_left_to_do(office: Office) -> None:
    batch, before = waiting_since_half(office)
    office.press(BRUNO, batch, "call.approve")
    office.card_with(batch, "Approved by")
    office.until(lambda: "Nothing is left to do" in readable(directs(office, OLGA)[0]), "it is updated")
    (after,) = directs(office, OLGA)
    assert after["ts"] == before["ts"]
    assert "approved by Bruno Billing. Nothing is left to do." in readable(after)
    assert "waits for a decision" not in readable(after)
    assert "Open the card" in readable(after)
    office.until(lambda: "approved by Bruno Billing" in readable(directs(office, BRUNO)[0]), "Bruno's too")


def test_a_direct_message_tells_who_has_decided_that_another_one_is_waited_for(office: Office) -> None:
    batch, _ = waiting_since_half(office, reviewers=2)
    office.press(OLGA, batch, "call.approve")
    office.card_with(batch, "one more approval needed")
    office.until(lambda: "you have decided" in readable(directs(office, OLGA)[0]), "it is updated")
    assert "waits for a decision" in readable(directs(office, BRUNO)[0])


def test_a_direct_message_says_that_nobody_decided_in_time(office: Office) -> None:
    batch, _ = waiting_since_half(office)
    spend_time(office, batch, 1.0)
    tick(office)
    office.card_with(batch, "nobody decided in time")
    office.until(lambda: "nobody decided in time" in readable(directs(office, OLGA)[0]), "it is updated")


def test_a_direct_message_that_may_have_arrived_is_sent_again_and_ops_hears_of_nothing(office: Office) -> None:
    batch, _ = waiting_card(office)
    entry = f"direct:{batch}:{OLGA}"
    office.slack.fault("chat.postMessage", "cut_after")
    office.store.outbox.owe("direct", f"{batch}:{OLGA}")
    office.bot.deps.wake.set()

    def delivered() -> bool:
        found = office.store.outbox.load(entry)
        return found is not None and found.delivered == 1

    office.until(delivered, "it is delivered")
    assert len(directs(office, OLGA)) == 2, "nobody may look whether the first one arrived"
    assert office.store.outbox.load("alert:slack::missing_scope") is None


def test_members_of_a_usergroup_are_reminded_as_persons(office: Office) -> None:
    run, _ = office.start()
    call = a_refund(31240)
    need = call.content.requirement.model_copy(update={"amount": None})  # Rita has no limit for money
    batch = office.pause(
        run, call.model_copy(update={"content": call.content.model_copy(update={"requirement": need})})
    )
    office.card_with(batch, "decide by")
    spend_time(office, batch, 0.5)
    office.store.people.put_members("S_BILLING", [BRUNO, OLGA, RITA])
    tick(office)
    office.until(lambda: directs(office, RITA), "Rita, of the usergroup only, is reminded")
    assert directs(office, ROSA) == []


def test_a_guest_of_a_usergroup_is_met_before_a_card_would_ask_them(office: Office) -> None:
    office.bot.deps.watch.round()
    assert office.store.people.known_members(["S_BILLING"]) == {"S_BILLING": (BRUNO, OLGA)}
    asked = len(office.slack.calls("users.info"))
    office.bot.deps.watch.round()
    assert len(office.slack.calls("users.info")) == asked, "whoever is known is not looked up for this again"


def test_the_watch_keeps_the_lists_of_members(office: Office) -> None:
    assert office.store.people.known_members(["S_RELEASE"]) == {}
    office.bot.deps.watch.round()
    assert office.store.people.known_members(["S_RELEASE"]) == {"S_RELEASE": (OMAR, RITA)}
