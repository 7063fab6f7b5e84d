"""How blobs are made small before they are encrypted: what most of them have in common need not be stored again.

A packed body begins with one byte that names the method. Methods and their preset text are for ever: bodies in Redis
and in backups need them. A better one gets a new letter.
"""

import functools
import lzma
import zlib
from collections.abc import Callable
from importlib import resources
from typing import Any

#: Raw deflate after the preset text: names and punctuation that the Agents SDK and vobo write around every value.
DEFLATED = b"d"
#: LZMA, for what is longer than deflate can look back: a run's state repeats every argument about ten times.
FAR = b"x"
#: Twice deflate's window: what is shorter gains nothing from the second method, which costs milliseconds.
NEAR_BYTES = 64 * 1024
LEVEL = 9
#: `dict_size` is how far the second method looks back, and so the memory that opening takes.
_FILTERS: list[dict[str, Any]] = [
    {"id": lzma.FILTER_LZMA2, "preset": 1, "dict_size": 256 * 1024, "mf": lzma.MF_HC4, "nice_len": 273, "depth": 24}
]


class NotPacked(Exception):
    """A body is not what `packed` made, or unpacks to more than it may. The text says which."""


def packed(plain: bytes) -> bytes:
    """`plain` by the method that suits its length."""
    if len(plain) <= NEAR_BYTES:
        return DEFLATED + _deflated(plain)
    return FAR + lzma.compress(plain, format=lzma.FORMAT_RAW, filters=_FILTERS)


def unpacked(body: bytes, most: int) -> bytes:
    """What `packed` was given; never inflates beyond `most` bytes, whatever the body claims.

    Raises:
        NotPacked: an unknown method, cut, damaged, followed by something else, or larger than `most`.
    """
    method = _METHODS.get(body[:1])
    if method is None:
        raise NotPacked("is packed in a way that this version does not know")
    return whole(method(), body[1:], most)


def whole(inflater: Any, body: bytes, most: int) -> bytes:
    """Everything in `body`, at most `most` bytes, by a decompressor of zlib or lzma.

    Raises:
        NotPacked: as for `unpacked`.
    """
    try:
        plain: bytes = inflater.decompress(body, most + 1)
    except (zlib.error, lzma.LZMAError):
        raise NotPacked("does not decompress") from None
    if not inflater.eof or inflater.unused_data or len(plain) > most:
        raise NotPacked(f"is cut or larger than {most} bytes")
    return plain


def _deflated(plain: bytes) -> bytes:
    deflater = zlib.compressobj(LEVEL, zlib.DEFLATED, -zlib.MAX_WBITS, 9, zlib.Z_DEFAULT_STRATEGY, preset())
    return deflater.compress(plain) + deflater.flush()


@functools.cache
def preset() -> bytes:
    """The text every deflated body may refer to. `bench/preset.py` says how it was made."""
    return (resources.files("approvals") / "blob_preset.txt").read_bytes()


_METHODS: dict[bytes, Callable[[], Any]] = {
    DEFLATED: lambda: zlib.decompressobj(-zlib.MAX_WBITS, zdict=preset()),
    FAR: lambda: lzma.LZMADecompressor(format=lzma.FORMAT_RAW, filters=_FILTERS),
}
