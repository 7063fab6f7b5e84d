"""Whoever can write to the ledger's database, and what of it is found. On SQLite and on PostgreSQL."""

import base64
from collections.abc import Sequence

import pytest
import redis
from sqlalchemy import delete, insert, select, update

from approvals.anchoring import DAY_MS, Anchoring, anchors, verify
from approvals.anchors import Anchor, AnchorRefused, Signer
from approvals.drain import drain_once
from approvals.ledger import Ledger
from approvals.ledger_rows import GENESIS, chained
from approvals.ledger_tables import ANCHORS, EVENTS, HEADS, PERSONAL
from approvals.store import Store
from approvals.vault import Vault
from builders import STATE_KEY, TENANT, a_call, approve, paused, reject

SIGNER = Signer.of(Vault.from_text(STATE_KEY))
STRANGER = Signer([bytes(32)])


@pytest.fixture
def story(store: Store, ledger: Ledger) -> Ledger:
    """A run with one approval and one rejection, drained and anchored."""
    paused(store, a_call("call_1"), a_call("call_2"))
    approve(store, "call_1")
    reject(store, "call_2", reason="Wrong customer")
    drain_once(store, ledger)
    anchored(store, ledger)
    return ledger


def anchored(store: Store, ledger: Ledger) -> Anchor:
    Anchoring(store, ledger, SIGNER, every_ms=0)()
    return anchors(ledger, TENANT)[-1]


def found(store: Store, ledger: Ledger, *, noted: Sequence[Anchor] = ()) -> str:
    return "\n".join(verify(store, ledger, SIGNER, noted=tuple(noted)))


def row(number: int) -> object:
    return (EVENTS.c.tenant == TENANT) & (EVENTS.c.seq == number)


def rewrite(ledger: Ledger, *, leave_out: int) -> None:
    """The whole chain anew without one row, as somebody would who can do everything but sign."""
    with ledger.engine.begin() as connection:
        rows = connection.execute(select(EVENTS).order_by(EVENTS.c.seq)).all()
        connection.execute(delete(EVENTS))
        previous, number = GENESIS, 0
        for old in rows:
            if old.seq == leave_out:
                continue
            number += 1
            previous = chained(previous, number, old.event_id, old.body)
            connection.execute(insert(EVENTS).values(**{**old._asdict(), "seq": number, "hash": previous}))
        connection.execute(update(HEADS).values(seq=number, hash=previous))


def test_an_untouched_ledger_is_whole(store: Store, story: Ledger) -> None:
    assert found(store, story) == ""
    assert len(story.rows(TENANT)) > 5


def test_a_changed_row_is_found(store: Store, story: Ledger) -> None:
    with story.engine.begin() as connection:
        body = connection.scalar(select(EVENTS.c.body).where(EVENTS.c.type == "rejected"))
        forged = str(body).replace('"type":"rejected"', '"type":"approved"')
        connection.execute(update(EVENTS).where(EVENTS.c.type == "rejected").values(body=forged, type="approved"))
    assert "was changed" in found(store, story)


def test_a_row_changed_only_where_it_is_searched_is_found(store: Store, story: Ledger) -> None:
    with story.engine.begin() as connection:
        connection.execute(update(EVENTS).where(EVENTS.c.type == "approved").values(actor="U0EVE"))
    assert "beside its body" in found(store, story)


def test_a_changed_reason_is_found_though_it_can_be_erased(store: Store, story: Ledger) -> None:
    with story.engine.begin() as connection:
        connection.execute(update(PERSONAL).where(PERSONAL.c.kind == "reason").values(value="Fine by me"))
    assert "A reason of row" in found(store, story)


def test_a_deleted_row_is_found(store: Store, story: Ledger) -> None:
    with story.engine.begin() as connection:
        connection.execute(delete(EVENTS).where(row(3)))
    assert "Row 3 is missing." in found(store, story)


def test_an_inserted_row_is_found(store: Store, story: Ledger) -> None:
    with story.engine.begin() as connection:
        kept = connection.execute(select(EVENTS).where(EVENTS.c.type == "approved")).one()
        top = connection.scalar(select(HEADS.c.seq))
        forged = {**kept._asdict(), "seq": top + 1, "event_id": "1-1"}
        connection.execute(insert(EVENTS).values(**forged))
    told = found(store, story)
    assert "was changed" in told
    assert "Rows were added" in told


def test_two_rows_that_changed_places_are_found(store: Store, story: Ledger) -> None:
    with story.engine.begin() as connection:
        for old, new in ((2, 1002), (3, 2), (1002, 3)):
            connection.execute(update(EVENTS).where(row(old)).values(seq=new))
    told = found(store, story)
    assert "Row 2" in told
    assert "Row 3" in told


def test_a_cut_tail_is_found(store: Store, story: Ledger) -> None:
    top = len(story.rows(TENANT))
    with story.engine.begin() as connection:
        connection.execute(delete(EVENTS).where(EVENTS.c.seq > top - 5))
    assert f"{top} were written, {top - 5} are here" in found(store, story)


