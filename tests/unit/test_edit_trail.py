from policies.edit_trail import changed_resources
from policies.edits import apply_edit
from policies.money import Money
from policies.rules.mail import SendEmail
from policies.rules.refunds import RefundLine, RefundPayments


def refund(*amounts: int) -> RefundPayments:
    lines = [
        RefundLine(payment_id=f"pay_{at:04d}", amount=Money(minor=minor, currency="EUR"))
        for at, minor in enumerate(amounts, start=1)
    ]
    return RefundPayments(lines=lines, reason="goodwill")


def test_each_change_is_kept_under_the_resource_it_is_about() -> None:
    proposed = refund(48000, 1000, 2000)
    edited = apply_edit(proposed, {"/lines": ("pay_0001", "pay_0003"), "/lines/0/amount": "250.00"})
    assert changed_resources(proposed, edited, ()) == {
        "pay_0001": "pay_0001: 480.00 EUR -> 250.00 EUR",
        "pay_0002": "pay_0002 dropped",
    }


def test_a_change_of_the_whole_is_about_every_resource() -> None:
    mail = SendEmail(recipients=["cus_0001", "cus_0002"], subject="Hello", body="x")
    edited = apply_edit(mail, {"/subject": "Goodbye"})
    change = 'subject: "Hello" -> "Goodbye"'
    assert changed_resources(mail, edited, ("cus_0001", "cus_0002")) == {"cus_0001": change, "cus_0002": change}


def test_nothing_changed_is_no_trail() -> None:
    assert changed_resources(refund(100), refund(100), ("pay_0001",)) == {}
