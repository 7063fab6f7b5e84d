"""Two people decide the same call in the same millisecond, from two processes, two hundred times."""

import multiprocessing
from collections import Counter
from collections.abc import Iterator
from multiprocessing.connection import Connection
from multiprocessing.synchronize import Barrier
from typing import NamedTuple

import pytest
import redis

from approvals.lifecycle import State
from approvals.outcomes import Outcome
from approvals.redis_check import connect
from builders import ANA, BEN, a_call, a_decision, a_person, a_store, events, loaded, paused

ROUNDS = 200


class Told(NamedTuple):
    """What one reviewer was answered, and when by the server's clock the click was sent."""

    outcome: str
    detail: dict[str, str]
    sent: int


def click(url: str, reviewer: str, verdict: str, together: Barrier, answers: Connection) -> None:
    """One reviewer: a process with a connection of its own, which clicks as soon as both are ready."""
    client = connect(url)
    store = a_store(client)
    for number in range(ROUNDS):
        key = f"call_{number}"
        person = store.people.put(a_person(reviewer))
        decision = a_decision(key, verdict, by=reviewer)
        verb = store.calls.approve if verdict == "approve" else store.calls.reject
        together.wait(30)
        sent = store.now()
        answer = verb(key, version=1, decision=decision, person=person)
        answers.send(Told(answer.outcome, answer.detail, sent))
    answers.close()
    client.close()


@pytest.fixture
def rounds(valkey_url: str, redis_client: redis.Redis) -> Iterator[list[tuple[Told, Told]]]:
    """What Ana, who approves, and Ben, who rejects, were told, round by round."""
    calls = [a_call(f"call_{n}", number=n, batch=f"batch_{n // 8}") for n in range(ROUNDS)]
    paused(a_store(redis_client), *calls)
    context = multiprocessing.get_context("spawn")
    together = context.Barrier(2)
    processes, ends = [], []
    for reviewer, verdict in ((ANA, "approve"), (BEN, "reject")):
        hears, tells = context.Pipe(duplex=False)
        process = context.Process(target=click, args=(valkey_url, reviewer, verdict, together, tells))
        process.start()
        tells.close()
        processes.append(process)
        ends.append(hears)
    try:
        yield [(ends[0].recv(), ends[1].recv()) for _ in range(ROUNDS)]
    finally:
        for process in processes:
            process.join(30)
            process.kill()
            process.close()
        for end in ends:
            end.close()


def test_of_two_reviewers_in_two_processes_one_decides_and_the_other_is_told_who_and_when(
    rounds: list[tuple[Told, Told]], redis_client: redis.Redis
) -> None:
    store, won = a_store(redis_client), Counter[str]()
    for number, (ana, ben) in enumerate(rounds):
        assert sorted((ana.outcome, ben.outcome)) == [Outcome.ALREADY_DECIDED, Outcome.OK]
        call = loaded(store, f"call_{number}")
        (decision,) = call.decisions
        yes = ana.outcome == Outcome.OK
        winner, loser = (ANA, ben) if yes else (BEN, ana)
        won[winner] += 1
        assert (decision.reviewer, call.state) == (winner, State.APPROVED if yes else State.REJECTED)
        assert loser.detail == {
            "by": winner,
            "name": winner.title(),
            "at": str(decision.at),
            "verdict": "approve" if yes else "reject",
            "state": call.state,
        }
    assert sum(kind in {"approved", "rejected"} for kind in events(store)) == ROUNDS
    # Clicks that never met would prove nothing: many were sent within one millisecond of each other.
    assert sum(abs(ana.sent - ben.sent) <= 1 for ana, ben in rounds) > ROUNDS / 4, won
