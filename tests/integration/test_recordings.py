"""What is kept of calls for simulations: as they were asked at first, and never longer than a person wants."""

import json

import pytest

from approvals.drain import drain_once
from approvals.ledger import Ledger
from approvals.recordings import Recorded, Recordings
from approvals.store import Store
from approvals.vault import Vault, new_key
from builders import STATE_KEY, TENANT, a_call, a_content, a_requirement, edit, paused
from policies.risk import Mode

ANNA = "anna@example.test"


@pytest.fixture
def recordings(ledger: Ledger) -> Recordings:
    return Recordings(ledger.engine, Vault.from_text(STATE_KEY))


def recorded(recordings: Recordings) -> list[str]:
    return [call.call for call in recordings.since(TENANT, 0).calls]


def keep(store: Store, ledger: Ledger, *arguments: str) -> None:
    """One call with each of these arguments, drained."""
    calls = [a_call(f"call_{at}", number=at, content=a_content(text)) for at, text in enumerate(arguments, start=1)]
    paused(store, *calls)
    while drain_once(store, ledger):
        continue


def test_a_call_edited_before_it_was_drained_is_recorded_as_it_was_asked_at_first(
    store: Store, ledger: Ledger, recordings: Recordings
) -> None:
    first = a_requirement(reasons=("Over 250.00.",), tier="billing", reviewers=2, resources=("pay_1", "pay_2"))
    paused(store, a_call("call_1", content=a_content(requirement=first)))
    edit(store, "call_1")
    later = a_requirement(reasons=("Small by now.",), tier="support", reviewers=1)
    content = a_content('{"payment_id":"pay_2"}', requirement=later)
    assert store.calls.refresh("call_1", version=2, content=content, seal="seal-2", drift=False).ok
    drain_once(store, ledger)
    (kept,) = recordings.since(TENANT, 0).calls
    asked = kept.requirement
    assert (asked.mode, asked.tier, asked.reviewers) == (Mode.HUMAN, "billing", 2)
    assert (asked.reasons, asked.resources) == (("Over 250.00.",), ("pay_1", "pay_2"))


@pytest.mark.parametrize(
    "arguments",
    [
        json.dumps({"to": ANNA}),
        json.dumps({"lines": [{"note": f"write to {ANNA.upper()} first"}]}),
        json.dumps({"to": "anna\\u0040example.test"}).replace("\\\\", "\\"),
        json.dumps({"inner": json.dumps({"to": [ANNA]})}),
        json.dumps({ANNA: 1}),
    ],
)
def test_erasing_a_person_deletes_the_calls_that_hold_their_value_wherever_it_stands(
    store: Store, ledger: Ledger, recordings: Recordings, arguments: str
) -> None:
    keep(store, ledger, arguments, json.dumps({"to": "ben@example.test"}))
    assert recordings.erase(TENANT, person=ANNA) == 1
    assert recorded(recordings) == ["call_2"]
    assert recordings.erase(TENANT, person=ANNA) == 0


def test_a_number_that_is_somebodys_is_found_too(store: Store, ledger: Ledger, recordings: Recordings) -> None:
    keep(store, ledger, '{"phone":4915112345678}', '{"phone":"none"}')
    assert recordings.erase(TENANT, person="4915112345678") == 1
    assert recorded(recordings) == ["call_2"]


def test_erasing_by_age_deletes_older_calls_of_this_workspace_only(
    store: Store, ledger: Ledger, recordings: Recordings
) -> None:
    keep(store, ledger, "{}")
    (kept,) = recordings.since(TENANT, 0).calls
    recordings.keep("T0OTHER", [kept])
    assert recordings.erase(TENANT, before=kept.at) == 0
    assert recordings.erase(TENANT, before=kept.at + 1) == 1
    assert recorded(recordings) == []
    assert len(recordings.since("T0OTHER", 0).calls) == 1


def test_what_nobody_can_open_any_more_is_deleted_with_the_person_it_may_be_about(
    store: Store, ledger: Ledger, recordings: Recordings
) -> None:
    keep(store, ledger, "{}")
    without_the_key = Recordings(ledger.engine, Vault.from_text(new_key()))
    assert without_the_key.erase(TENANT, person=ANNA) == 1
    assert recorded(recordings) == []


def test_a_thousand_calls_of_one_person_are_forgotten_at_once(
    store: Store, ledger: Ledger, recordings: Recordings
) -> None:
    keep(store, ledger, json.dumps({"to": ANNA}))
    (kept,) = recordings.since(TENANT, 0).calls
    copies: list[Recorded] = [kept.model_copy(update={"call": f"copy_{number}"}) for number in range(1_000)]
    recordings.keep(TENANT, copies)
    assert recordings.erase(TENANT, person=ANNA) == 1_001
    assert recorded(recordings) == []
