"""Trigger ids: a licence to open one modal, for one person, within seconds, once."""

from dataclasses import dataclass

from bot.sandbox.errors import SlackError
from bot.sandbox.model import Actor
from bot.sandbox.world import World


@dataclass
class _Trigger:
    actor: Actor
    view_id: str | None
    born: float
    used: bool = False


class Triggers:
    """All trigger ids ever handed out."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._known: dict[str, _Trigger] = {}

    def issue(self, actor: Actor, view_id: str | None = None) -> str:
        """A fresh trigger; `view_id` is the modal it was born in, if any."""
        name = f"{len(self._known) + 1}.{self._world.token()}"
        self._known[name] = _Trigger(actor, view_id, self._world.clock.now())
        return name

    def exchange(self, name: object) -> tuple[Actor, str | None]:
        """Spend a trigger.

        Raises:
            SlackError: invalid_trigger_id, exchanged_trigger_id, expired_trigger_id.
        """
        trigger = self._known.get(str(name))
        if trigger is None:
            raise SlackError("invalid_trigger_id")
        if trigger.used:
            raise SlackError("exchanged_trigger_id")
        if self._world.clock.now() - trigger.born > self._world.settings.trigger_seconds:
            raise SlackError("expired_trigger_id")
        trigger.used = True
        return trigger.actor, trigger.view_id
