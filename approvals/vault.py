"""What is encrypted before it is stored, and the keys that follow from `VOBO_STATE_KEYS`."""

import base64
import binascii
import os
import struct
import zlib
from collections.abc import Callable
from typing import NamedTuple, Self

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from approvals.errors import ApprovalsError
from approvals.packing import NotPacked, packed, unpacked, whole

KEY_BYTES = 32
NONCE_BYTES = 12
KEY_ID_BYTES = 4
MAX_PLAIN_BYTES = 64 * 1024 * 1024  # a run state is tens of kilobytes; more is an attack or an accident
#: A blob: magic, key id (4), nonce (12), ciphertext with its 16-byte tag. Layout 1 holds plain zlib and is only opened;
#: layout 2 holds what `approvals.packing` made. The magic is authenticated, so neither can pass for the other.
MAGIC_1, MAGIC = b"\x01", b"\x02"
HEADER_BYTES = len(MAGIC) + KEY_ID_BYTES + NONCE_BYTES

HOW_TO_MAKE_ONE = (
    "Make one with `vobo keys new`, or with "
    '`python -c "import base64, os; print(base64.b64encode(os.urandom(32)).decode())"`.'
)

NonceSource = Callable[[int], bytes]


class StateKeysError(ApprovalsError):
    """`VOBO_STATE_KEYS` cannot be used. Never quotes a key."""


class BlobTampered(ApprovalsError):
    """A stored blob is not what this project wrote for this place."""


class BlobKeyMissing(ApprovalsError):
    """A stored blob was sealed with a key that is no longer configured."""


class BlobTooLarge(ApprovalsError):
    """Something to store exceeds what may ever be read back."""


class Binding(NamedTuple):
    """Where a blob belongs. It opens only under the binding it was sealed with.

    `subject` is the id of what the blob describes (a run, a call key), `kind` says which part of it,
    `version` which generation; so no blob can be put in another's place, nor an older one in a newer's.
    """

    tenant: str
    kind: str
    subject: str
    version: int
    run: str = ""

    def encode(self) -> bytes:
        """Length-prefixed, so that no two bindings share their bytes."""
        parts = [self.tenant, self.kind, self.subject, str(self.version), self.run]
        return b"".join(struct.pack(">I", len(part)) + part for part in map(str.encode, parts))


AssociatedData = Binding


class Vault:
    """Seals with the newest key, opens with any configured one."""

    def __init__(self, keys: list[bytes], nonce: NonceSource = os.urandom) -> None:
        _check(keys)
        self._keys = keys
        self._nonce = nonce
        self._ciphers = {_key_id(key): AESGCM(_hkdf(key, "blob")) for key in keys}
        self._newest = _key_id(keys[0])
        self._derived: dict[str, list[bytes]] = {}

    @classmethod
    def from_text(cls, keys: str, *, nonce: NonceSource = os.urandom) -> Self:
        """A vault from the text of `VOBO_STATE_KEYS`: base64 keys, newest first, separated by commas.

        `nonce` gives that many unpredictable, never repeated bytes.

        Raises:
            StateKeysError: no key, a key that is not 32 bytes of base64, or one listed twice.
        """
        texts = [text.strip() for text in keys.split(",") if text.strip()]
        return cls([_decode(text, place) for place, text in enumerate(texts, start=1)], nonce)

    def __repr__(self) -> str:
        return f"<Vault of {len(self._keys)} keys>"  # a key in a log is a leaked key

    def seal_blob(self, plaintext: bytes, binding: Binding) -> bytes:
        """Compress, encrypt and bind `plaintext`.

        Raises:
            BlobTooLarge: the plaintext exceeds 64 MiB.
        """
        if len(plaintext) > MAX_PLAIN_BYTES:
            raise BlobTooLarge(
                f"The {binding.kind} of {binding.subject} has {len(plaintext)} bytes; at most {MAX_PLAIN_BYTES}"
                " can be kept. Let the tool return less, for example an id instead of the content."
            )
        header = MAGIC + self._newest
        nonce = self._nonce(NONCE_BYTES)
        body = packed(plaintext)
        return header + nonce + self._ciphers[self._newest].encrypt(nonce, body, header + binding.encode())

    def open_blob(self, blob: bytes, binding: Binding) -> bytes:
        """The plaintext of `blob`, if it was sealed under this very binding.

        Raises:
            BlobKeyMissing: sealed with a key that is not configured (any more).
            BlobTampered: changed, cut, moved from elsewhere, or not ours.
        """
        place = f"The stored {binding.kind} of {binding.subject}"
        if len(blob) < HEADER_BYTES or not blob.startswith((MAGIC_1, MAGIC)):
            raise BlobTampered(f"{place} is not a sealed blob. Restore it from a backup; do not resume it.")
        header, nonce = blob[: len(MAGIC) + KEY_ID_BYTES], blob[len(MAGIC) + KEY_ID_BYTES : HEADER_BYTES]
        cipher = self._ciphers.get(header[len(MAGIC) :])
        if cipher is None:
            raise BlobKeyMissing(
                f"{place} was sealed with key {header[len(MAGIC) :].hex()}, which VOBO_STATE_KEYS does not hold."
                " Add the old key after the newest one and start again."
            )
        try:
            body = cipher.decrypt(nonce, blob[HEADER_BYTES:], header + binding.encode())
        except InvalidTag:
            raise BlobTampered(
                f"{place} was changed or belongs elsewhere. Find out who can write to Redis; do not resume it."
            ) from None
        return _opened(header[: len(MAGIC)], body, place)

    @property
    def key_ids(self) -> tuple[str, ...]:
        """The public ids of the configured keys in hex, newest first; they say nothing about the keys."""
        return tuple(_key_id(key).hex() for key in self._keys)

    def renewed(self, blob: bytes, binding: Binding) -> bytes:
        """What `blob` holds, sealed anew with the newest key.

        Raises:
            BlobKeyMissing, BlobTampered: as `open_blob`.
        """
        return self.seal_blob(self.open_blob(blob, binding), binding)

    def derive(self, purpose: str) -> bytes:
        """32 bytes for one purpose, from the newest key (HKDF-SHA256): what new signatures are made with."""
        return self.derive_all(purpose)[0]

    def derive_all(self, purpose: str) -> list[bytes]:
        """The same for every key, newest first: what signatures are verified with during a rotation."""
        if purpose not in self._derived:  # every decision that is read asks for it
            self._derived[purpose] = [_hkdf(key, f"purpose/{purpose}") for key in self._keys]
        return self._derived[purpose]


