"""A sandbox workspace, a real store and the real bot between them."""

import base64
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import redis

from approvals.lifecycle import State
from approvals.models import Call, CallContent, PauseWrite, ProposedBatch, ProposedCall
from approvals.sealing import Subject, sealed
from approvals.store import Store
from bot.assembly import Bot, assemble
from bot.sandbox import Workspace
from bot.serving import Served
from bot.settings import BotSettings
from bot_builders import a_content
from free_ports import free_port
from policies.arguments import canonical_text
from policies.money import Money
from policies.rules.refunds import RefundLine, RefundPayments
from sent import assert_all_sent_is_sound

T = TypeVar("T")
Json = dict[str, Any]
ROSA, BRUNO, OLGA, OMAR, RITA, GUS, DORA, XENA = (
    "U0005", "U0001", "U0002", "U0003", "U0004", "U0007", "U0006", "U0009",
)  # fmt: skip
CHANNEL, OPS = "C_REFUNDS", "C_OPS"
REVIEWERS = Path(__file__).resolve().parent.parent / "policies" / "rules" / "reviewers.toml"
STATE_KEY = base64.b64encode(bytes(range(32))).decode()
SECRET = "sandbox-signing-secret"


def settings_for(workspace: Workspace, redis_url: str, **changes: Any) -> BotSettings:
    fields = {
        "redis_url": redis_url,
        "state_keys": STATE_KEY,
        "reviewers": REVIEWERS,
        "bot_token": "xoxb-sandbox",
        "api_url": workspace.api_url,
        "ops_channel": OPS,
    }
    return BotSettings.read(_env_file=None, **{**fields, **changes})


class Office:
    """People at their keyboards, and the bot they talk to."""

    def __init__(self, workspace: Workspace, bot: Bot | Served, client: redis.Redis) -> None:
        self.slack, self.bot, self.client = workspace, bot, client

    @property
    def store(self) -> Store:
        return self.bot.deps.store

    def until(self, look: Callable[[], T | None], what: str, seconds: float = 8) -> T:
        deadline = time.monotonic() + seconds
        while True:
            seen = look()
            if seen:
                return seen
            assert time.monotonic() < deadline, f"waited {seconds} s, but not: {what}"
            time.sleep(0.03)

    def start(self, request: str = "refund the failed payments", user: str = ROSA) -> tuple[str, str]:
        """A run by mention: its id and its thread."""
        thread = self.slack.mention(user, CHANNEL, request)["ts"]
        run = self.until(lambda: self.store.runs.newest_in_thread(CHANNEL, thread), "the run is recorded")
        return run.id, thread

    def pause(self, run: str, *calls: ProposedCall, ttl_s: int = 900, lapse_s: int = 600) -> str:
        """End the run's turn with these calls on one card; returns the batch."""
        batch = self.store.new_id("batch")
        keys = tuple(call.key for call in calls)
        proposed = ProposedBatch(
            id=batch, radius="refunds in EUR", number=1, calls=keys, has_card=True, ttl_s=ttl_s, lapse_s=lapse_s
        )
        lease = self.store.runs.lease(run, token="worker", ttl_ms=60_000)
        assert lease
        requester = self.store.runs.load(run).requester  # type: ignore[union-attr]
        placed = tuple(
            call.model_copy(update={"batch": batch, "seal": self.seal(run, call, requester)}) for call in calls
        )
        answer = self.store.runs.pause(lease, PauseWrite(state=b"{}", turns=1, calls=placed, batches=(proposed,)))
        assert answer.ok, answer
        return batch

    def seal(self, run: str, call: ProposedCall, requester: str) -> str:
        subject = Subject(
            tenant=self.store.tenant, run=run, requester=requester, key=call.key, agent=call.agent, tool=call.tool
        )
        return sealed(subject, call.content, version=1)

    def run_the_batch(self, batch: str) -> None:
        """What the worker does with approved calls; it needs no Slack."""
        store = self.store
        lease = store.batches.lease(batch, token="w", ttl_ms=60_000)
        assert lease
        for call in store.batches.claimable(batch):
            people = [person for one in call.decisions if (person := store.people.get(one.reviewer))]
            answer, claim = store.effects.claim(
                call.key, lease=lease, token="c", seal=call.seal, ttl_ms=60_000, people=people, day="2026-11-29"
            )
            assert claim, answer
            assert store.effects.intend(claim).ok
            assert store.effects.succeed(claim, receipt="{}").ok
        store.batches.finish(lease)

    def card(self, batch: str) -> Json:
        """The card in Slack, once it can be decided."""
        view = self.until(lambda: self._posted(batch), "the card is posted")
        return self.slack.message(CHANNEL, str(view.batch.ts))

    def _posted(self, batch: str) -> Any:
        view = self.store.batches.view(batch)
        return view if view and view.batch.posted_at else None

    def card_with(self, batch: str, words: str) -> Json:
        """The card, once it shows these words."""

        def look() -> Json | None:
            card = self.card(batch)
            return card if words in readable(card) else None

        return self.until(look, f"the card shows {words!r}; it shows {readable(self.card(batch))}")

    def press(self, user: str, batch: str, control: str, call: str | None = None, **options: Any) -> Json:
        """Press a control of the card."""
        block = f"call:{call}" if call else None
        return self.slack.click(user, CHANNEL, self.card(batch)["ts"], control, block, **options)

    def told(self, user: str, words: str) -> str:
        """The private answer with these words."""

        def look() -> str | None:
            texts = [one["text"] for one in self.slack.ephemerals(user, CHANNEL)]
            return next((text for text in texts if words in text), None)

        return self.until(look, f"{user} is told {words!r}; told so far: {self.slack.ephemerals(user, CHANNEL)}")

    def modal(self, user: str) -> Json:
        """The modal, once it can be filled in or read."""

        def look() -> Json | None:
            view = self.slack.view(user)
            loading = view and any(words in str(view["blocks"]) for words in ("One moment", "Un momento"))
            return view if view and not loading else None

        return self.until(look, f"{user} sees a modal")

    def call(self, key: str) -> Call:
        found = self.store.calls.load(key)
        assert found
        return found

    def state(self, key: str, state: State) -> Call:
        """The call, once it is in this state."""
        self.until(lambda: self.call(key).state is state, f"{key} is {state}, not {self.call(key).state}")
        return self.call(key)


