"""What could never work is refused when it is declared or loaded, with what to write instead."""

import textwrap
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Any, NewType

import pytest

from lawbook import TOML
from policies.arguments import Arguments, SchemaRefused, tool_schema
from policies.edits import AtLeast, AtMostProposed, OneOf, SubsetOfProposed, Text, apply_edit, edit_fields
from policies.law import LawRefused, load_law
from policies.money import Money, eur
from policies.requirement import Requirement
from policies.risk import Risk
from policies.rule import rule


class Nothing(Arguments):
    """Nothing."""


async def awaits(ask: Any, so_far: Any) -> Requirement:
    return Requirement(radius="x")


def yields(ask: Any, so_far: Any) -> Any:
    yield Requirement(radius="x")


@pytest.mark.parametrize("judge", [awaits, yields])
def test_a_rule_that_returns_no_requirement_is_refused_when_it_is_declared(judge: Any) -> None:
    with pytest.raises(ValueError, match="must return its Requirement at once") as refused:
        rule(Nothing, risk=Risk.IRREVERSIBLE)(judge)
    assert str(refused.value) == (
        f"The rule {judge.__name__} must return its Requirement at once: write a plain def without await and yield."
        " What must be looked up belongs in the check= of its action, which gives it to the rule as facts."
    )


def test_facts_that_lose_digits_are_refused_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    body = """
        from policies.arguments import Arguments
        from policies.requirement import Requirement
        from policies.risk import Risk
        from policies.rule import Facts, rule

        class Ask(Arguments):
            '''Ask.'''
            name: str

        class Score(Facts):
            of: dict[str, float]

        @rule(Ask, Score, risk=Risk.IRREVERSIBLE)
        def ask(ask, so_far):
            return Requirement(radius="x")
    """
    (tmp_path / "law_float.py").write_text(textwrap.dedent(body), encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(LawRefused) as refused:
        load_law(["law_float"], TOML)
    assert str(refused.value) == (
        "The rule of ask in law_float: Score: A field is a float (float), which loses digits. Declare Decimal or Money."
    )


ONLY = "so nobody could edit it. Declare it so, or take the bound out."
INSIDE = "where nobody could edit it. Give the entries a model with a field that bears it, or take the bound out."


@pytest.mark.parametrize(
    ("kind", "sentence"),
    [
        (Annotated[Decimal, AtMostProposed()], f"Odd.it bears AtMostProposed, which marks Money or int only, {ONLY}"),
        (Annotated[bool, AtMostProposed()], f"Odd.it bears AtMostProposed, which marks Money or int only, {ONLY}"),
        (Annotated[Money, AtLeast(5)], f"Odd.it bears AtLeast, which marks int only, {ONLY}"),
        (list[Annotated[Money, AtMostProposed()]], f"Odd.it bears AtMostProposed inside another type, {INSIDE}"),
        (list[Annotated[str, OneOf("a", "b")]], f"Odd.it bears OneOf inside another type, {INSIDE}"),
        (list[list[Annotated[str, Text(max=5)]]], f"Odd.it bears Text inside another type, {INSIDE}"),
        (NewType("Note", Annotated[str, Text(max=5)]), f"Odd.it bears Text inside another type, {INSIDE}"),
        (Annotated[NewType("Rate", Decimal), AtLeast(5)], f"Odd.it bears AtLeast, which marks int only, {ONLY}"),
        (Annotated[str, Text(max=5)] | int, f"Odd.it bears Text inside another type, {INSIDE}"),
        (
            Annotated[list[str] | None, SubsetOfProposed()],
            "Odd.it may be None; write Annotated[..., SubsetOfProposed(...)] | None, with None outside.",
        ),
        (
            Annotated[str | None, OneOf("a")],
            "Odd.it may be None; write Annotated[..., OneOf(...)] | None, with None outside.",
        ),
    ],
)
def test_a_bound_that_would_do_nothing_is_refused(kind: Any, sentence: str) -> None:
    class Odd(Arguments):
        it: kind

    class Outer(Arguments):
        """It is found in nested models too."""

        odd: list[Odd]

    with pytest.raises(SchemaRefused) as refused:
        tool_schema(Outer)
    assert str(refused.value) == sentence


Note, Cents = NewType("Note", str), NewType("Cents", int)
ShortNote, Notes = NewType("ShortNote", Note), NewType("Notes", list[str])


class Named(Arguments):
    """Its types have names of their own."""

    note: Annotated[Note, Text(max=10)]
    short: Annotated[ShortNote, Text(max=5)] | None
    cents: Annotated[Cents, AtMostProposed()]
    notes: Annotated[Notes, SubsetOfProposed()]


def test_what_a_new_type_names_can_be_edited_as_what_it_is() -> None:
    assert tool_schema(Named)["required"] == list(Named.model_fields)
    full = Named(note=Note("x"), short=ShortNote(Note("y")), cents=Cents(5), notes=Notes(["m", "n"]))
    kinds = [(field.pointer, field.kind) for field in edit_fields(full)]
    assert kinds == [("/note", "text"), ("/short", "text"), ("/cents", "integer"), ("/notes", "subset")]


class Maybe(Arguments):
    """Everything may be left out."""

    amount: Annotated[Money, AtMostProposed()] | None = None
    other: Annotated[Money | None, AtMostProposed()] = None
    number: Annotated[int, AtLeast(2), AtMostProposed()] | None = None
    note: Annotated[str, Text(max=5)] | None = None
    why: Annotated[str, OneOf("a", "b")] | None = None
    names: Annotated[list[str], SubsetOfProposed()] | None = None


def test_what_may_be_left_out_can_be_edited_where_it_is_there() -> None:
    assert tool_schema(Maybe)["required"] == list(Maybe.model_fields)
    full = Maybe(amount=eur(5), other=eur(5), number=3, note="x", why="a", names=["m", "n"])
    kinds = [(field.pointer, field.kind) for field in edit_fields(full)]
    assert kinds == [
        ("/amount", "money"), ("/other", "money"), ("/number", "integer"), ("/note", "text"), ("/why", "choice"),
        ("/names", "subset"),
    ]  # fmt: skip
    edited = apply_edit(full, {"/amount": "4.00", "/number": "2", "/note": "y", "/why": "b", "/names": ("n",)})
    assert edited == Maybe(amount=eur(4), other=eur(5), number=2, note="y", why="b", names=["n"])
    assert edit_fields(Maybe()) == ()
