"""Signed heads of the ledger's chain, posted where nobody can take them back: what proves that no row was cut off.

Whoever can write to the database can rewrite the whole chain, and nothing in it would tell. They cannot sign.
"""

import base64
import binascii
from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple, Self

import rfc8785
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from approvals.errors import ApprovalsError
from approvals.vault import KEY_BYTES, Vault

SCHEMA = "vobo.anchor/1"
PURPOSE = "ledger-anchor"


class AnchorKeyRefused(ApprovalsError):
    """`VOBO_ANCHOR_KEY` cannot be used. Never quotes it."""


class AnchorRefused(ApprovalsError):
    """A text is no anchor. Copy it from the ops channel as it stands there, from the number to the signature."""


class Anchor(NamedTuple):
    """The newest row at an instant (ms), signed. `number` counts anchors from 1; `key` is the public key in hex."""

    number: int
    seq: int
    hash: str
    at: int
    key: str
    signature: str

    @property
    def text(self) -> str:
        """The anchor as it is posted and as `vobo ledger verify --anchor` takes it; nothing in it is markup."""
        return "-".join(map(str, self))

    @classmethod
    def read(cls, text: str) -> Self:
        """The anchor in a posted text.

        Raises:
            AnchorRefused: it is none.
        """
        try:
            number, seq, digest, at, key, signature = text.strip().strip("`").split("-")
            return cls(int(number), int(seq), digest, int(at), key, signature)
        except ValueError:
            raise AnchorRefused(
                "This is no anchor: it has six parts with hyphens between. Copy all of it from the ops channel."
            ) from None

    def signed_bytes(self, tenant: str) -> bytes:
        """What the signature covers."""
        return rfc8785.dumps([SCHEMA, tenant, str(self.number), str(self.seq), self.hash, str(self.at)])

    def holds(self, tenant: str) -> bool:
        """Whether whoever has the private half of `key` signed this."""
        try:
            signature = bytes.fromhex(self.signature)
            Ed25519PublicKey.from_public_bytes(bytes.fromhex(self.key)).verify(signature, self.signed_bytes(tenant))
        except (InvalidSignature, ValueError):
            return False
        return True


class Signer:
    """Signs with the newest key. `trusted` are the public keys of all configured ones, newest first."""

    def __init__(self, seeds: Sequence[bytes]) -> None:
        self._keys = [Ed25519PrivateKey.from_private_bytes(seed) for seed in seeds]
        self.trusted = tuple(key.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw).hex() for key in self._keys)

    @classmethod
    def of(cls, vault: Vault, anchor_key: str | None = None) -> Self:
        """From `VOBO_ANCHOR_KEY` when it is set, else derived from the keys of the state.

        Raises:
            AnchorKeyRefused: the key is not 32 bytes of base64.
        """
        derived = vault.derive_all(PURPOSE)  # old anchors stay verifiable after a key of its own was introduced
        if not anchor_key:
            return cls(derived)
        try:
            seed = base64.b64decode(anchor_key, validate=True)
        except (binascii.Error, ValueError):
            seed = b""
        if len(seed) != KEY_BYTES:
            raise AnchorKeyRefused(
                "VOBO_ANCHOR_KEY is not a key: it must be 32 bytes in base64, as `vobo keys new` prints."
            )
        return cls([seed, *derived])

    def sign(self, tenant: str, number: int, seq: int, digest: str, at: int) -> Anchor:
        """The head of the chain, signed."""
        anchor = Anchor(number, seq, digest, at, self.trusted[0], "")
        return anchor._replace(signature=self._keys[0].sign(anchor.signed_bytes(tenant)).hex())


def anchor_problems(
    tenant: str, hashes: Mapping[int, str], anchors: Sequence[Anchor], *, trusted: Collection[str], told: int = 0
) -> list[str]:
    """One sentence for each anchor that is gone or does not fit. `told` is how many were ever made, as Redis knows."""
    numbers = {anchor.number for anchor in anchors}
    made = max([told, *numbers])
    problems = [f"Anchor {number} is gone." for number in range(1, made + 1) if number not in numbers]
    return [*problems, *misfits(tenant, hashes, anchors, trusted)]


def misfits(tenant: str, hashes: Mapping[int, str], anchors: Sequence[Anchor], trusted: Collection[str]) -> list[str]:
    """One sentence for each anchor that does not fit the chain (its hashes by row number)."""
    found = (_problem(tenant, hashes, anchor, trusted) for anchor in anchors)
    return [problem for problem in found if problem]


def _problem(tenant: str, hashes: Mapping[int, str], anchor: Anchor, trusted: Collection[str]) -> str | None:
    name = f"Anchor {anchor.number}"
    if not anchor.holds(tenant):
        return f"{name} was forged or changed: its signature does not hold."
    if anchor.key not in trusted:
        return (
            f"{name} is signed with key {anchor.key}, which is not configured. If you noted it once from `vobo ledger"
            " key`, repeat this with --key; otherwise it is a forgery."
        )
    if anchor.seq not in hashes:
        return f"{name} vouches for row {anchor.seq}, which is gone."
    if hashes[anchor.seq] != anchor.hash:
        return f"{name} vouches for another row {anchor.seq}: the chain was written anew."
    return None