def key_id_of(blob: bytes) -> str:
    """The public id of the key a blob was sealed with, in hex; empty when it is no blob. Its beginning is enough."""
    name = blob[len(MAGIC) : len(MAGIC) + KEY_ID_BYTES]
    return name.hex() if len(name) == KEY_ID_BYTES and blob.startswith((MAGIC_1, MAGIC)) else ""


def new_key(entropy: NonceSource = os.urandom) -> str:
    """A fresh key as `VOBO_STATE_KEYS` expects it."""
    return base64.b64encode(entropy(KEY_BYTES)).decode()


def _check(keys: list[bytes]) -> None:
    if not keys:
        raise StateKeysError(f"VOBO_STATE_KEYS holds no key, so nothing can be stored safely. {HOW_TO_MAKE_ONE}")
    if any(len(key) != KEY_BYTES for key in keys):
        raise StateKeysError(f"VOBO_STATE_KEYS holds a key that is not {KEY_BYTES} bytes long. {HOW_TO_MAKE_ONE}")
    if len({_key_id(key) for key in keys}) != len(keys):
        raise StateKeysError("VOBO_STATE_KEYS lists the same key twice; remove one of them.")


def _decode(text: str, place: int) -> bytes:
    try:
        key = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        raise StateKeysError(f"Key {place} of VOBO_STATE_KEYS is not base64. {HOW_TO_MAKE_ONE}") from None
    if len(key) != KEY_BYTES:
        raise StateKeysError(
            f"Key {place} of VOBO_STATE_KEYS has {len(key)} bytes instead of {KEY_BYTES}. {HOW_TO_MAKE_ONE}"
        )
    return key


def _hkdf(key: bytes, info: str) -> bytes:
    # The configured key itself never encrypts or signs, so no purpose can weaken another.
    return HKDF(algorithm=SHA256(), length=KEY_BYTES, salt=None, info=f"vobo/1/{info}".encode()).derive(key)


def _key_id(key: bytes) -> bytes:
    return _hkdf(key, "key-id")[:KEY_ID_BYTES]


def _opened(magic: bytes, body: bytes, place: str) -> bytes:
    try:
        if magic == MAGIC_1:
            return whole(zlib.decompressobj(), body, MAX_PLAIN_BYTES)
        return unpacked(body, MAX_PLAIN_BYTES)
    except NotPacked as refused:
        raise BlobTampered(f"{place} {refused}. Restore it from a backup; do not resume it.") from None
