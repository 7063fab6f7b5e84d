import hashlib
import json

import pytest
import rfc8785
from hypothesis import given
from hypothesis import strategies as st

from approvals.ledger_check import columns_of
from approvals.ledger_rows import ERASED, GENESIS, OURS, canonical_body, chained, parted, rejoined, salted
from approvals.ledger_tables import EVENTS
from approvals.storable import INSTEAD, storable

TEXT = st.text(st.characters(exclude_categories=["Cs"]))
#: Not `st.text`, which has no half characters.
ANY = st.lists(st.characters() | st.sampled_from("\x00\ud800\udbff\udc00\udfff\x1b\ufeff\uffff")).map("".join)
BODIES = st.dictionaries(st.sampled_from(["type", "at", "run", "actor", "name", "reason", "kept_not"]), TEXT)


@given(body=BODIES)
def test_a_body_is_chained_in_the_canonical_form_that_anybody_can_recompute(body: dict[str, str]) -> None:
    canonical = canonical_body(body)
    assert canonical.encode() == rfc8785.dumps(body)
    whole = hashlib.sha256(rfc8785.dumps([GENESIS, "7", "1700-0", body])).hexdigest()
    assert chained(GENESIS, 7, "1700-0", canonical) == whole


@given(name=ANY, reason=ANY)
def test_what_a_person_is_called_and_wrote_comes_back_until_it_is_erased(name: str, reason: str) -> None:
    fields = {"type": "rejected", "actor": "U0ANA", "name": name, "reason": reason}
    body, apart = parted(fields, bytes)
    kept = {field: storable(text) for field, text in fields.items()}
    assert rejoined(body, {one.hash: one.value for one in apart}) == kept
    erased = rejoined(body, {})
    assert erased["name"] == (ERASED if name else "")
    assert all(one.hash == salted(one.salt, one.value) for one in apart)


@pytest.mark.parametrize("actor", ["", "policy", "U0ANA"])
@pytest.mark.parametrize(
    "kind", ["rejected", "refused", "released", "revoked", "failed", "unknown", "lapsed", "run_failed"]
)
def test_whoever_gave_a_reason_it_may_quote_somebody_and_can_be_erased(kind: str, actor: str) -> None:
    fields = {"type": kind, "actor": actor, "reason": "anna@example.com bounces."}
    body, (apart,) = parted(fields, bytes)
    assert "anna" not in json.dumps(body)
    assert (apart.kind, apart.value) == ("reason", "anna@example.com bounces.")
    assert rejoined(body, {apart.hash: apart.value}) == fields
    assert rejoined(body, {})["reason"] == ERASED


@pytest.mark.parametrize("kind", sorted(OURS))
def test_counts_and_settings_are_nobodys(kind: str) -> None:
    fields = {"type": kind, "actor": "", "reason": "3 of 40 rows differ."}
    assert parted(fields, bytes) == (fields, [])


def test_the_law_and_an_agent_have_a_name_that_is_nobodys() -> None:
    for fields in ({"type": "rejected", "actor": "policy", "name": "policy"},
                   {"type": "run_started", "actor": "U0ANA", "name": "desk"}):  # fmt: skip
        assert parted(fields, bytes) == (fields, [])


def test_equal_values_stand_for_different_hashes() -> None:
    salts = iter([b"a" * 16, b"b" * 16])
    kept = json.dumps({"arguments": [{"$personal": "Anna"}, {"$personal": "Anna"}]})
    body, apart = parted({"type": "proposed", "actor": "", "kept": kept}, lambda _: next(salts))
    assert apart[0].hash != apart[1].hash
    assert "Anna" not in body["kept"]


@given(text=ANY)
def test_every_character_is_kept_but_those_that_no_database_takes(text: str) -> None:
    whole = json.loads(json.dumps(text))  # two halves that meet are one character
    kept = storable(text)
    assert len(kept) == len(whole)
    refused = [one for one in whole if one == "\x00" or 0xD800 <= ord(one) <= 0xDFFF]
    assert kept.count(INSTEAD) == text.count(INSTEAD) + len(refused)
    assert all(new in (old, INSTEAD) for old, new in zip(whole, kept, strict=True))
    kept.encode()
    assert "\x00" not in kept


@given(text=ANY)
def test_text_is_kept_as_the_same_text_whether_or_not_it_came_as_json(text: str) -> None:
    assert storable(json.loads(json.dumps(text))) == storable(text)


@given(body=st.dictionaries(st.sampled_from(["type", "run", "call", "actor", "tool"]), ANY))
def test_what_is_searched_fits_its_column_and_is_the_beginning_of_what_is_chained(body: dict[str, str]) -> None:
    long = {name: text * 50 for name, text in body.items()}
    for name, text in columns_of(long).items():
        assert name == "at" or long.get(name, "").startswith(text)
        assert name == "at" or len(text) <= EVENTS.c[name].type.length
