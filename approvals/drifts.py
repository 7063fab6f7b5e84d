"""What has changed in the data of a call while it waited for people."""

from policies.values import Frozen


class Drift(Frozen):
    """What is not as it was sealed: `rows` of `of` rows, and one line for each row, fact or problem that differs.

    `more` lines are left out. `refused`: on the data as it is now it would not run at all.
    """

    rows: int = 0
    of: int = 0
    lines: tuple[str, ...] = ()
    more: int = 0
    refused: bool = False


def counted(drift: Drift | None) -> str:
    """For the ledger, which keeps no rows: how much differs."""
    if drift is None:
        return "Everything is as it was sealed."
    if drift.refused:
        return "On the data as it is now it would not run."
    return f"{drift.rows} of {drift.of} rows differ." if drift.rows else "What is known about it differs."
