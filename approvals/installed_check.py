"""What `vobo doctor` says of a workspace that has removed the app."""

from collections.abc import Iterator

from approvals.findings import Finding, warning
from approvals.store import Store


def app_installed(store: Store) -> Iterator[Finding]:
    """A workspace without the app needs no worker and no clock, once what waited there has expired."""
    if not store.switches.removed():
        return
    waiting = sum(store.tallies.read().states.values())
    yield warning(
        "slack",
        f"The workspace {store.tenant} does not have the app; {waiting} calls there are not final.",
        "Leave its clock until they are (a day), then stop its worker and clock; or install the app again at"
        " /slack/install.",
    )
