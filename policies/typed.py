"""What a person typed or chose in an edit dialog, read strictly."""

import re

from policies.edit_fields import EditField
from policies.money import Money, MoneyRefused
from policies.plain_text import quoted

_WHOLE = re.compile(r"0|[1-9][0-9]{0,39}")


class TypedRefused(ValueError):
    """What was typed cannot be taken for this field; the text repeats it and says what can."""


def read_typed(field: EditField, typed: str | tuple[str, ...]) -> object:
    """What was typed as the JSON value of the field.

    Raises:
        TypedRefused: when it does not read as such a value, or lies outside the field's bounds.
    """
    if not isinstance(typed, str):
        raise TypedRefused(f"{field.label} takes one value, not several.")
    if field.kind == "money":
        return _money(field, typed)
    if field.kind == "integer":
        return _integer(field, typed)
    if field.kind == "choice":
        return _choice(field, typed)
    return _text(field, typed)


def read_kept(field: EditField, typed: str | tuple[str, ...]) -> frozenset[str]:
    """The keys of a subset that stay.

    Raises:
        TypedRefused: when a key was never proposed, or nothing is kept.
    """
    kept = (typed,) if isinstance(typed, str) else typed
    for key in kept:
        if key not in field.current:
            raise TypedRefused(f"{quoted(key)} was not proposed, so it cannot be kept.")
    if not kept:
        raise TypedRefused("Nothing is left. To drop everything, reject the call.")
    return frozenset(kept)


def _money(field: EditField, typed: str) -> object:
    assert field.currency is not None
    assert field.most is not None
    try:
        amount = Money.typed(typed, field.currency)
    except MoneyRefused as error:
        raise TypedRefused(str(error)) from None
    most = Money(minor=field.most, currency=field.currency)
    if amount > most:
        raise TypedRefused(f"{quoted(typed)} is more than the {most} proposed.")
    return amount.model_dump()


def _integer(field: EditField, typed: str) -> int:
    stripped = typed.strip()
    if not _WHOLE.fullmatch(stripped):
        raise TypedRefused(f"{quoted(typed)} is not a whole number. Type digits only, for example {field.current}.")
    number = int(stripped)
    if field.least is not None and number < field.least:
        raise TypedRefused(f"{quoted(typed)} is less than {field.least}.")
    if field.most is not None and number > field.most:
        raise TypedRefused(f"{quoted(typed)} is more than the {field.most} proposed.")
    return number


def _choice(field: EditField, typed: str) -> str:
    values = [value for value, _ in field.options]
    if typed not in values:
        raise TypedRefused(f"{quoted(typed)} is not one of {', '.join(values)}.")
    return typed


def _text(field: EditField, typed: str) -> str:
    assert field.max_length is not None
    if not typed.strip():
        raise TypedRefused(f"{quoted(typed)} is blank. Type a text, or leave it as it was proposed.")
    if len(typed) > field.max_length:
        raise TypedRefused(f"This text has {len(typed):,} characters; at most {field.max_length:,} are allowed.")
    return typed
