import hashlib
import random
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from approvals.packing import NEAR_BYTES, NotPacked, packed, preset, unpacked
from builders import a_content

MOST = 1_000_000


def noise(size: int) -> bytes:
    return random.Random(size).randbytes(size)  # noqa: S311 - the same bytes every time


@given(st.binary(max_size=5000))
def test_any_bytes_come_back(plain: bytes) -> None:
    assert unpacked(packed(plain), MOST) == plain


@pytest.mark.parametrize("size", [0, 1, NEAR_BYTES - 1, NEAR_BYTES, NEAR_BYTES + 1, 500_000])
@pytest.mark.parametrize("make", [bytes, noise], ids=["alike", "unlike"])
def test_bytes_of_any_length_come_back(size: int, make: type[bytes]) -> None:
    plain = make(size)

    assert unpacked(packed(plain), size) == plain


def test_the_preset_text_is_the_one_that_stored_bodies_need() -> None:
    # A change would make every blob in every Redis and backup unreadable. A better text is a new method.
    assert hashlib.sha256(preset()).hexdigest() == "959b2cee6fed7336a48ed343cfec2448928b60b9a7e6bbba749feb080e8c6214"


def test_bodies_written_today_open_for_ever() -> None:
    near = bytes.fromhex("64435d95505d8bb62e0128500b00")
    far = bytes.fromhex(
        "78e15f8f00555d0033184abd83587f43c008e4aec6a5aadd626e5e6806506bc2c57c4581ac300a7199f786216c5e00efb86f5f8c6af53756312a57d554d9a074aa473decfd4ba9637d55705c7dcd59ef7b3e27b27aa1dda7e1177b430000"
    )

    assert unpacked(near, MOST) == b'{"requested":"{}","arguments":"{}"}'
    assert unpacked(far, MOST) == b"far" * 30_000


def test_the_preset_text_spares_what_every_call_repeats() -> None:
    text = a_content().model_dump_json().encode()

    assert len(packed(text)) < 0.75 * len(zlib.compress(text, 9))


def test_what_repeats_far_away_is_stored_once() -> None:
    text = noise(NEAR_BYTES)

    assert len(packed(text * 2)) < 1.01 * len(text)


@pytest.mark.parametrize("size", [10, NEAR_BYTES + 10])
def test_nothing_inflates_beyond_what_it_may(size: int) -> None:
    body = packed(bytes(size))

    assert unpacked(body, size) == bytes(size)
    with pytest.raises(NotPacked, match=f"larger than {size - 1} bytes"):
        unpacked(body, size - 1)
