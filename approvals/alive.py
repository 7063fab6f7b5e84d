"""Which processes are seen to be at work, for whoever hands them something to do."""

from collections.abc import Iterator

from rq import Queue, Worker

from approvals.queue import queue_name
from approvals.store import Store


def asleep(store: Store) -> Iterator[str]:
    """One sentence for each process that a new run needs and that nobody runs now, with how it is started."""
    client, team = store.runs.client, store.tenant
    until = client.hget(store.keys.lead, "until")
    if until is None or int(until) <= store.now():
        yield f"No bot is running for {team}, so nothing is told in Slack. Start one: python -m bot."
    if not Worker.all(queue=Queue(queue_name(team), connection=client)):
        yield f"No worker is running for {team}, so the run waits. Start one: python -m worker."
