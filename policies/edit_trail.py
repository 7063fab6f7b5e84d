"""What reviewers changed of a call, by the resources it touches: a later call on the same resource follows it."""

from collections.abc import Iterable

from policies.arguments import Arguments
from policies.difference import changes


def changed_resources(proposed: Arguments, edited: Arguments, resources: Iterable[str]) -> dict[str, str]:
    """Resource -> what a reviewer changed about it, such as `pay_0009: 480.00 EUR -> 250.00 EUR` or `pay_0012 dropped`.

    A change that belongs to no line (another subject of a mail) is a change about each of `resources`.
    """
    found: dict[str, list[str]] = {}
    for change in changes(proposed, edited):
        for resource in (change.line,) if change.line is not None else resources:
            found.setdefault(resource, []).append(change.sentence)
    return {resource: "; ".join(told) for resource, told in found.items()}
