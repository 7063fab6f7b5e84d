"""An hour of trouble with Slack: what it does to approvals, to ops and to recovery is what docs/operations.md says."""

import pytest
import redis

from outages import OUTAGES, PAGE, Outage, committed, live_through, table


@pytest.mark.parametrize("outage", OUTAGES, ids=lambda outage: outage.name)
def test_an_hour_of_it_goes_as_the_runbook_says_and_invents_no_decision(
    outage: Outage, valkey_url: str, redis_client: redis.Redis
) -> None:
    seen = live_through(outage, valkey_url, redis_client)
    assert seen.doubles == 0
    assert seen.deciders == {"Bruno Billing", "Olga Opslead"}
    (row,) = table({outage.name: seen}).splitlines()[2:]
    assert row in committed(PAGE.read_text(encoding="utf-8")).splitlines(), "python tests/outages.py writes it anew"


def test_the_runbook_has_a_row_for_each_outage_and_no_other() -> None:
    rows = committed(PAGE.read_text(encoding="utf-8")).splitlines()[2:]
    assert [row.split("|")[1].strip() for row in rows] == [outage.name for outage in OUTAGES]
