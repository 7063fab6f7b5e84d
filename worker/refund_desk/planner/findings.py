"""What the lookups of this request gave, and which are still to be made."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from worker.refund_desk.planner.conversation import Conversation
from worker.refund_desk.planner.steps import ToolCall
from worker.refund_desk.planner.wishes import Wanted, Wish

Found = Mapping[str, Any]
#: A period that holds every payment, to learn which day is the newest.
SINCE, UNTIL = "2000-01-01", "2099-12-31"
NEWEST = "newest"


@dataclass(frozen=True, slots=True)
class Findings:
    """The lookups' answers. `troubles` quotes those that are no answer."""

    conversation: Conversation
    wanted: Wanted

    def missing(self) -> tuple[ToolCall, ...]:
        """The lookups that can be made now and were not."""
        made = [(exchange.tool, dict(exchange.arguments)) for exchange in self.conversation.exchanges]
        return tuple(call for call in self._needed() if (call.tool, dict(call.arguments)) not in made)

    @property
    def troubles(self) -> tuple[str, ...]:
        """What lookups said instead of an answer."""
        lookups = self.conversation.of("search_payments", "search_customers", "read_erasure_list", "read_manifest")
        return tuple(
            exchange.output or ""
            for exchange in lookups
            if exchange.output is not None and not self._is_found(exchange.found)
        )

    @property
    def by_id(self) -> bool:
        """The payments are named, so they are searched whatever their day and state."""
        return any(self.wanted.ids("pay", wish) for wish in (Wish.REFUND, Wish.MAIL, Wish.REPORT, Wish.LOOK))

    @property
    def payments_answered(self) -> bool:
        """A search for payments gave an answer, so what it did not find is not there."""
        return self._first("search_payments") is not None

    @property
    def day(self) -> str | None:
        """The day in question: named, or the newest with failed payments. None when there is none."""
        if self.wanted.day is not None:
            return self.wanted.day
        first = self._first("search_payments")
        return None if first is None else first.get("newest_day")

    def payments(self) -> list[Found]:
        """Every payment that was found, each once, oldest first."""
        found: dict[str, Found] = {}
        for answer in self._payment_pages():
            found.update({str(payment["payment_id"]): payment for payment in answer["payments"]})
        return list(found.values())

    def customers(self) -> list[Found]:
        """Every customer that was listed."""
        answers = (exchange.found for exchange in self.conversation.of("search_customers"))
        return [customer for answer in answers if self._is_found(answer) for customer in answer["customers"]]

    def erasure(self) -> Found | None:
        """The erasure list."""
        return self._first("read_erasure_list")

    def manifest(self) -> Found | None:
        """The manifest."""
        return self._first("read_manifest")

    def policy(self) -> str:
        """The policy's text."""
        return next((exchange.output or "" for exchange in self.conversation.of("read_refund_policy")), "")

    def _needed(self) -> Iterator[ToolCall]:
        wanted = self.wanted
        if self._about_payments():
            yield from self._payment_searches()
        if Wish.MAIL in wanted and wanted.campaign():
            yield from self._pages("search_customers", {"text": ""})
        if Wish.DELETE in wanted or wanted.erasure_list(Wish.LOOK):
            yield ToolCall("read_erasure_list", {})
        if Wish.DEPLOY in wanted:
            yield ToolCall("read_manifest", {"manifest_id": (wanted.ids("dep", Wish.DEPLOY) or (NEWEST,))[0]})
        if Wish.POLICY in wanted:
            yield ToolCall("read_refund_policy", {})

    def _about_payments(self) -> bool:
        wanted = self.wanted
        mail = Wish.MAIL in wanted and not wanted.campaign() and not wanted.ids("cus", Wish.MAIL)
        look = Wish.LOOK in wanted and not wanted.erasure_list(Wish.LOOK)
        return Wish.REFUND in wanted or Wish.REPORT in wanted or mail or look

    def _payment_searches(self) -> Iterator[ToolCall]:
        if self.by_id:
            yield from self._pages("search_payments", {"status": "any", "since": SINCE, "until": UNTIL})
            return
        if self.wanted.day is None:
            yield ToolCall("search_payments", {"status": "failed", "since": SINCE, "until": UNTIL, "page": 1})
        if self.day is not None:
            yield from self._pages("search_payments", {"status": "failed", "since": self.day, "until": self.day})

    def _pages(self, tool: str, arguments: Found) -> Iterator[ToolCall]:
        """The first page, and the others once the first one said how many there are."""
        pages = 1
        for exchange in self.conversation.of(tool):
            if exchange.arguments == {**arguments, "page": 1} and self._is_found(exchange.found):
                pages = int(exchange.found["pages"])
        for page in range(1, pages + 1):
            yield ToolCall(tool, {**arguments, "page": page})

    def _payment_pages(self) -> Iterator[Found]:
        for exchange in self.conversation.of("search_payments"):
            probe = exchange.arguments.get("status") == "failed" and exchange.arguments.get("until") == UNTIL
            if self._is_found(exchange.found) and not probe:
                yield exchange.found

    def _first(self, tool: str) -> Found | None:
        return next((each.found for each in self.conversation.of(tool) if self._is_found(each.found)), None)

    @staticmethod
    def _is_found(answer: Any) -> bool:
        return isinstance(answer, dict) and "vobo" not in answer
