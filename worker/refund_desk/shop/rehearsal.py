"""Reading once what the tools read, in a process that has no job yet."""

from worker.refund_desk.shop import customers, mailing, payments
from worker.refund_desk.shop.database import open_shop


def rehearse() -> None:
    """Run the commonest queries and close every connection again.

    Raises:
        ShopRefused: nobody loaded the shop.
    """
    shop = open_shop()
    with shop.reading() as session:
        mailing.addresses(session, ["nobody"])
        mailing.consents(session, [])
        customers.by_id(session, ["nobody"])
        payments.by_id(session, ["nothing"])
    shop.receipt_of("nothing")
    shop.engine.dispose()
