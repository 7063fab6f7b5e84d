"""The planner as a model of the Agents SDK: no network, no key, one completed event."""

from collections.abc import Sequence

from agents import Tool
from agents.items import TResponseInputItem, TResponseOutputItem
from typing_extensions import override

from worker.offline import Played
from worker.refund_desk.planner.conversation import read_conversation
from worker.refund_desk.planner.plan import next_step
from worker.refund_desk.planner.steps import Say


class OfflinePlanner(Played):
    """A stand-in for a language model that knows the refund desk's tools and nothing else.

    It plans from the request and the tool results it is shown, keeps nothing, and says that it is a stand-in.
    """

    name = "offline-planner"

    @override
    def answer(self, given: str | list[TResponseInputItem], tools: Sequence[Tool]) -> list[TResponseOutputItem]:
        """A sentence for reviewers may stand beside the calls."""
        step = next_step(read_conversation(given), frozenset(tool.name for tool in tools))
        if isinstance(step, Say):
            return [self.message(step.text)]
        said = [self.message(step.why)] if step.why else []
        return [*said, *(self.call(call.tool, call.arguments) for call in step.calls)]
