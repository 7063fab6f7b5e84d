"""A recipient goes by many spellings; a refusal is remembered for who is meant."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from approvals.preview import Precondition
from policies import rules
from policies.evaluate import Proposal, evaluate
from policies.law import load_law
from policies.risk import Mode
from policies.rules.mail import MailFacts, SendEmail
from worker.refund_desk.shop import mailing
from worker.refund_desk.shop.database import Shop
from worker.refund_desk.shop.tables import Customer

LAW = load_law(["policies.rules"], Path(rules.__path__[0], "reviewers.toml").read_text(encoding="utf-8"))
NIGHT = datetime(2026, 10, 23, 21, 30, tzinfo=UTC)


def test_an_address_is_known_as_its_customer_however_it_is_written(tmp_path: Path) -> None:
    shop = Shop.open(f"sqlite:///{tmp_path}/shop.db")
    shop.create()
    with shop.writing() as session:
        session.add_all(
            [
                Customer(customer_id="cus_0001", email="Ida@Example.com"),
                Customer(customer_id="cus_0002", email=" ida@example.com"),
                Customer(customer_id="cus_0003", email="jo@example.com"),
            ]
        )
    with shop.reading() as session:
        spellings = ["cus_0001", "IDA@example.com", "cus_0002", "kim@example.com"]
        address_of = mailing.addresses(session, spellings)
        owners = mailing.owners(session, address_of.values())
    shop.engine.dispose()
    assert owners == {"ida@example.com": "cus_0001"}
    assert {address_of[name] for name in spellings[:3]} == {"ida@example.com"}


@pytest.mark.parametrize("spelling", ["ida@example.com", "Ida@example.com"])
def test_whom_a_person_refused_to_write_to_comes_back_under_no_other_spelling(spelling: str) -> None:
    facts = MailFacts(address_of={spelling: "ida@example.com"})
    args = SendEmail(recipients=[spelling], subject="Your plan", body="Hello.")
    (need,) = evaluate(
        LAW,
        [Proposal("c1", "send_email", "desk", args, facts)],
        requester="U0005",
        spent={},
        vetoes={"send_email|ida@example.com": "Bruno: not this person"},
        now=NIGHT,
    )
    assert (need.mode, need.vetoed) == (Mode.FORBIDDEN, True)


def test_rows_that_share_an_id_are_no_precondition_since_only_one_of_them_would_be_watched() -> None:
    rows = [{"item": "cup", "price": 5}, {"item": "cup", "price": 7}]
    with pytest.raises(ValueError, match="Two rows have the item cup"):
        Precondition.over("prices", rows, key="item", material=("price",))
