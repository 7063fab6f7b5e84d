"""Whose language is spoken: one reader's as Slack last told it, else the workspace's."""

from collections.abc import Iterator
from contextlib import contextmanager

from approvals.store import Store
from bot.language import speaking


@contextmanager
def speaking_to(store: Store, user: str, workspace: str) -> Iterator[None]:
    """Everything said inside is for this person alone.

    Only the snapshot in the store is asked, however old: a language changes seldom, and an answer must wait neither
    for Slack nor for a store that is away. Whoever has none yet is spoken to in the workspace's language.
    """
    try:
        person = store.people.get(user)
    except Exception:  # noqa: BLE001 - the boundary of a job: what a store that is away means is told by the job itself
        person = None
    with speaking(person.locale, person.tz) if person else speaking(workspace):
        yield
