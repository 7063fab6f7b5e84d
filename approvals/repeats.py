"""A call that begins a second time: no verb does that, only somebody who writes to Redis himself."""

from collections import Counter
from collections.abc import Sequence

from approvals.ledger import Ledger

#: What says that an effect is about to happen. A call has one in all its life: after it there is no way back.
BEGUN = "intended"


def begun_again(ledger: Ledger, tenant: str, begun: Sequence[str]) -> list[str]:
    """Those of these calls that have begun more than once, as the ledger has them.

    Raises:
        LedgerUnreachable: the database does not answer.
    """
    if not begun:
        return []
    times = Counter(row.body.get("call", "") for row in ledger.rows(tenant, calls=set(begun), types=(BEGUN,)))
    return [call for call, number in times.items() if number > 1]
