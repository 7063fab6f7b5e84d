"""What a call needs that no rule could judge: the strictest tier, and whatever its arguments tell all the same."""

from collections.abc import Iterator, Mapping
from typing import Any

from pydantic import BaseModel

from policies.arguments import Arguments
from policies.money import MONEY_ENDS, Money
from policies.requirement import STRICTEST_TIER, Requirement
from policies.risk import Mode
from policies.strict_json import ArgumentsRefused, read_json, write_json

#: How the sentence of a judge ends that asks a person; where nobody may decide, it says less.
DECIDES = ", so the strictest tier decides."


def unjudged(tool: str, why: str, args: Arguments | None, *, because: str = "no rule") -> Requirement:
    """One person of the strictest tier, told why, whose personal limit covers the money in the arguments.

    Nobody may decide where no limit can be compared: with amounts of several currencies, or a sum beyond any amount.
    """
    need = Requirement(radius=f"{tool}: {because}", tier=STRICTEST_TIER, confirm=True, reasons=(why,))
    amounts = list(money_in(args))
    if not amounts:
        return need
    currencies = sorted({amount.currency for amount in amounts})
    whole = sum(amount.minor for amount in amounts)
    if len(currencies) > 1:
        return _nobodys(
            need, f"Its amounts are in {' and '.join(currencies)}, which no personal limit can be compared with"
        )
    if whole >= MONEY_ENDS:
        return _nobodys(need, "Its amounts come to more than any amount here")
    return need.worth(Money(minor=whole, currency=currencies[0]))


def _nobodys(need: Requirement, why: str) -> Requirement:
    told = tuple(f"{said.removesuffix(DECIDES)}." if said.endswith(DECIDES) else said for said in need.reasons)
    return need.model_copy(update={"reasons": told}).forbid_when(True, f"{why}, so nobody may approve it.")


def still_forbidden(tool: str, returned: Requirement, wrong: str) -> Requirement | None:
    """A refusal that a rule returned with something `wrong` about it, as far as it can be told; None: it is none."""
    if returned.mode != Mode.FORBIDDEN:
        return None
    said = returned.reasons if isinstance(returned.reasons, tuple | list) else (returned.reasons,)
    reasons = (*filter(_is_text, said), f"Its rule returned nonsense besides ({wrong}).")
    return Requirement(radius=f"{tool}: forbidden", mode=Mode.FORBIDDEN, reasons=reasons)


def money_in(value: Any) -> Iterator[Money]:
    """Every amount in these arguments, in nested models, lists and mappings too."""
    if isinstance(value, Money):
        yield value
    elif isinstance(value, BaseModel):
        for _, inner in value:
            yield from money_in(inner)
    elif isinstance(value, Mapping):
        for inner in value.values():
            yield from money_in(inner)
    elif isinstance(value, list | tuple | set | frozenset):
        for inner in value:
            yield from money_in(inner)


def _is_text(said: object) -> bool:
    try:
        return isinstance(said, str) and read_json(write_json(said)) == said
    except ArgumentsRefused:
        return False
