"""The kill matrix: every step of a run from its pause to its end, by number and name, and who is killed at it."""

from dataclasses import dataclass
from enum import StrEnum


class Victim(StrEnum):
    """Who gets a SIGKILL."""

    HORSE = "work-horse"
    WORKER = "worker"  # and its work-horse with it
    PARENT = "worker-alone"  # its work-horse goes on without it
    BOT = "bot"
    CLOCK = "clock"
    VALKEY = "valkey"


class Scene(StrEnum):
    """What people and processes do in a run."""

    PLAIN = "approved"
    EDIT = "edited"
    REJECT = "rejected"
    LOST_CLAIM = "claim-lost"  # approved, and the work-horse dies right after its claim
    LOST_EFFECT = "receipt-lost"  # approved, and the work-horse dies right after the effect
    BLIND = "nobody-can-tell"  # approved; the tool has no `reconcile`


class Owner(StrEnum):
    """Which process takes a step."""

    WORKER = "worker"
    BOT = "bot"
    CLOCK = "clock"


#: Who is killed by killing the process that takes the step.
OWN = {
    Owner.WORKER: (Victim.HORSE, Victim.WORKER),
    Owner.BOT: (Victim.BOT,),
    Owner.CLOCK: (Victim.CLOCK,),
}
#: Who else dies while the process that takes the step lives.
OTHERS = {
    Owner.WORKER: (Victim.BOT, Victim.CLOCK),
    Owner.BOT: (Victim.WORKER, Victim.CLOCK),
    Owner.CLOCK: (Victim.WORKER, Victim.BOT),
}


@dataclass(frozen=True)
class Step:
    """One numbered step. `decided`: it is armed before the click, not before the run. `undecidable`: a process that
    dies here leaves nobody who knows whether the effect happened.
    """

    number: int
    name: str
    owner: Owner
    scene: Scene = Scene.PLAIN
    decided: bool = True
    undecidable: bool = False

    def __str__(self) -> str:
        return f"{self.number:02d}-{self.name}"


_W, _B, _C = Owner.WORKER, Owner.BOT, Owner.CLOCK
STEPS = (
    Step(1, "runs.start:after", _B, decided=False),
    Step(2, "runs.save_turn:after", _W, decided=False),
    Step(3, "runs.pause:before", _W, decided=False),
    Step(4, "runs.pause:after", _W, decided=False),
    Step(5, "outbox.begin.card:after", _B, decided=False),
    Step(6, "slack.post.card:after", _B, decided=False),
    Step(7, "batches.record_posted:after", _B, decided=False),
    Step(8, "outbox.delivered.card:after", _B, decided=False),
    Step(9, "calls.edit:after", _B, Scene.EDIT),
    Step(10, "calls.refresh:before", _W, Scene.EDIT),
    Step(11, "calls.refresh:after", _W, Scene.EDIT),
    Step(12, "calls.reject:before", _B, Scene.REJECT),
    Step(13, "calls.reject:after", _B, Scene.REJECT),
    Step(14, "calls.approve:before", _B),
    Step(15, "calls.approve:after", _B),
    Step(16, "batches.lease:after", _W),
    Step(17, "effects.claim:before", _W),
    Step(18, "effects.claim:after", _W),
    Step(19, "deadlines.apply:before", _C, Scene.LOST_CLAIM),
    Step(20, "deadlines.apply:after", _C, Scene.LOST_CLAIM),
    Step(21, "effects.intend:before", _W),
    Step(22, "effects.intend:after", _W, undecidable=True),
    Step(23, "effect:inside", _W, undecidable=True),
    Step(24, "effect:after", _W, undecidable=True),
    Step(25, "effects.settle:before", _W, Scene.LOST_EFFECT),
    Step(26, "effects.settle:after", _W, Scene.LOST_EFFECT),
    Step(27, "effects.succeed:after", _W),
    Step(28, "batches.finish:before", _W),
    Step(29, "batches.finish:after", _W),
    Step(30, "wakeups.due:after", _C),
    Step(31, "queue.enqueue:after", _C),
    Step(32, "runs.lease:after", _W),
    Step(33, "runs.complete:before", _W),
    Step(34, "runs.complete:after", _W),
    Step(35, "slack.post.outcome:after", _B),
    Step(36, "slack.post.answer:after", _B),
    Step(37, "ledger.append:before", _C),
    Step(38, "ledger.append:after", _C),
)
_BY_NAME = {step.name: step for step in STEPS}
#: Where an orphaned work-horse that goes on beside a new worker could do harm.
ORPHANED = ("runs.pause:before", "effects.claim:after", "effects.intend:after", "effect:after", "runs.complete:before")
_PRELUDE = {Scene.LOST_CLAIM: "effects.claim:after", Scene.LOST_EFFECT: "effect:after"}


@dataclass(frozen=True)
class Plan:
    """One run: what happens in it, and who is killed when it comes to which steps."""

    scene: Scene
    kills: tuple[tuple[Step, tuple[Victim, ...]], ...]
    #: The victims of a walk, which dies at many steps.
    walk: str = ""
    #: Nothing else runs meanwhile: the victims may be at work for others.
    alone: bool = False

    @property
    def name(self) -> str:
        """For the thread, the mail and the test's id."""
        step, victims = self.kills[-1]
        return f"walk/{self.scene}/{self.walk}" if self.walk else f"{step}/{'+'.join(victims)}/{self.scene}"

    @property
    def undecidable(self) -> bool:
        """Whether a process dies between the intent and the receipt."""
        return any(step.undecidable and {Victim.HORSE, Victim.WORKER} & set(victims) for step, victims in self.kills)


def plans() -> tuple[Plan, ...]:
    """All runs of the matrix: one for each step and whoever takes it, then the walks with all others as victims."""
    singles = [
        Plan(step.scene, (*_prelude(step.scene), (step, (victim,)))) for step in STEPS for victim in OWN[step.owner]
    ]
    orphans = [Plan(Scene.PLAIN, ((_BY_NAME[name], (Victim.PARENT,)),)) for name in ORPHANED]
    blind = [Plan(Scene.BLIND, ((step, (Victim.HORSE,)),)) for step in STEPS if step.undecidable]
    return (*singles, *orphans, *blind, *_walks())


def _prelude(scene: Scene) -> tuple[tuple[Step, tuple[Victim, ...]], ...]:
    return ((_BY_NAME[_PRELUDE[scene]], (Victim.HORSE,)),) if scene in _PRELUDE else ()


def _walks() -> list[Plan]:
    """In each scene, everybody else dies at every step; and again, only the store does."""
    found = []
    for scene in dict.fromkeys(step.scene for step in STEPS):
        steps = [step for step in STEPS if step.scene is scene]
        worker = tuple((step, OTHERS[step.owner]) for step in steps if step.owner is Owner.WORKER)
        rest = tuple((step, OTHERS[step.owner]) for step in steps if step.owner is not Owner.WORKER)
        store = tuple((step, (Victim.VALKEY,)) for step in steps)
        before = _prelude(scene)
        found += [Plan(scene, (*before, *worker), "all-but-the-worker")] if worker else []
        found += [Plan(scene, (*before, *rest), "all-but-bot-or-clock", alone=True)] if rest else []
        found += [Plan(scene, (*before, *store), "valkey", alone=True)]
    return found
