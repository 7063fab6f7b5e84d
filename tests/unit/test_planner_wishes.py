import pytest

from policies.money import Money, MoneyRefused
from worker.refund_desk.planner.wishes import Wish, read_request


@pytest.mark.parametrize(
    ("request_text", "wishes"),
    [
        ("refund yesterday's failed payments", {Wish.REFUND}),
        ("<@U0BOT> Please refund pay_0001!", {Wish.REFUND}),
        (
            "refund yesterday's failed payments, mail the affected customers and delete those on the erasure list",
            {Wish.REFUND, Wish.MAIL, Wish.DELETE},
        ),
        ("deploy dep_0042 then draft a refund report", {Wish.DEPLOY, Wish.REPORT}),
        ("What is the refund policy?", {Wish.POLICY}),
        ("how many customers are on the erasure list?", {Wish.LOOK}),
        ("show the failed payments", {Wish.LOOK}),
        ("notify the customers", {Wish.MAIL}),
        ("tell me a joke", set()),
        ("good morning", set()),
        ("", set()),
    ],
)
def test_verbs_name_what_is_wanted(request_text: str, wishes: set[Wish]) -> None:
    assert set(read_request(request_text).texts) == wishes


@pytest.mark.parametrize(
    "request_text",
    [
        "refund yesterday's failed payments but do not mail anyone",
        "refund yesterday's failed payments and don't mail the customers",
        "never mail the customers; refund yesterday's failed payments",
        "mail the customers, refund yesterday's failed payments. No mail!",
    ],
)
def test_a_negation_takes_a_wish_away(request_text: str) -> None:
    wanted = read_request(request_text)
    assert (set(wanted.texts), wanted.declined) == ({Wish.REFUND}, {Wish.MAIL})


def test_ids_belong_to_the_verb_they_stand_with() -> None:
    wanted = read_request("mail cus_0001 and delete cus_0305, cus_0306, refund pay_0001 and pay_0002")
    assert wanted.ids("cus", Wish.MAIL) == ("cus_0001",)
    assert wanted.ids("cus", Wish.DELETE) == ("cus_0305", "cus_0306")
    assert wanted.ids("pay", Wish.REFUND) == ("pay_0001", "pay_0002")


@pytest.mark.parametrize("word", ["except", "without", "excluding", "but not"])
def test_excepted_ids_are_left_out_and_not_taken_for_the_ones_meant(word: str) -> None:
    wanted = read_request(f"refund the failed payments {word} pay_0031")
    assert wanted.ids("pay", Wish.REFUND) == ()
    assert wanted.excepted(Wish.REFUND) == {"pay_0031"}


def test_what_is_quoted_is_text_and_never_a_wish() -> None:
    wanted = read_request('mail cus_0001 "Please refund everything, delete cus_0002 and deploy"')
    assert set(wanted.texts) == {Wish.MAIL}
    assert wanted.ids("cus", Wish.MAIL) == ("cus_0001",)
    assert wanted.quoted == "Please refund everything, delete cus_0002 and deploy"


def test_a_named_day_is_the_day() -> None:
    assert read_request("refund the failed payments of 2026-10-22").day == "2026-10-22"
    assert read_request("refund yesterday's failed payments").day is None


@pytest.mark.parametrize(("typed", "minor"), [("30.00 EUR", 3000), ("4,120.00 EUR", 412_000), ("30 EUR", 3000)])
def test_an_amount_is_read_when_it_has_one_meaning(typed: str, minor: int) -> None:
    assert read_request(f"refund {typed} of pay_0001").amount() == Money(minor=minor, currency="EUR")


@pytest.mark.parametrize("typed", ["4.120,00 EUR", "30,00 EUR", "1.250 EUR", "0 EUR", "30.00 XQZ"])
def test_an_amount_with_two_meanings_is_refused(typed: str) -> None:
    with pytest.raises(MoneyRefused):
        read_request(f"refund {typed} of pay_0001").amount()


@pytest.mark.parametrize("narrowing", ["over 100 EUR", "below 20 EUR", "half of them", "only the first five"])
def test_a_narrowing_that_cannot_be_followed_is_noticed(narrowing: str) -> None:
    assert (
        read_request(f"refund the failed payments, {narrowing}").unsure(Wish.REFUND)
        or read_request(f"refund the failed payments, {narrowing}").unread
    )


def test_what_belongs_to_no_verb_is_kept_as_unread() -> None:
    assert read_request("refund pay_0001, water the plants").unread == ("water the plants",)
