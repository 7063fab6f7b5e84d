"""Whatever the law says about a typed value is known by its shape, so that it can be said in another language."""

import ast
from pathlib import Path
from typing import Annotated

import pytest
from pydantic import Field

import policies
from bot.language import speaking
from bot.law_words import _patterns, in_readers_words
from policies.arguments import Arguments, Id
from policies.edits import AtLeast, AtMostProposed, EditRefused, OneOf, SubsetOfProposed, Text, apply_edit, edit_fields
from policies.money import Money, eur


class Line(Arguments):
    id: Id
    amount: Annotated[Money, AtMostProposed()]


class Ask(Arguments):
    """Ask."""

    lines: Annotated[list[Line], SubsetOfProposed(key="id"), Field(min_length=1)]
    days: Annotated[int, AtLeast(2)] = 3
    yen: Annotated[Money, AtMostProposed()] = Money(minor=90, currency="JPY")
    funds: Annotated[Money, AtMostProposed()] = Money(minor=90, currency="CLF")
    copies: Annotated[int, AtMostProposed()] = 3
    why: Annotated[str, OneOf("duplicate", "goodwill")] = "duplicate"
    note: Annotated[str, Text(max=20)] = "hello"
    fixed: str = "as it is"


ARGS = Ask(lines=[Line(id="pay_1", amount=eur(90))])
TYPED: dict[str, dict[str, str | tuple[str, ...]]] = {
    '"250 euros" no es un importe.': {"/lines/0/amount": "250 euros"},
    'El número de decimales de "75.5" es 1; el de EUR es 2.': {"/lines/0/amount": "75.5"},
    '"75.5" lleva decimales (1) y JPY no tiene.': {"/yen": "75.5"},
    '"0" no es nada.': {"/lines/0/amount": "0"},
    '"91" supera lo propuesto: 90.00 EUR.': {"/lines/0/amount": "91"},
    '"999999999999.9999" supera cualquier importe de CLF aquí': {"/funds": "999999999999.9999"},
    '"two" no es un número entero.': {"/copies": "two"},
    '"4" supera lo propuesto: 3.': {"/copies": "4"},
    '"1" es menos que 2.': {"/days": "1"},
    '"other" no es una de las opciones: duplicate, goodwill.': {"/why": "other"},
    '"  " está en blanco.': {"/note": "  "},
    "Este texto tiene 21 caracteres; el máximo es 20.": {"/note": "x" * 21},
    '"pay_9" no estaba propuesto, así que no se puede conservar.': {"/lines": ("pay_9",)},
    "No queda nada.": {"/lines": ()},
    "/fixed no se puede cambiar.": {"/fixed": "other"},
    "No se cambió nada.": {},
}


def refused(typed: dict[str, str | tuple[str, ...]]) -> str:
    with pytest.raises(EditRefused) as error:
        apply_edit(ARGS, typed)
    (sentence,) = error.value.errors.values()
    return sentence


@pytest.mark.parametrize("words", TYPED)
def test_what_the_law_refuses_at_a_field_is_said_in_the_readers_language(words: str) -> None:
    sentence = refused(TYPED[words])
    assert in_readers_words(sentence) == sentence
    with speaking("es"):
        assert in_readers_words(sentence).startswith(words)


def test_a_comma_before_two_decimals_is_refused_with_the_point_that_is_meant() -> None:
    sentence = refused({"/lines/0/amount": "75,50"})
    assert in_readers_words(sentence) == '"75,50" is not an amount. Use a point for decimals: 75.50.'
    with speaking("es"):
        assert "75.50" in in_readers_words(sentence)
    for unclear in ("4,120", "1,2,3", "75,5"):
        assert "Type digits only" in in_readers_words(refused({"/lines/0/amount": unclear}))
    assert "Type digits only" in in_readers_words(refused({"/yen": "75,50"})), "yen have no decimals"


def test_every_hint_of_a_field_is_said_in_the_readers_language() -> None:
    class Both(Arguments):
        """Both."""

        days: Annotated[int, AtLeast(2), AtMostProposed()] = 3

    hints = {field.hint for field in (*edit_fields(ARGS), *edit_fields(Both()))}
    assert len(hints) == 9
    assert {in_readers_words(hint) for hint in hints} == hints
    with speaking("es"):
        said = {in_readers_words(hint) for hint in hints}
    assert not said & hints
    assert "Número entero, al menos 2 y como máximo 3." in said
    assert "Como máximo 90.00 EUR. Escribe solo dígitos, por ejemplo 90.00." in said


def test_the_shapes_are_english_whoever_types_first() -> None:
    _patterns.cache_clear()
    with speaking("es"):
        assert in_readers_words("Nothing is left. To drop everything, reject the call.").startswith("No queda nada.")


def test_what_has_no_known_shape_is_said_as_it_is() -> None:
    with speaking("es"):
        assert in_readers_words("No vouchers on Sundays.") == "No vouchers on Sundays."


def test_every_refusal_of_a_typed_value_is_one_of_those_above() -> None:
    raised = 0
    for name, error in (("typed.py", "TypedRefused"), ("money.py", "MoneyRefused")):
        tree = ast.parse((Path(policies.__file__).parent / name).read_text())
        raised += sum(
            isinstance(node, ast.Raise) and error in ast.unparse(node) and "str(error)" not in ast.unparse(node)
            for node in ast.walk(tree)
        )
    several_for_one = 1  # only a forged payload meets it
    assert raised - several_for_one == 13, "a new sentence needs a shape in bot/law_words.py, and a line above"
