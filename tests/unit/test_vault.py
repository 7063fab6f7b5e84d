import base64
import os
import struct
import zlib
from collections.abc import Callable

import pytest
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from hypothesis import given
from hypothesis import strategies as st

from approvals import vault as vault_module
from approvals.packing import packed
from approvals.vault import (
    Binding,
    BlobKeyMissing,
    BlobTampered,
    BlobTooLarge,
    StateKeysError,
    Vault,
    new_key,
)

OLD, NEW = new_key(), new_key()
PLACE = Binding(tenant="T1", kind="state", subject="run-1", version=3)


def test_what_was_sealed_opens_under_the_same_binding() -> None:
    vault = Vault.from_text(NEW)

    assert vault.open_blob(vault.seal_blob(b"run state", PLACE), PLACE) == b"run state"


@given(st.binary(max_size=2000))
def test_any_bytes_survive(plaintext: bytes) -> None:
    vault = Vault.from_text(NEW)

    assert vault.open_blob(vault.seal_blob(plaintext, PLACE), PLACE) == plaintext


def test_a_blob_is_smaller_than_repetitive_text_and_shows_none_of_it() -> None:
    text = b"payment_id customer amount " * 400
    blob = Vault.from_text(NEW).seal_blob(text, PLACE)

    assert len(blob) < len(text) / 10
    assert b"payment" not in blob


@pytest.mark.parametrize(
    "other",
    [
        PLACE._replace(tenant="T2"),
        PLACE._replace(kind="arguments"),
        PLACE._replace(subject="run-2"),
        PLACE._replace(version=2),
        PLACE._replace(run="run-1"),
        Binding(tenant="T1state", kind="", subject="run-1", version=3),
        Binding(tenant="T1", kind="staterun-1", subject="", version=3),
    ],
)
def test_a_blob_in_anothers_place_does_not_open(other: Binding) -> None:
    vault = Vault.from_text(NEW)

    with pytest.raises(BlobTampered, match="belongs elsewhere"):
        vault.open_blob(vault.seal_blob(b"x", PLACE), other)


def test_a_change_of_any_byte_is_noticed() -> None:
    vault = Vault.from_text(NEW)
    blob = vault.seal_blob(b"approve 250.00", PLACE)

    for position in range(len(blob)):
        changed = bytearray(blob)
        changed[position] ^= 1
        with pytest.raises((BlobTampered, BlobKeyMissing)):
            vault.open_blob(bytes(changed), PLACE)


@pytest.mark.parametrize("cut", [0, 1, 16, 17, 30])
def test_a_cut_blob_is_noticed(cut: int) -> None:
    vault = Vault.from_text(NEW)

    with pytest.raises(BlobTampered):
        vault.open_blob(vault.seal_blob(b"approve 250.00", PLACE)[:cut], PLACE)


def test_after_a_rotation_old_blobs_open_and_new_ones_use_the_new_key() -> None:
    old_blob = Vault.from_text(OLD).seal_blob(b"x", PLACE)
    both = Vault.from_text(f"{NEW},{OLD}")

    assert both.open_blob(old_blob, PLACE) == b"x"
    assert Vault.from_text(NEW).open_blob(both.seal_blob(b"y", PLACE), PLACE) == b"y"


def test_a_retired_key_is_named_by_its_id_and_the_variable() -> None:
    blob = Vault.from_text(OLD).seal_blob(b"x", PLACE)

    with pytest.raises(BlobKeyMissing, match="VOBO_STATE_KEYS does not hold") as caught:
        Vault.from_text(NEW).open_blob(blob, PLACE)
    assert blob[1:5].hex() in str(caught.value)


def test_the_nonce_comes_from_the_injected_source_and_its_place_is_fixed() -> None:
    asked: list[int] = []

    def counter(size: int) -> bytes:
        asked.append(size)
        return len(asked).to_bytes(size, "big")

    vault = Vault.from_text(NEW, nonce=counter)
    first, second = vault.seal_blob(b"x", PLACE), vault.seal_blob(b"x", PLACE)

    assert asked == [12, 12]
    assert first[5:17] == (1).to_bytes(12, "big")
    assert first[17:] != second[17:]


def test_two_blobs_of_the_same_text_differ() -> None:
    vault = Vault.from_text(NEW)

    assert vault.seal_blob(b"x", PLACE) != vault.seal_blob(b"x", PLACE)


def test_what_could_never_be_read_back_is_not_sealed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vault_module, "MAX_PLAIN_BYTES", 1000)
    vault = Vault.from_text(NEW)

    assert vault.open_blob(vault.seal_blob(bytes(1000), PLACE), PLACE) == bytes(1000)
    with pytest.raises(BlobTooLarge, match="at most 1000"):
        vault.seal_blob(bytes(1001), PLACE)


def by_somebody_with_the_key(body: bytes, magic: bytes = b"\x02") -> bytes:
    """A blob that authenticates but was not made by `seal_blob`."""
    vault = Vault.from_text(NEW)
    header = magic + vault.seal_blob(b"", PLACE)[1:5]
    cipher: AESGCM = vault._ciphers[header[1:]]
    nonce = os.urandom(12)
    return header + nonce + cipher.encrypt(nonce, body, header + PLACE.encode())


def test_a_blob_of_the_first_layout_still_opens() -> None:
    old = by_somebody_with_the_key(zlib.compress(b"paused by an earlier version", level=1), b"\x01")

    assert Vault.from_text(NEW).open_blob(old, PLACE) == b"paused by an earlier version"


