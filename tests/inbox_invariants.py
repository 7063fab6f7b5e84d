"""What must hold of the inboxes after every step: they are exactly what a walk over all batches would find."""

import redis

from approvals.inbox import digest
from approvals.keys import Keys
from builders import REQUESTER
from store_model_workers import Model

RADIUS = "refunds in EUR"
CHOICES = (".", f"{digest(RADIUS)}.", f".{REQUESTER}", f"{digest(RADIUS)}.{REQUESTER}")


def tier_of(needed: int) -> str:
    """The tier that the stateful test asks, so that one batch asks several."""
    return "two" if needed > 1 else "one"


def expected(model: Model) -> dict[str, set[str]]:
    """Group -> the batches that stand in it."""
    groups: dict[str, set[str]] = {}
    for batch in model.batches.values():
        open_ = model.asked(model.of_batch(batch.key))
        if not (batch.posted and open_):
            continue
        tiers = ",".join(sorted({tier_of(call.needed) for call in open_}))
        everybody = set.intersection(*(set(call.votes) for call in open_))
        for group in (f"of:{tiers}", *(f"answered:{user}" for user in everybody)):
            groups.setdefault(group, set()).add(batch.key)
    return groups


def check(client: redis.Redis, keys: Keys, model: Model) -> None:
    """Each group stands in its four lists, the menus count it, and nothing else is left anywhere."""
    groups = expected(model)
    asked = {name: members for name, members in groups.items() if name.startswith("of:")}
    wanted = {keys.inbox(name, choice): members for name, members in groups.items() for choice in CHOICES}
    with client.pipeline(transaction=True) as pipe:
        pipe.keys(f"{keys.prefix}inbox:*")
        pipe.zrange(keys.inbox_groups, 0, -1, withscores=True)
        for key in wanted:
            pipe.zrange(key, 0, -1)
        for name in asked:
            pipe.zrange(keys.inbox_radii(name), 0, -1, withscores=True)
            pipe.zrange(keys.inbox_requesters(name), 0, -1, withscores=True)
        names, counts, *rest = pipe.execute()
    assert {name.decode() for name in names} == set(wanted)
    assert {name.decode(): number for name, number in counts} == {name: len(them) for name, them in asked.items()}
    found = [{member.decode() for member in members} for members in rest[: len(wanted)]]
    assert found == list(wanted.values())
    menus = rest[len(wanted) :]
    for (name, members), radii, requesters in zip(asked.items(), menus[::2], menus[1::2], strict=True):
        assert radii == [(RADIUS.encode(), len(members))], name
        assert requesters == [(REQUESTER.encode(), len(members))], name
