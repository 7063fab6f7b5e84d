"""When canaries are planted: by the clock, at their instant, once a slot; by `vobo canary` at once."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import jsonschema
from click.testing import CliRunner, Result

from approvals.__main__ import cli
from approvals.errors import ApprovalsError
from approvals.planting import NoCanaries
from approvals.store import Store
from builders import STATE_KEY, TEAM, events, reject
from canaries import CANARIES, planted
from policies.canaries import instant_of
from policies.law import Law
from worker.canaries import LOOK_EVERY_MS, CanaryClock
from workshop import ANA, BEN, LEA, REVIEWERS, a_law

LAW = a_law(reviewers=REVIEWERS + CANARIES)
MONDAY = datetime(2026, 11, 23, tzinfo=UTC)


class Instant:
    """The store's clock, moved by hand."""

    def __init__(self, at: datetime) -> None:
        self.at = at

    def __call__(self) -> int:
        return int(self.at.timestamp() * 1000)

    def later(self, **by: int) -> None:
        self.at += timedelta(**by)


def planned(slot: str, store: Store, law: Law = LAW) -> datetime:
    at = instant_of(law.deadlines, MONDAY.date(), store.canaries.draw(slot))
    assert at
    return at


def clock(store: Store, now: Instant, law: Law = LAW) -> CanaryClock:
    return CanaryClock(store, law, store.canaries.draw, now)


def shown(store: Store) -> int:
    return events(store).count("run_started")


def test_every_clock_plans_the_same_instant_which_the_file_does_not_tell(store: Store) -> None:
    assert store.canaries.draw("2026-W48-1") == store.canaries.draw("2026-W48-1")
    numbers = {store.canaries.draw(f"2026-W{week}-{number}") for week in range(10, 53) for number in (1, 2)}
    assert len(numbers) == 86


def test_it_is_planted_at_its_instant_by_one_of_two_clocks(store: Store) -> None:
    now = Instant(planned("2026-W48-1", store) - timedelta(seconds=1))
    first, second = clock(store, now), clock(store, now)
    assert (first(), second(), shown(store)) == (0, 0, 0)
    now.later(milliseconds=LOOK_EVERY_MS)
    assert (first(), second(), shown(store)) == (0, 0, 1)
    for _ in range(9):
        now.later(milliseconds=LOOK_EVERY_MS)
        assert (first(), second(), shown(store)) == (0, 0, 1)
    assert clock(store, now)() == 0, "a clock that was started later"
    assert shown(store) == 1


def test_a_clock_looks_once_a_minute(store: Store) -> None:
    now = Instant(planned("2026-W48-1", store) - timedelta(seconds=1))
    one = clock(store, now)
    one()
    now.later(milliseconds=LOOK_EVERY_MS - 1)
    one()
    assert shown(store) == 0
    now.later(milliseconds=1)
    one()
    assert shown(store) == 1


def test_several_a_week_have_instants_of_their_own(store: Store) -> None:
    law = a_law(reviewers=REVIEWERS + CANARIES.replace("[canaries]", "[canaries]\nper_week = 3", 1))
    now, end = Instant(MONDAY), MONDAY + timedelta(days=7)
    one = clock(store, now, law)
    while now.at < end:
        one()
        now.later(minutes=1)
    assert shown(store) == 3


def test_a_clock_that_was_away_at_the_instant_leaves_the_week_without(store: Store) -> None:
    now = Instant(planned("2026-W48-1", store) + timedelta(hours=2))
    clock(store, now)()
    assert shown(store) == 0


def test_when_nobody_can_be_asked_the_week_goes_without_and_the_ledger_says_why(store: Store) -> None:
    quiet = f'[[quiet_hours]]\nfor = ["{ANA}", "{BEN}", "{LEA}"]\nfrom = "00:00"\nto = "00:00"\n'
    asleep = a_law(reviewers=REVIEWERS + quiet + CANARIES)
    now = Instant(planned("2026-W48-1", store))
    clock(store, now, asleep)()
    assert events(store) == ["canary_skipped"]
    now.later(milliseconds=LOOK_EVERY_MS)
    clock(store, now)()
    assert events(store) == ["canary_skipped"], "not even when they are awake again"


