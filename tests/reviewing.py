"""What people do in the sandbox, for the demo and the end-to-end tests: find a card, press, fill its modals."""

import json
from collections.abc import Callable
from typing import Any

from stack import Stack, until

CHANNEL = "C_REFUNDS"
OPS = "C_OPS"
ROSA, BRUNO, OLGA, OMAR, RITA = "U0005", "U0001", "U0002", "U0003", "U0004"
REQUEST = "refund yesterday's failed payments, mail the affected customers and delete the customers on the erasure list"

Json = dict[str, Any]


def text_of(message: Json) -> str:
    """Everything a person could read in a message."""
    return message["text"] + "\n" + json.dumps(message.get("blocks") or [], ensure_ascii=False)


def calls_on(message: Json) -> list[str]:
    """The block ids of the calls on a card that can still be decided."""
    return [block["block_id"] for block in message.get("blocks") or [] if block["block_id"].startswith("call:")]


class Thread:
    """One run's thread as the people in it see it."""

    def __init__(self, stack: Stack, ts: str, channel: str = CHANNEL) -> None:
        self.stack, self.ts, self.channel = stack, ts, channel
        self.slack = stack.slack

    def messages(self) -> list[Json]:
        """All messages of the thread, oldest first."""
        return self.slack.messages(self.channel, self.ts)

    def cards(self) -> list[Json]:
        """Messages that ask for a decision."""
        return [message for message in self.messages() if calls_on(message)]

    def wait_for(self, words: str, seconds: float = 30) -> Json:
        """The newest message with these words, once there is one."""

        def look() -> Json | None:
            found = [message for message in self.messages() if words in text_of(message)]
            return found[-1] if found else None

        return until(look, f"a message with {words!r} in the thread", seconds, self.stack.home)

    def wait_for_cards(self, number: int, seconds: float = 40) -> list[Json]:
        """The cards, once there are so many."""
        return until(
            lambda: cards if len(cards := self.cards()) >= number else None,
            f"{number} cards in the thread",
            seconds,
            self.stack.home,
        )

    def call(self, words: str) -> tuple[str, str]:
        """The card's ts and the block id of the open call whose part of a card has these words."""

        def look() -> tuple[str, str] | None:
            for card in self.cards():
                part: list[str] = []
                for block in card["blocks"]:
                    part.append(json.dumps(block, ensure_ascii=False))
                    if block["block_id"].startswith("call:"):
                        if words in "\n".join(part):
                            return card["ts"], block["block_id"]
                        part = []
            return None

        return until(look, f"an open call with {words!r}", 20, self.stack.home)

    def press(self, user: str, control: str, words: str) -> Json:
        """Press a control of the call with these words."""
        ts, block_id = self.call(words)
        return self.slack.click(user, self.channel, ts, control, block_id)

    def modal(self, user: str, ready: str = "input") -> Json:
        """The modal this person sees, once it is no longer loading."""

        def look() -> Json | None:
            view = self.slack.view(user)
            return view if view and any(block["type"] == ready for block in view["blocks"]) else None

        return until(look, f"a modal for {user}", 10, self.stack.home)

    def approve(self, user: str, words: str) -> Json:
        """Approve the call with these words."""
        return self.press(user, "call.approve", words)

    def approve_as_told(self, user: str, words: str, done: Callable[[], bool], what: str, seconds: float = 60) -> None:
        """Approve, and again each time the private answer asks for it, until `done`.

        Whoever dies between the posting of a card and its recording leaves a card that cannot be decided yet.
        """

        def told() -> list[Json]:
            return [one for one in self.slack.ephemerals(user, self.channel) if "Press the button again" in one["text"]]

        def look() -> bool:
            nonlocal heard
            if not done() and len(told()) > heard:
                heard = len(told())
                self.approve(user, words)
            return done()

        heard = len(told())
        self.approve(user, words)
        until(look, what, seconds, self.stack.home)

    def reject(self, user: str, words: str, reason: str) -> Json:
        """Reject the call with these words, giving a reason."""
        self.press(user, "call.reject", words)
        view = self.modal(user)
        block = next(block for block in view["blocks"] if block.get("block_id", "").startswith("reason"))
        typed = {block["block_id"]: {block["element"]["action_id"]: reason}}
        return self.slack.submit(user, {"common": {"value": "own"}, **typed})

    def _choose_line(self, user: str, view: Json, label: str) -> None:
        """Choose the value with these words among those that have no input yet."""
        select = next(block["accessory"] for block in view["blocks"] if block["block_id"].startswith("line:"))
        chosen = next(one["value"] for one in select["options"] if label in one["text"]["text"])
        self.slack.click_view(user, select["action_id"], chosen=chosen)

    def edit(self, user: str, words: str, label: str, typed: str) -> Json:
        """Type something else into the field whose label has these words, after choosing it where there are many."""
        self.press(user, "call.edit", words)
        view = self.modal(user)
        if _field(view, label) is None:
            self._choose_line(user, view, label)
            view = until(lambda: v if _field(v := self.slack.view(user), label) else None, f"an input for {label}", 10)
        field = _field(view, label)
        assert field, f"there is no input for {label}"
        return self.slack.submit(user, {field["block_id"]: {field["element"]["action_id"]: typed}})


def _field(view: Json, label: str) -> Json | None:
    """The text input whose label has these words."""
    for block in view["blocks"]:
        typed = block.get("block_id", "").startswith("arg:") and block["element"]["type"] == "plain_text_input"
        if typed and label in json.dumps(block["label"]):
            return dict(block)
    return None


def start(stack: Stack, request: str = REQUEST, user: str = ROSA, channel: str = CHANNEL) -> Thread:
    """Mention the bot and return the thread that follows."""
    said = stack.slack.mention(user, channel, request)
    return Thread(stack, said["ts"], channel)
