"""What reviewers changed of a call, by the resources it touches: a later call on the same resource follows it."""

from collections.abc import Iterable

from policies.arguments import Arguments
from policies.difference import difference
from policies.edit_fields import edit_fields


def changed_resources(proposed: Arguments, edited: Arguments, resources: Iterable[str]) -> dict[str, str]:
    """Resource -> what a reviewer changed about it, such as `pay_0009: 480.00 EUR -> 250.00 EUR` or `pay_0012 dropped`.

    A change that belongs to no line (another subject of a mail) is a change about each of `resources`.
    """
    fields = edit_fields(proposed)
    lines = {key: None for field in fields if field.kind == "subset" for key in field.current}
    lines |= {field.key: None for field in fields if field.key is not None}
    found: dict[str, list[str]] = {}
    for change in difference(proposed, edited):
        line = next((key for key in lines if change.startswith((f"{key}:", f"{key} "))), None)
        for resource in (line,) if line is not None else resources:
            found.setdefault(resource, []).append(change)
    return {resource: "; ".join(changes) for resource, changes in found.items()}
