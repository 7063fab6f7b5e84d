"""Canaries in the store: when one is due, and planting it. No verb of a call ever approves or claims one."""

from collections.abc import Sequence

from approvals import codec
from approvals.kept import kept
from approvals.keys import canary_key, checked_id
from approvals.models import CallContent
from approvals.outcomes import Answer
from approvals.room import Room
from policies.risk import Mode
from policies.values import Frozen

#: What stands as the agent of a canary. No agent of VOBO_AGENT may bear it, so no door is ever found for its call.
AGENT = "canary"
#: Longer than the week a slot belongs to.
_KEPT_MS = 9 * 24 * 3600 * 1000
_DIGITS = 8


class Planted(Frozen):
    """One canary as it is written: its run, its card and its call."""

    run: str
    batch: str
    call: str
    sdk_id: str
    tool: str
    content: CallContent
    seal: str
    request: str
    requester: str
    channel: str
    started_as: str
    notify: tuple[str, ...]


class Canaries(Room):
    """Written by a clock or an operator; decided on like any other call."""

    __slots__ = ()

    def draw(self, slot: str) -> int:
        """A number for this slot of a week: the same for every clock, and foreseen by nobody without the state keys."""
        return int.from_bytes(self.vault.derive(f"canary/{self.tenant}/{slot}")[:_DIGITS])

    def take(self, slot: str) -> bool:
        """Be the one who tries this slot; False when somebody has. It is tried once, whatever becomes of it."""
        return bool(self.client.set(canary_key(self.keys.prefix, slot), "tried", nx=True, px=_KEPT_MS))

    def plant(self, one: Planted, *, interruptions: int) -> Answer:
        """Write run, card and call in one step. CAP_REACHED when somebody would be notified too often.

        Raises:
            BadIdError: an id cannot stand in a key.
            ValueError: its requirement is not that of a canary.
        """
        need = one.content.requirement
        if need.canary is None or need.mode is not Mode.HUMAN:
            raise ValueError(f"Call {one.call} is no canary that a person is asked about; only such calls are planted.")
        request = self.seal(codec.REQUEST, checked_id(one.run), 0, one.request)
        content = self.seal(codec.CALL, checked_id(one.call), 1, one.content.model_dump_json(), run=one.run)
        told = kept(self, one.call, 1, one.content, run=one.run)
        return self.ask(
            "plant_canary",
            *(one.run, request, one.requester, one.channel, one.started_as, AGENT, interruptions),
            *(checked_id(one.batch), need.radius, need.ttl_s, need.lapse_s),
            *(one.call, one.sdk_id, one.tool, one.seal, content, need.reviewers, need.law, need.mode, told, need.tier),
            *_listed(one.notify),
        )


def _listed(ids: Sequence[str]) -> tuple[int | str, ...]:
    return (len(ids), *(checked_id(slack_id) for slack_id in ids))
