"""A ledger that cannot be opened is told in one sentence, which has no part of the address that may be a secret."""

import pytest

from approvals.ledger import Ledger, LedgerUnreachable

SECRET = "s3cret"


@pytest.mark.parametrize(
    ("url", "said"),
    [
        (f"mysql://vobo:{SECRET}@db/ledger?key={SECRET}", "mysql://vobo:***@db/ledger cannot be opened: nothing is"),
        (f"nosuch://vobo:{SECRET}@db/ledger", "nosuch://vobo:***@db/ledger cannot be opened: nothing is"),
        (f"postgresql+psycopg://vobo:{SECRET}@db:port/ledger", "is not the address of a database"),
        (f"postgresql+psycopg://vobo:first@{SECRET}@db/ledger", "is not the address of a database"),
        (f"db/{SECRET}", "is not the address of a database"),
        ("", "is not the address of a database"),
        (f"sqlite://?timeout={SECRET}", "sqlite:// cannot be opened: a parameter is wrong"),
        (f"postgresql+psycopg://vobo:{SECRET}@/ledger?host=/nowhere&sslpassword={SECRET}", "cannot be opened (Oper"),
    ],
)
def test_an_address_that_does_not_work_is_a_sentence_without_secrets(url: str, said: str) -> None:
    with pytest.raises(LedgerUnreachable) as refused:
        Ledger.open(url)
    assert said in str(refused.value)
    assert "VOBO_LEDGER_URL" in str(refused.value)
    error: BaseException | None = refused.value
    while error is not None:  # a log has the whole chain
        assert SECRET not in str(error)
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
