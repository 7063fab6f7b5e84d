"""The sample's data files, read strictly: exact columns, one declared number style, no row skipped."""

import csv
import json
from collections.abc import Iterator, Sequence
from importlib.resources import files
from io import StringIO
from typing import Any

from policies.money import Money, MoneyRefused, total
from worker.refund_desk.shop.amounts import Style, read_amount
from worker.refund_desk.shop.errors import DataRefused

PAYMENT_COLUMNS = (
    "payment_id", "customer_id", "email", "invoice_id", "charge_id", "amount", "currency",
    "failure_code", "failed_at", "attempts", "status",
)  # fmt: skip
RECIPIENT_COLUMNS = ("recipient_id", "customer_id", "email", "consent", "locale", "plan", "consent_updated_at")
ERASURE_COLUMNS = (
    "customer_id", "email", "ground", "requested_at", "open_invoices", "open_total", "draft_invoices", "legal_hold",
)  # fmt: skip
_DELIMITERS = {Style.PLAIN: ",", Style.GERMAN: ";"}
_TOTAL_ROW = "Summe"

Row = dict[str, str]


def data_text(name: str) -> str:
    """One of the files shipped with the sample."""
    return files("worker.refund_desk").joinpath("data", name).read_text(encoding="utf-8")


def read_json(name: str) -> Any:
    """One of the JSON files shipped with the sample."""
    return json.loads(data_text(name))


def read_rows(name: str, text: str, columns: Sequence[str], style: Style = Style.PLAIN) -> list[Row]:
    """The rows of a CSV file with exactly these columns.

    Raises:
        DataRefused: other columns, another separator, or a row of another width.
    """
    return [row for _, row in _numbered(name, text, columns, style)]


def read_payments(name: str, text: str, style: Style = Style.PLAIN) -> list[tuple[Row, Money]]:
    """Each payment with its amount. A German file may end with a total row, which must be the sum.

    Raises:
        DataRefused: naming the first row that cannot be read in this style.
    """
    payments: list[tuple[Row, Money]] = []
    for number, row in _numbered(name, text, PAYMENT_COLUMNS, style):
        try:
            amount = read_amount(row["amount"], row["currency"], style)
        except ValueError as refused:  # MoneyRefused, or a currency that does not exist
            why = str(refused) if isinstance(refused, MoneyRefused) else f'"{row["currency"]}" is not a currency.'
            raise DataRefused(f"{name}, row {number}: {why}") from None
        if style is Style.GERMAN and row["payment_id"] == _TOTAL_ROW:
            _must_be_sum(name, [paid for _, paid in payments], amount)
        else:
            payments.append((row, amount))
    return payments


def _numbered(name: str, text: str, columns: Sequence[str], style: Style) -> Iterator[tuple[int, Row]]:
    reader = csv.reader(StringIO(text), delimiter=_DELIMITERS[style], strict=True)
    header = next(reader, [])
    if header != list(columns):
        raise DataRefused(f"{name} has the columns {_shown(header)}.{_hint(text, columns, style)}")
    for number, cells in enumerate(reader, start=2):
        if len(cells) != len(columns):
            raise DataRefused(f"{name}, row {number}: {len(cells)} cells, expected {len(columns)}.")
        yield number, dict(zip(columns, cells, strict=True))


def _hint(text: str, columns: Sequence[str], style: Style) -> str:
    first = text.partition("\n")[0].strip()
    for other, delimiter in _DELIMITERS.items():
        if other is not style and first == delimiter.join(columns):
            return f" It is written in {other} style; if that is right, say so: --style {other}"
    return f" Expected: {', '.join(columns)}"


def _shown(header: Sequence[str]) -> str:
    return ", ".join(header)[:200] or "none"


def _must_be_sum(name: str, amounts: list[Money], stated: Money) -> None:
    if not amounts or total(amounts) != stated:
        counted = str(total(amounts)) if amounts else "nothing"
        raise DataRefused(f"{name}: the total row says {stated}, the rows add up to {counted}.")