def readable(message: Json) -> str:
    """Everything a person could read in a message."""
    return f"{message['text']} {message.get('blocks')}"


def a_refund(
    *amounts: int, reviewers: int = 1, number: int = 1, key: str | None = None, **changes: Any
) -> ProposedCall:
    """A refund of these amounts in cents, as the worker writes it at a pause."""
    args = RefundPayments(
        lines=[
            RefundLine(payment_id=f"pay_{at:04d}", amount=Money(minor=minor, currency="EUR"))
            for at, minor in enumerate(amounts, start=1)
        ],
        reason="failed_capture",
    )
    content = refund_content(args, reviewers=reviewers, **changes)
    key = key or f"call_{number:012d}"
    return ProposedCall(
        key=key,
        sdk_id=f"sdk{number}",
        number=number,
        agent="desk",
        tool="refund_payments",
        batch=None,
        state=State.PENDING_REVIEW,
        content=content,
        seal=f"{number:02d}" * 32,
    )


def refund_content(args: RefundPayments, *, reviewers: int = 1, **changes: Any) -> CallContent:
    total = sum(line.amount.minor for line in args.lines)
    text = canonical_text(args)
    base = a_content()
    money = Money(minor=total, currency="EUR")
    requirement = base.requirement.model_copy(update={"reviewers": reviewers, "amount": money})
    preview = base.preview.model_copy(update={"headline": f"Refund {len(args.lines)} payments, {money}"})
    fields = {"requested": text, "arguments": text, "requirement": requirement, "preview": preview}
    return base.model_copy(update={**fields, **changes})


@contextmanager
def running(redis_url: str, client: redis.Redis, *, over: str = "http", **changes: Any) -> Iterator[Office]:
    """Workspace and bot for the length of a test; over HTTP unless Socket Mode is what the test is about."""
    port = free_port()
    http = {"deliver_to": f"http://127.0.0.1:{port}/slack/events", "signing_secret": SECRET}
    with Workspace.serve(**(http if over == "http" else {})) as workspace:
        transport = {"signing_secret": SECRET, "port": port} if over == "http" else {"app_token": "xapp-sandbox"}
        bot = assemble(settings_for(workspace, redis_url, **transport, **changes))
        bot.deps.store.ledger.vouch(bot.deps.store.ledger.server())  # as the clock does at its first tick
        bot.start()
        try:
            yield Office(workspace, bot, client)
            assert_all_sent_is_sound(workspace)
        finally:
            bot.stop()
