import pytest

from policies.money import Money, total
from worker.refund_desk.shop.amounts import Style
from worker.refund_desk.shop.errors import DataRefused
from worker.refund_desk.shop.files import data_text, read_payments

HEADER = "payment_id,customer_id,email,invoice_id,charge_id,amount,currency,failure_code,failed_at,attempts,status"


def row(amount: str, currency: str = "EUR") -> str:
    start = f"{HEADER}\npay_1,cus_1,a@example.com,inv_1,ch_1,"
    return f"{start}{amount},{currency},card_declined,2026-10-23T06:41:00Z,1,failed"


def test_the_sample_is_38_payments_worth_4120_euros() -> None:
    payments = read_payments("p.csv", data_text("failed_payments.csv"))
    assert len(payments) == 38
    assert total([amount for _, amount in payments]) == Money(minor=412_000, currency="EUR")


def test_the_german_file_reads_equal_when_it_is_declared_german() -> None:
    plain = read_payments("p.csv", data_text("failed_payments.csv"))
    german = read_payments("p_de.csv", data_text("failed_payments_de.csv"), Style.GERMAN)
    assert german == [({**cells, "amount": cells["amount"].replace(".", ",")}, amount) for cells, amount in plain]


def test_the_german_file_is_refused_when_nobody_declared_it() -> None:
    with pytest.raises(DataRefused, match="written in german style; if that is right, say so: --style german"):
        read_payments("p_de.csv", data_text("failed_payments_de.csv"))


def test_a_german_total_row_that_is_not_the_sum_is_refused() -> None:
    text = data_text("failed_payments_de.csv").replace("4.120,00", "4.121,00")
    with pytest.raises(DataRefused, match=r"says 4,121\.00 EUR, the rows add up to 4,120\.00 EUR"):
        read_payments("p_de.csv", text, Style.GERMAN)


@pytest.mark.parametrize(
    "amount", ["4.120", '"99,00"', '"4,120.00"', "1e2", "-5.00", "+5.00", " ", "0.00", "\uff15.00", "99.0"]
)
def test_an_amount_that_could_be_read_in_two_ways_is_refused(amount: str) -> None:
    with pytest.raises(DataRefused, match=r"p\.csv, row 2"):
        read_payments("p.csv", row(amount))


@pytest.mark.parametrize("amount", ["99.00", "4.12,00", "1.2345,00", "99,0", "4120.00"])
def test_a_plain_amount_in_a_german_file_is_refused(amount: str) -> None:
    text = row(amount).replace(",", ";") if "," not in amount else row("@").replace(",", ";").replace("@", amount)
    with pytest.raises(DataRefused, match=r"p\.csv, row 2"):
        read_payments("p.csv", text, Style.GERMAN)


@pytest.mark.parametrize(
    ("amount", "currency", "minor"), [("500", "JPY", 500), ("12.345", "KWD", 12_345), ("100.00", "USD", 10_000)]
)
def test_each_currency_has_its_own_number_of_decimals(amount: str, currency: str, minor: int) -> None:
    assert read_payments("p.csv", row(amount, currency))[0][1] == Money(minor=minor, currency=currency)


def test_a_currency_that_does_not_exist_is_refused() -> None:
    with pytest.raises(DataRefused, match='"XQZ" is not a currency'):
        read_payments("p.csv", row("1.00", "XQZ"))


def test_a_row_of_another_width_is_refused_by_its_number() -> None:
    with pytest.raises(DataRefused, match="row 2: 12 cells, expected 11"):
        read_payments("p.csv", row("1.00") + ",more")


def test_a_column_too_many_is_refused() -> None:
    with pytest.raises(DataRefused, match="has the columns"):
        read_payments("p.csv", HEADER + ",note\n")