def test_a_tail_cut_together_with_the_head_is_found_by_the_anchor_and_by_what_redis_handed_over(
    store: Store, story: Ledger, redis_client: redis.Redis
) -> None:
    top = len(story.rows(TENANT))
    with story.engine.begin() as connection:
        connection.execute(delete(EVENTS).where(EVENTS.c.seq > top - 5))
        last = connection.execute(select(EVENTS).where(row(top - 5))).one()
        connection.execute(update(HEADS).values(seq=last.seq, hash=last.hash))
    told = found(store, story)
    assert f"vouches for row {top}, which is gone" in told
    assert f"handed over up to row {top}, and its newest row is {top - 5}" in told
    redis_client.hdel(store.keys.vouched, "head")  # as an earlier version left it
    assert "Redis handed over events that are not here" in found(store, story)


def test_the_loss_of_rows_that_no_anchor_covers_yet_is_found(store: Store, story: Ledger) -> None:
    anchored_at = anchors(story, TENANT)[-1].seq
    paused(store, a_call("call_9", batch="batch_z"), run="run_9")
    drain_once(store, story)
    with story.engine.begin() as connection:
        connection.execute(delete(EVENTS).where(EVENTS.c.seq > anchored_at))
        last = connection.execute(select(EVENTS).where(row(anchored_at))).one()
        connection.execute(update(HEADS).values(seq=last.seq, hash=last.hash))
    assert f"its newest row is {anchored_at}. Nothing is moved into it." in found(store, story)


def test_a_chain_written_anew_without_the_key_is_found(store: Store, story: Ledger) -> None:
    rewrite(story, leave_out=3)
    assert story.verify(TENANT) == [], "the chain alone does not tell"
    assert "Anchor 1 vouches for" in found(store, story)


def test_a_chain_written_anew_with_an_anchor_of_somebody_elses_key_is_found(store: Store, story: Ledger) -> None:
    rewrite(story, leave_out=3)
    with story.engine.begin() as connection:
        head = connection.execute(select(HEADS)).one()
        forged = STRANGER.sign(TENANT, 1, head.seq, head.hash, 1)
        connection.execute(update(ANCHORS).values(**forged._asdict()))
    assert "not configured" in found(store, story)


def test_a_chain_written_anew_without_its_anchors_is_found_by_their_number_and_by_the_posted_text(
    store: Store, story: Ledger, redis_client: redis.Redis
) -> None:
    posted = Anchor.read(anchors(story, TENANT)[-1].text)
    rewrite(story, leave_out=3)
    with story.engine.begin() as connection:
        connection.execute(delete(ANCHORS))
    assert "Anchor 1 is gone." in found(store, story)
    assert "is older than Redis, or another database" in found(store, story)
    redis_client.hdel(store.keys.vouched, "anchors", "head")  # Redis lost as well: what ops can read is still there
    assert found(store, story) == ""
    assert "As posted: Anchor 1 vouches for" in found(store, story, noted=[posted])


def test_an_anchor_is_made_once_a_day_and_owed_to_ops_once(store: Store, ledger: Ledger) -> None:
    paused(store, a_call("call_1"))
    drain_once(store, ledger)
    Anchoring(store, ledger, SIGNER)()
    assert anchors(ledger, TENANT) == [], "a ledger younger than a day waits"
    with ledger.engine.begin() as connection:
        connection.execute(update(EVENTS).values(at=EVENTS.c.at - DAY_MS))
    for _ in range(2):
        Anchoring(store, ledger, SIGNER)()
    (anchor,) = anchors(ledger, TENANT)
    entry = store.outbox.load(f"alert:anchor:{anchor.text}")
    assert entry is not None
    assert entry.desired == 1


def test_a_crash_between_signing_and_telling_is_made_up_for(store: Store, story: Ledger) -> None:
    with story.engine.begin() as connection:
        connection.execute(update(ANCHORS).values(told=0))
    assert Anchoring(store, story, SIGNER)() == 1
    assert Anchoring(store, story, SIGNER)() == 0


def test_anchors_of_an_older_key_hold_while_it_is_configured_or_vouched_for(store: Store, story: Ledger) -> None:
    newer = base64.b64encode(bytes(32)).decode()
    rotated = Signer.of(Vault.from_text(f"{newer},{STATE_KEY}"))
    assert verify(store, story, rotated) == []
    forgotten = Signer.of(Vault.from_text(newer))
    assert "not configured" in verify(store, story, forgotten)[0]
    assert verify(store, story, forgotten, keys=SIGNER.trusted) == []


def test_a_text_that_is_no_anchor_is_refused_with_a_sentence() -> None:
    with pytest.raises(AnchorRefused, match="Copy all of it"):
        Anchor.read("1-2-3")
