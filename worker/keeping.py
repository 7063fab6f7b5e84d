"""Whether what a team's code gave can be stored, sealed and read back: found out where only its own call suffers."""

from approvals.errors import ApprovalsError
from approvals.preview import Preview
from approvals.seal import canonical
from policies.arguments import ArgumentsRefused, canonical_text, read_arguments
from policies.rule import Facts


class NotKept(ValueError):
    """It cannot be kept. The text says why without quoting it, and follows a colon."""


def keepable_facts(found: object, model: type[Facts]) -> Facts:
    """The facts, which the gate will read back as `model`, the facts of the rule.

    Raises:
        NotKept: they are of another kind, or hold half a character, an endless number or what is no JSON.
        Exception: whatever a serializer of the team's raises.
    """
    if not isinstance(found, Facts):
        raise NotKept(f"they are a {type(found).__name__}, not the {model.__name__} of its rule")
    try:
        read_arguments(model, canonical_text(found))
    except ArgumentsRefused as refused:
        field = refused.field.split("/")[1] if refused.field else "text"
        raise NotKept(f"their {field} could not be read back as {model.__name__}") from refused
    return found


def keepable_preview(made: object) -> Preview:
    """The preview, its precondition included, which everybody will see as it was made.

    Raises:
        NotKept: it is none, or holds half a character, an endless number or what is no JSON.
        Exception: whatever pydantic raises about a preview that was made without validation.
    """
    if not isinstance(made, Preview):
        raise NotKept(f"it is a {type(made).__name__}, not a Preview")
    try:
        canonical(made.model_dump())
    except ApprovalsError as refused:
        raise NotKept(str(refused).removesuffix(".")) from refused
    return Preview.model_validate_json(made.model_dump_json())
