import hashlib
import json

import rfc8785
from hypothesis import given
from hypothesis import strategies as st

from approvals.ledger_rows import ERASED, GENESIS, canonical_body, chained, parted, rejoined, salted

TEXT = st.text(st.characters(exclude_categories=["Cs"]))
BODIES = st.dictionaries(st.sampled_from(["type", "at", "run", "actor", "name", "reason", "kept_not"]), TEXT)


@given(body=BODIES)
def test_a_body_is_chained_in_the_canonical_form_that_anybody_can_recompute(body: dict[str, str]) -> None:
    canonical = canonical_body(body)
    assert canonical.encode() == rfc8785.dumps(body)
    whole = hashlib.sha256(rfc8785.dumps([GENESIS, "7", "1700-0", body])).hexdigest()
    assert chained(GENESIS, 7, "1700-0", canonical) == whole


@given(name=TEXT, reason=TEXT)
def test_what_a_person_is_called_and_wrote_comes_back_until_it_is_erased(name: str, reason: str) -> None:
    fields = {"type": "rejected", "actor": "U0ANA", "name": name, "reason": reason}
    body, apart = parted(fields, bytes)
    assert rejoined(body, {one.hash: one.value for one in apart}) == fields
    erased = rejoined(body, {})
    assert erased["name"] == (ERASED if name else "")
    assert all(one.hash == salted(one.salt, one.value) for one in apart)


def test_the_words_of_the_law_itself_are_nobodys() -> None:
    fields = {"type": "rejected", "actor": "policy", "name": "policy", "reason": "Too much for one run."}
    assert parted(fields, bytes) == (fields, [])


def test_equal_values_stand_for_different_hashes() -> None:
    salts = iter([b"a" * 16, b"b" * 16])
    kept = json.dumps({"arguments": [{"$personal": "Anna"}, {"$personal": "Anna"}]})
    body, apart = parted({"type": "proposed", "actor": "", "kept": kept}, lambda _: next(salts))
    assert apart[0].hash != apart[1].hash
    assert "Anna" not in body["kept"]
