"""What changed is told to people, the model and the ledger; what is somebody's only has changed."""

from typing import Annotated

import pytest

from approvals.masks import Masks
from approvals.models import CallContent
from approvals.preview import Precondition, Preview
from builders import a_content
from policies.arguments import Arguments, Personal
from policies.bounds import AtMostProposed, SubsetOfProposed, Text
from policies.difference import difference
from policies.edit_trail import changed_resources
from policies.money import Money, eur
from worker.drift import changed_rows, kept_difference
from worker.drift import difference as drift

OLD, NEW = "anna.old@example.com", "anna.new@example.com"


class Guest(Arguments):
    email: Annotated[str, Personal()]
    nights: Annotated[int, AtMostProposed()] = 3
    wish: Annotated[str, Text(max=80), Personal()] = ""


class Room(Arguments):
    number: str
    wish: Annotated[str, Text(max=80), Personal()] = ""
    price: Annotated[Money, AtMostProposed()] = eur(100)


class Booking(Arguments):
    """Book rooms."""

    guests: Annotated[list[Guest], SubsetOfProposed(key="email")] = []
    rooms: Annotated[list[Room], SubsetOfProposed(key="number")] = []
    copies: Annotated[list[str], SubsetOfProposed(), Personal()] = []
    payers: Annotated[list[Guest], SubsetOfProposed(key="email"), Personal()] = []
    note: Annotated[str, Text(max=80), Personal()] = ""
    price: Annotated[Money, AtMostProposed(), Personal()] = eur(100)
    subject: Annotated[str, Text(max=80)] = ""


ANNA, BEN = Guest(email="anna@example.com"), Guest(email="ben@example.com")


@pytest.mark.parametrize(
    ("before", "after", "told"),
    [
        (Booking(note="for Anna"), Booking(note="for Berta"), ("note changed",)),
        (Booking(price=eur(10)), Booking(price=eur(5)), ("price changed",)),
        (Booking(rooms=[Room(number="12", wish="Anna")]), Booking(rooms=[Room(number="12")]), ("12 wish changed",)),
        (
            Booking(guests=[ANNA, BEN]),
            Booking(guests=[BEN.model_copy(update={"nights": 1, "wish": "quiet"})]),
            ("entry 1 of guests dropped", "entry 2 of guests nights: 3 -> 1", "entry 2 of guests wish changed"),
        ),
        (Booking(guests=[ANNA]), Booking(guests=[ANNA, BEN]), ("entry 2 of guests added",)),
        (Booking(copies=["anna@example.com", "b@example.com"]), Booking(copies=["b@example.com"]),
         ("entry 1 of copies dropped",)),
        (Booking(payers=[ANNA, BEN]), Booking(payers=[ANNA.model_copy(update={"nights": 1}), BEN]),
         ("entry 1 of payers changed",)),
        (Booking(rooms=[Room(number="12"), Room(number="14")], subject="Hello"),
         Booking(rooms=[Room(number="12", price=eur(50))], subject="Bye"),
         ("12: 100.00 EUR -> 50.00 EUR", "14 dropped", 'subject: "Hello" -> "Bye"')),
    ],
)  # fmt: skip
def test_an_edit_is_told_without_what_is_personal(before: Booking, after: Booking, told: tuple[str, ...]) -> None:
    assert difference(before, after) == told


def test_a_later_call_on_a_personal_resource_follows_the_edit_without_naming_anybody_else() -> None:
    before, after = Booking(guests=[ANNA, BEN], note="a"), Booking(guests=[BEN], note="b")
    assert changed_resources(before, after, ("anna@example.com", "ben@example.com")) == {
        "anna@example.com": "entry 1 of guests dropped; note changed",
        "ben@example.com": "note changed",
    }


def rests_on(
    *rows: tuple[str, str, str], key: str = "customer", problem: str | None = None, said: str = "rows"
) -> CallContent:
    shown = [{"customer": customer, "address": address, "plan": plan} for customer, address, plan in rows]
    return a_content(
        preview=Preview(
            headline="Mail",
            rows=tuple(shown),
            personal=("address",),
            precondition=Precondition.over(said, shown, key=key, material=("customer", "address", "plan")),
        ),
        problem=problem,
    )


def with_facts(content: CallContent, facts: str) -> CallContent:
    return content.model_copy(update={"facts": facts})


def test_of_changed_data_a_personal_column_only_changed_and_the_others_say_how() -> None:
    before = rests_on(("cus_1", OLD, "free"), ("cus_2", "ben@example.com", "free"), ("cus_3", "c@example.com", "free"))
    after = rests_on(("cus_1", NEW, "paid"), ("cus_2", "ben@example.com", "paid"), ("cus_4", "d@example.com", "free"))
    assert drift(before, after) == [
        "cus_3 is gone",
        "cus_4 is new",
        "cus_1: address changed, plan free -> paid",
        "cus_2: plan free -> paid",
    ]
    assert changed_rows(before, after) == (4, 4)


def test_after_an_edit_the_kept_rows_are_told_in_the_same_way() -> None:
    before, after = (
        rests_on(("cus_1", OLD, "free"), ("cus_2", "b@example.com", "free")),
        rests_on(("cus_1", NEW, "free")),
    )
    assert kept_difference(before, after) == ["cus_1: address changed"]


def test_a_row_that_is_known_by_a_personal_value_is_named_by_its_place() -> None:
    before = rests_on(("cus_1", "ben@example.com", "free"), ("cus_2", OLD, "free"), key="address")
    after = rests_on(("cus_1", "ben@example.com", "paid"), ("cus_2", NEW, "free"), key="address")
    assert drift(before, after) == ["row 2 is gone", "row 2 is new", "row 1: plan free -> paid"]


def test_a_personal_value_is_not_told_by_a_fact_or_a_sentence_either() -> None:
    before = with_facts(rests_on(("cus_1", OLD, "free")), f'{{"address_of":{{"cus_1":"{OLD}"}},"limit":1}}')
    after = with_facts(
        rests_on(("cus_1", NEW, "free"), problem=f"{NEW} bounces.", said=f"{NEW} can be reached"),
        f'{{"address_of":{{"cus_1":"{NEW}","{NEW}":"x"}},"limit":2}}',
    )
    assert drift(before, after) == [
        "cus_1: address changed",
        "rows -> ••• can be reached",
        "address of cus 1 changed",
        "address of •••: new",
        "limit: 1 -> 2",
        "••• bounces.",
    ]
    assert "address of cus 1 changed" in kept_difference(before, after)


def test_a_personal_argument_is_not_told_by_the_data_either() -> None:
    marked = {"personal": ("/to",), "arguments": f'{{"to":"{OLD}"}}'}
    before = a_content(facts=f'{{"owner":"{OLD}"}}').model_copy(update=marked)
    after = a_content(facts='{"owner":"somebody else"}').model_copy(update=marked)
    assert drift(before, after) == ["owner changed"]
    assert drift(after, before) == ["owner changed"]


def test_a_longer_personal_value_is_masked_whole_where_a_shorter_one_stands_in_it() -> None:
    masks = Masks(values=frozenset({"anna", "anna.berg", "ab"}))
    assert masks.scrub("anna.berg, anna, ab") == "•••, •••, ab"
