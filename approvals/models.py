"""What the state of record holds, as values."""

from typing import Literal

from approvals.drifts import Drift
from approvals.entries import OutboxEntry
from approvals.lifecycle import FINAL, Cause, RunState, State, UndoState
from approvals.preview import Preview
from policies.person import Decision, Person
from policies.requirement import Canary, Requirement
from policies.values import Frozen

__all__ = ["Decision", "OutboxEntry", "Person"]  # re-exported: values that the state of record keeps


class Run(Frozen):
    """One execution of an agent, paused and resumed. Instants are milliseconds of the store's clock.

    A `canary` is no agent's: nothing drives it, and it ends with its one call. `started_as` is the name it shows.
    """

    id: str
    state: RunState
    request: str
    requester: str
    channel: str
    thread_ts: str
    agent: str
    parent: str | None = None
    barrier: Literal["batch", "pause"] = "batch"
    turns: int = 0
    pause: int = 0
    reason: str | None = None
    answer: str | None = None
    created_at: int
    ended_at: int | None = None
    cancelled_by: str | None = None
    cancelled_name: str | None = None
    canary: bool = False
    started_as: str = ""


class CallContent(Frozen):
    """What is encrypted at rest: one version of a call, everything a reviewer or the gate needs.

    `requested` is the model's raw argument text; `arguments` the sealed ones as canonical JSON text;
    `facts` likewise; `problem` says why the call could not be judged; `previous` is the difference to the version
    before. `personal` are the JSON pointers of the arguments that are somebody's: the ledger keeps them apart.
    """

    requested: str
    arguments: str
    facts: str = "{}"
    requirement: Requirement
    preview: Preview
    agent_version: str
    tool_schema: str
    reason: str | None = None
    lookups: tuple[str, ...] = ()
    problem: str | None = None
    previous: tuple[str, ...] = ()
    personal: tuple[str, ...] = ()


class Undo(Frozen):
    """How far the taking back of a call is. `by` is who asked last, `at` when; `seal` is what they want back.

    `name` are the names of all who asked, `missing` how many more must; `reason` says why it failed or nobody can tell.
    `token` names the attempt, if there was one. Of what is `contradicted` a receipt says late that it was taken back.
    """

    state: UndoState
    seal: str
    by: str
    name: str
    at: int
    missing: int = 0
    at_work_until: int | None = None
    ended_at: int | None = None
    reason: str | None = None
    token: str = ""
    contradicted: bool = False


class Call(Frozen):
    """One tool call the agent wants to make. `number` counts from 1 within its pause.

    `drifted` is what was not as sealed when its data was last looked up; that failed since, at `look_failed_at`. Of
    what is `contradicted` its worker proved this (succeeded, failed) when something else had been said already.
    """

    key: str
    run: str
    batch: str | None
    pause: int
    number: int
    sdk_id: str
    agent: str
    tool: str
    state: State
    version: int
    content: CallContent
    seal: str
    cause: Cause | None = None
    reason: str | None = None
    needed: int = 1
    decisions: tuple[Decision, ...] = ()
    refreshing: bool = False
    execute_by: int | None = None
    claimed_at: int | None = None
    at_work_until: int | None = None
    ended_at: int | None = None
    intended: bool = False
    receipt: str | None = None
    held: bool = False
    undo: Undo | None = None
    looked_at: int | None = None
    look_failed_at: int | None = None
    drifted: Drift | None = None
    contradicted: State | None = None

    @property
    def final(self) -> bool:
        """Nothing will change this call any more (an unknown outcome may still be settled)."""
        return self.state in FINAL

    @property
    def canary(self) -> Canary | None:
        """What marks a call that may never run; None for a real one."""
        return self.content.requirement.canary

    @property
    def idempotency_key(self) -> str:
        """The key the tool gives its provider; the same for every version and every attempt."""
        return f"vobo-{self.run}-{self.key}"

    @property
    def undo_key(self) -> str:
        """The idempotency key of taking it back; the same for every attempt."""
        return f"{self.idempotency_key}-undo"


class Batch(Frozen):
    """Calls reviewed together: one blast radius, at most eight calls, one card. `decide_by` is set when posted.

    `notify` are the Slack ids that the card mentions, counted in their hour; None: everybody entitled. `quiet`: too
    few of those who may decide were awake, so the next tier is asked at once. `on_it` is who said that they are
    looking; after `escalated_at` the next tier may decide too. `recalled` are the usergroups that its reminder
    mentions, `called` those of the next tier.
    """

    id: str
    run: str
    pause: int
    radius: str
    number: int
    calls: tuple[str, ...]
    has_card: bool = True
    generation: int = 0
    ttl_s: int
    lapse_s: int
    decide_by: int | None = None
    posted_at: int | None = None
    channel: str | None = None
    ts: str | None = None
    notify: tuple[str, ...] | None = None
    quiet: bool = False
    recalled: tuple[str, ...] = ()
    called: tuple[str, ...] = ()
    on_it: str | None = None
    on_it_name: str | None = None
    escalated_at: int | None = None


class BatchView(Frozen):
    """Everything a card is rendered from, read in one step. `now` is the store's clock when it was read."""

    run: Run
    batch: Batch
    calls: tuple[Call, ...]
    now: int


class PauseView(Frozen):
    """Everything the outcome table is rendered from."""

    run: Run
    pause: int
    calls: tuple[Call, ...]
    now: int


class ProposedCall(Frozen):
    """A call as the worker writes it at a pause. `state` is where policy put it."""

    key: str
    sdk_id: str
    number: int
    agent: str
    tool: str
    batch: str | None
    state: Literal[State.PROPOSED, State.PENDING_REVIEW, State.APPROVED, State.REJECTED]
    cause: Cause | None = None
    reason: str | None = None
    held: bool = False
    content: CallContent
    seal: str


class ProposedBatch(Frozen):
    """A batch as the worker writes it at a pause.

    `notify` are the Slack ids it interrupts, counted in their hour; `quiet` as in `Batch`.
    """

    id: str
    radius: str
    number: int
    calls: tuple[str, ...]
    has_card: bool
    ttl_s: int
    lapse_s: int
    notify: tuple[str, ...] = ()
    quiet: bool = False


class PauseWrite(Frozen):
    """One pause, written in one step: the saved state of the run, its calls and its batches.

    `interruptions` is how often a Slack id may be notified within an hour; `alerts` are subjects that ops is told of;
    `withdrawn` tools are asked about by nobody for an hour; `corrected` are the places (`tool|resource`) whose one
    corrected proposal this is.
    """

    state: bytes
    turns: int
    calls: tuple[ProposedCall, ...]
    batches: tuple[ProposedBatch, ...]
    interruptions: int = 12
    alerts: tuple[str, ...] = ()
    withdrawn: tuple[str, ...] = ()
    corrected: tuple[str, ...] = ()


class RunLease(Frozen):
    """The right to drive one run: renewed by its holder, fenced by `epoch`."""

    run: str
    token: str
    epoch: int
    resuming: bool


class BatchLease(Frozen):
    """The right to take a batch's approved calls through the gate.

    `in_vain`: how many leases before it, without a break, ended with a call that could not be carried out.
    """

    batch: str
    run: str
    token: str
    epoch: int
    generation: int
    in_vain: int = 0


class Claim(Frozen):
    """The right to run one call once. `token` fences the intent and the receipt."""

    call: str
    run: str
    batch: str
    token: str
    version: int
    lease_until: int


class UndoClaim(Frozen):
    """The right to take one call back once. `token` fences the intent and the receipt."""

    call: str
    run: str
    version: int
    token: str