def test_a_team_that_did_not_opt_in_has_none(store: Store) -> None:
    now = Instant(planned("2026-W48-1", store))
    clock(store, now, a_law())()
    assert events(store) == []
    assert store.canaries.take("2026-W48-1"), "and no slot is used up"
    assert not store.canaries.take("2026-W48-1")


# --- vobo canary ------------------------------------------------------------------------------------------------------


def command(valkey_url: str, tmp_path: Path, people: str, *words: str) -> Result:
    reviewers = tmp_path / "reviewers.toml"
    reviewers.write_text(people, encoding="utf-8")
    environ = {
        "REDIS_URL": valkey_url,
        "VOBO_STATE_KEYS": STATE_KEY,
        "VOBO_LEDGER_URL": f"sqlite:///{tmp_path / 'ledger.db'}",
        "VOBO_REVIEWERS": str(reviewers),
    }
    return CliRunner().invoke(cli, words or ["canary"], env=environ)


def test_an_operator_plants_one_now(valkey_url: str, tmp_path: Path, store: Store) -> None:
    done = command(valkey_url, tmp_path, REVIEWERS.replace(TEAM, store.tenant) + CANARIES)
    assert done.exit_code == 0, done.output
    run = store.runs.load(done.output.split()[0])
    assert run
    assert run.canary
    assert "nothing runs whatever is decided" in done.output


def test_the_command_says_why_nobody_was_asked_and_how_to_opt_in(valkey_url: str, tmp_path: Path, store: Store) -> None:
    many = CANARIES.replace('tier = "desk"', 'tier = "desk"\nreviewers = 4')
    refused = command(valkey_url, tmp_path, REVIEWERS + many)
    assert refused.exit_code == 1
    assert "No canary was shown. Nobody may approve it" in refused.output
    none = command(valkey_url, tmp_path, REVIEWERS)
    assert isinstance(none.exception, NoCanaries | ApprovalsError)
    assert events(store) == []


def test_the_ledger_marks_it_in_tables_and_export(valkey_url: str, tmp_path: Path, store: Store) -> None:
    people = REVIEWERS + CANARIES
    call = planted(store, LAW)
    assert reject(store, call.key, by=BEN).ok
    story = command(valkey_url, tmp_path, people, "show", call.run).output
    assert "proposed (canary)" in story
    assert "canary caught" in story
    found = json.loads(
        command(valkey_url, tmp_path, people, "ledger", "--type", "canary_caught", "--as", "json").output
    )
    assert (found["canary"], found["actor"], found["run"]) == ("1", BEN, call.run)
    rows = command(valkey_url, tmp_path, people, "ledger", "--as", "csv").output.splitlines()
    assert rows[0].endswith(",canary")
    assert all(row.endswith(",1") for row in rows[1:])
    exported = command(valkey_url, tmp_path, people, "export").output.splitlines()
    schema = json.loads(command(valkey_url, tmp_path, people, "export", "--schema").output)
    for line in exported:
        jsonschema.validate(json.loads(line), schema)
    assert {json.loads(line)["body"].get("canary") for line in exported if json.loads(line)["run"]} == {"1"}


def test_the_check_of_policies_notes_what_keeps_one_from_being_shown(
    valkey_url: str, tmp_path: Path, store: Store
) -> None:
    assert store
    people = REVIEWERS + CANARIES.replace('tier = "desk"', 'tier = "shop"')
    done = command(valkey_url, tmp_path, people, "policies", "check")
    assert "Note: reviewers.toml, canaries.calls, number 1 (ship): the tier shop is not defined" in done.output
