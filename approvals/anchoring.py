"""When the chain's head is signed, and how the anchor reaches the ops channel."""

from dataclasses import dataclass, field

from sqlalchemy import func, insert, select, update

from approvals.anchors import Anchor, Signer, anchor_problems, misfits
from approvals.ledger import Ledger
from approvals.ledger_append import locked_head
from approvals.ledger_errors import reaching
from approvals.ledger_head import LedgerDiffers
from approvals.ledger_tables import ANCHORS, EVENTS
from approvals.store import Store

DAY_MS = 24 * 3600 * 1000
#: An anchor at least this often while rows are added: once a day, or after as many rows.
EVERY_ROWS = 10_000
LOOK_EVERY_MS = 60_000
SUBJECT = "anchor"


@dataclass(slots=True)
class Anchoring:
    """One process's part in it; any number may do the same. Looks once a minute."""

    store: Store
    ledger: Ledger
    signer: Signer
    every_ms: int = DAY_MS
    _looked: int = field(default=-LOOK_EVERY_MS, init=False)

    def __call__(self) -> int:
        """Sign the head when it is time, and owe ops what it was not told yet. Returns how many were owed.

        Raises:
            LedgerUnreachable: nothing is lost; the next look makes up for it.
            LedgerDiffers: it is not the ledger that events were handed over to; nothing was signed.
        """
        now = self.store.now()
        if now - self._looked < LOOK_EVERY_MS:
            return 0
        self.ledger.require(self.store.tenant, self.store.ledger.noted())
        with reaching("The ledger could not be anchored"):
            self._sign_when_due(now)
            told = self._tell()
        self._looked = now
        return told

    def _sign_when_due(self, now: int) -> None:
        tenant = self.store.tenant
        with self.ledger.engine.begin() as connection:
            seq, digest = locked_head(connection, tenant)
            query = select(ANCHORS).where(ANCHORS.c.tenant == tenant).order_by(ANCHORS.c.number.desc()).limit(1)
            last = connection.execute(query).one_or_none()
            first = select(func.min(EVENTS.c.at)).where(EVENTS.c.tenant == tenant)
            number, until = (last.number, last.seq) if last else (0, 0)
            at = last.at if last else connection.scalar(first) or now
            if seq == until or (now - at < self.every_ms and seq - until < EVERY_ROWS):
                return
            anchor = self.signer.sign(tenant, max(number, self.store.ledger.anchored()) + 1, seq, digest, now)
            connection.execute(insert(ANCHORS).values(tenant=tenant, **anchor._asdict(), told=0))

    def _tell(self) -> int:
        here = ANCHORS.c.tenant == self.store.tenant
        with self.ledger.engine.connect() as connection:
            untold = connection.execute(select(ANCHORS).where(here, ANCHORS.c.told == 0)).all()
        for row in untold:
            anchor = _anchor(row)
            self.store.ledger.anchor(anchor.number, f"{SUBJECT}:{anchor.text}")
            with self.ledger.engine.begin() as connection:
                connection.execute(update(ANCHORS).where(here, ANCHORS.c.number == anchor.number).values(told=1))
        return len(untold)


def anchors(ledger: Ledger, tenant: str) -> list[Anchor]:
    """All anchors, oldest first.

    Raises:
        LedgerUnreachable: the database does not answer.
    """
    query = select(ANCHORS).where(ANCHORS.c.tenant == tenant).order_by(ANCHORS.c.number)
    with reaching("The anchors could not be read"), ledger.engine.connect() as connection:
        return [_anchor(row) for row in connection.execute(query)]


def verify(
    store: Store, ledger: Ledger, signer: Signer, *, noted: tuple[Anchor, ...] = (), keys: tuple[str, ...] = ()
) -> list[str]:
    """Everything that is wrong: with the chain, its anchors, those noted from the ops channel, and what Redis knows.

    `keys` are public keys of earlier days that whoever asks vouches for.

    Raises:
        LedgerUnreachable: the database does not answer.
    """
    tenant = store.tenant
    problems = ledger.verify(tenant)
    made, trusted = anchors(ledger, tenant), {*signer.trusted, *keys}
    hashes = ledger.hashes(tenant, {anchor.seq for anchor in (*made, *noted)})
    problems += anchor_problems(tenant, hashes, made, trusted=trusted, told=store.ledger.anchored())
    problems += [f"As posted: {one}" for one in misfits(tenant, hashes, noted, trusted)]
    try:
        ledger.require(tenant, store.ledger.noted())
        head = ledger.head(tenant)
        if not store.ledger.reaches(head.event_id if head else None):
            problems.append("The newest rows are gone: Redis handed over events that are not here.")
    except LedgerDiffers as differs:
        problems.append(str(differs))
    return problems


def _anchor(row: object) -> Anchor:
    return Anchor(*(getattr(row, name) for name in Anchor._fields))
