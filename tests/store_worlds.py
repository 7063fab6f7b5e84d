"""The base of the stateful test's machine: one verb is done in both worlds, and everything is looked at after it."""

from collections import Counter
from collections.abc import Callable
from typing import Any

import redis
from hypothesis.stateful import RuleBasedStateMachine

from approvals.lifecycle import State
from builders import REQUESTER
from store_invariants import Watchman
from store_model import ModelBatch, ModelCall
from store_model_workers import Model
from store_steps import RUN, Steps


class BothWorlds(RuleBasedStateMachine):
    """One run in the store and in the model, and what has been done to it so far."""

    taken: Counter[str] = Counter()  # verbs that went well, over all examples, and "steps"

    def __init__(self, client: redis.Redis) -> None:
        super().__init__()
        client.flushall()
        self.model = Model(barrier="batch", requester=REQUESTER)
        self.steps = Steps(client, self.model)
        self.watchman = Watchman(client, self.steps.store.keys, RUN)
        self.looked = True
        self.number = 0
        self.log: list[tuple[str, dict[str, Any]]] = []
        self.leases: list[tuple[str, str, int]] = []
        self.claims: list[tuple[str, str, int]] = []  # call, token, version
        self.intended: list[tuple[str, str, int]] = []
        self.effects: list[str] = []

    def do(self, verb: str, **arguments: Any) -> str:
        """One verb in both worlds; they must answer alike."""
        self.look()
        self.taken["steps"] += 1
        self.looked = False
        real = self.steps.do(verb, **arguments)
        told = getattr(self.model, verb)(**arguments)
        assert real == told, f"{verb}({arguments}): the store says {real}, the model {told}"
        self.log.append((verb, arguments))
        self.taken[verb] += real == "ok"
        return str(real)

    def fresh(self, what: str) -> str:
        self.number += 1
        return f"{what}_{self.number}"

    def call(self, number: int, *states: State) -> ModelCall:
        """Some call, mostly one in these states if there is one."""
        calls = list(self.model.calls.values())
        fitting = [call for call in calls if call.state in states]
        chosen = fitting if fitting and number % 8 != 7 else calls
        return chosen[number % len(chosen)]

    def batch(self, number: int, fits: Callable[[ModelBatch], bool]) -> ModelBatch:
        batches = list(self.model.batches.values())
        fitting = [batch for batch in batches if fits(batch)]
        chosen = fitting if fitting and number % 8 != 7 else batches
        return chosen[number % len(chosen)]

    def under_lease(self, number: int, state: State) -> tuple[ModelCall, tuple[str, str, int]]:
        """A live lease and a call of its batch in this state, where possible."""
        live = [lease for lease in self.leases if self.model.holds(lease)]
        leases = live if live and number % 8 != 7 else self.leases[-3:]
        lease = leases[number % len(leases)]
        fitting = [call for call in self.model.of_batch(lease[0]) if call.state is state]
        return (fitting[number % len(fitting)] if fitting else self.call(number, state)), lease

    def look(self) -> None:
        """Every invariant, after every verb."""
        if not self.looked and self.model.calls:
            self.watchman.look(self.model)
        self.looked = True
