"""What the ledger keeps of a call, as lines a person reads; personal values masked unless asked for."""

from collections.abc import Iterator
from typing import Any

from pydantic import ValidationError

from approvals.kept import MARK
from approvals.masks import MASKED
from policies.money import Money


def masked(value: Any, *, reveal: bool = False) -> Any:
    """The document with its personal values masked, or plain when they are to be read."""
    if isinstance(value, dict):
        if set(value) == {MARK}:
            return value[MARK] if reveal else MASKED
        return {name: masked(element, reveal=reveal) for name, element in value.items()}
    if isinstance(value, list):
        return [masked(element, reveal=reveal) for element in value]
    return value


def words(value: Any) -> list[str]:
    """One line for each name and value; amounts of money as people write them."""
    return list(_lines(value, ""))


def _lines(value: Any, at: str) -> Iterator[str]:
    if isinstance(value, dict) and (amount := _money(value)):
        yield f"{at}: {amount}"
    elif isinstance(value, dict) and value:
        for name, inner in value.items():
            yield from _lines(inner, f"{at} {name}".strip())
    elif isinstance(value, list) and value:
        for number, inner in enumerate(value, start=1):
            yield from _lines(inner, f"{at} {number}".strip())
    elif at and value is not None:
        yield f"{at}: {value if value not in ({}, []) else 'none'}"


def _money(value: dict[str, Any]) -> Money | None:
    try:
        return Money.model_validate(value)
    except ValidationError:
        return None