@pytest.mark.parametrize(("made", "claimed"), [(b"\x01", b"\x02"), (b"\x02", b"\x01")])
def test_one_layout_cannot_pass_for_the_other(made: bytes, claimed: bytes) -> None:
    body = packed(b"x") if made == b"\x02" else zlib.compress(b"x")
    blob = by_somebody_with_the_key(body, made)

    with pytest.raises(BlobTampered, match="belongs elsewhere"):
        Vault.from_text(NEW).open_blob(claimed + blob[1:], PLACE)


def test_a_layout_of_the_future_is_refused() -> None:
    with pytest.raises(BlobTampered, match="not a sealed blob"):
        Vault.from_text(NEW).open_blob(by_somebody_with_the_key(packed(b"x"), b"\x03"), PLACE)


TOO_MUCH = bytes(vault_module.MAX_PLAIN_BYTES + 1)
BODIES = {
    "layout 1, a bomb": (b"\x01", zlib.compress(TOO_MUCH)),
    "layout 1, something appended": (b"\x01", zlib.compress(b"x") + b"more"),
    "layout 1, cut": (b"\x01", zlib.compress(b"xyz")[:-1]),
    "layout 1, not compressed": (b"\x01", b"?"),
    "a bomb": (b"\x02", packed(TOO_MUCH)),
    "something appended": (b"\x02", packed(b"x") + b"more"),
    "cut": (b"\x02", packed(b"xyz")[:-1]),
    "not compressed": (b"\x02", b"d?"),
    "long, something appended": (b"\x02", packed(bytes(100_000)) + b"more"),
    "long, cut": (b"\x02", packed(bytes(100_000))[:-1]),
    "long, not compressed": (b"\x02", b"x?"),
    "an unknown method": (b"\x02", b"z" + packed(b"x")[1:]),
    "nothing": (b"\x02", b""),
}


@pytest.mark.parametrize(("magic", "body"), BODIES.values(), ids=BODIES.keys())
def test_a_body_that_does_not_inflate_exactly_is_refused(magic: bytes, body: bytes) -> None:
    with pytest.raises(BlobTampered, match=r"cut or larger|does not decompress|does not know"):
        Vault.from_text(NEW).open_blob(by_somebody_with_the_key(body, magic), PLACE)


def test_a_binding_is_encoded_without_ambiguity() -> None:
    assert Binding("a", "b", "c", 1, "r").encode() == b"".join(
        struct.pack(">I", 1) + part for part in (b"a", b"b", b"c", b"1", b"r")
    )


@given(*(st.tuples(st.text(max_size=3), st.text(max_size=3), st.text(max_size=3), st.integers(0, 20)),) * 2)
def test_different_bindings_have_different_bytes(
    one: tuple[str, str, str, int], other: tuple[str, str, str, int]
) -> None:
    assert (Binding(*one).encode() == Binding(*other).encode()) == (one == other)


def test_every_purpose_and_every_key_gives_another_secret() -> None:
    vault = Vault.from_text(f"{NEW},{OLD}")

    assert vault.derive("rq-jobs") == vault.derive_all("rq-jobs")[0]
    assert vault.derive_all("rq-jobs")[1] == Vault.from_text(OLD).derive("rq-jobs")
    assert len({*vault.derive_all("rq-jobs"), *vault.derive_all("buttons"), base64.b64decode(NEW)}) == 5
    assert len(vault.derive("rq-jobs")) == 32


def test_the_configured_key_itself_encrypts_nothing() -> None:
    blob = Vault.from_text(NEW).seal_blob(b"x", PLACE)

    with pytest.raises(InvalidTag):
        AESGCM(base64.b64decode(NEW)).decrypt(blob[5:17], blob[17:], blob[:5] + PLACE.encode())


def test_spaces_and_a_trailing_comma_are_forgiven() -> None:
    assert len(Vault.from_text(f" {NEW} , {OLD} ,\n").derive_all("x")) == 2


def key_of(size: int) -> Callable[[], str]:
    return lambda: base64.b64encode(bytes(size)).decode()


@pytest.mark.parametrize(
    ("keys", "sentence"),
    [
        (lambda: "", "holds no key"),
        (lambda: " , ", "holds no key"),
        (lambda: "not base64!", "Key 1 of VOBO_STATE_KEYS is not base64"),
        (key_of(31), "has 31 bytes instead of 32"),
        (key_of(33), "has 33 bytes instead of 32"),
        (lambda: f"{NEW},{NEW}", "lists the same key twice"),
        (lambda: f"{NEW},short", "Key 2 of VOBO_STATE_KEYS"),
    ],
)
def test_unusable_keys_are_refused_with_the_remedy_and_never_quoted(keys: Callable[[], str], sentence: str) -> None:
    text = keys()
    with pytest.raises(StateKeysError, match=sentence) as caught:
        Vault.from_text(text)

    said = str(caught.value)
    assert "VOBO_STATE_KEYS" in said
    assert "vobo keys new" in said or "remove one" in said
    assert not any(part in said for part in text.split(",") if len(part) > 4 and part.strip())


def test_a_vault_in_a_log_shows_no_key() -> None:
    assert NEW not in repr(Vault.from_text(NEW))
    assert repr(Vault.from_text(NEW)) == "<Vault of 1 keys>"


def test_new_keys_are_accepted_and_differ() -> None:
    assert new_key() != new_key()
    assert new_key(bytes) == base64.b64encode(bytes(32)).decode()
