"""The modals each person has open, at most three deep, and the app homes."""

import copy
from dataclasses import dataclass, field

from bot.sandbox import limits
from bot.sandbox.errors import SlackError
from bot.sandbox.model import Actor, Json
from bot.sandbox.seed import APP_ID, BOT_ID
from bot.sandbox.world import World


@dataclass
class View:
    """One open modal or one app home."""

    id: str
    body: Json
    actor: Actor
    hash: str
    root_id: str
    team_id: str
    previous_id: str | None = None
    state: Json = field(default_factory=dict)
    errors: dict[str, str] = field(default_factory=dict)

    def to_slack(self, values: Json | None = None) -> Json:
        """As Slack writes it in payloads and answers."""
        defaults = {"private_metadata": "", "callback_id": "", "external_id": "", "title": None, "close": None}
        flags = {"submit": None, "clear_on_close": False, "notify_on_close": False}
        return copy.deepcopy(
            {
                **defaults,
                **flags,
                **self.body,
                "id": self.id,
                "team_id": self.team_id,
                "state": {"values": values or {}},
                "hash": self.hash,
                "previous_view_id": self.previous_id,
                "root_view_id": self.root_id,
                "app_id": APP_ID,
                "app_installed_team_id": self.team_id,
                "bot_id": BOT_ID,
            }
        )


class ViewStacks:
    """Who has which views open."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._open: dict[Actor, list[View]] = {}
        self.homes: dict[str, View] = {}

    def stack(self, actor: Actor) -> list[View]:
        """The open modals of a person, bottom first."""
        return self._open.get(actor, [])

    def everything(self) -> dict[Actor, list[View]]:
        """All stacks that hold something."""
        return {actor: stack for actor, stack in self._open.items() if stack}

    def top(self, actor: Actor) -> View | None:
        """What the person sees."""
        stack = self.stack(actor)
        return stack[-1] if stack else None

    def open(self, actor: Actor, body: Json) -> View:
        """Show a first modal, in place of whatever was open."""
        self._open[actor] = []
        return self.push(actor, body)

    def push(self, actor: Actor, body: Json) -> View:
        """Put a modal on top.

        Raises:
            SlackError: push_limit_reached at three, duplicate_external_id.
        """
        stack = self._open.setdefault(actor, [])
        if len(stack) >= limits.VIEW_STACK:
            raise SlackError("push_limit_reached")
        self._refuse_known_external_id(body)
        made = self._made(actor, body)
        if stack:
            made.root_id, made.previous_id = stack[0].id, stack[-1].id
        stack.append(made)
        self._world.changed()
        return made

    def publish(self, user: str, body: Json, expected: str | None) -> View:
        """Replace a person's app home.

        Raises:
            SlackError: hash_conflict.
        """
        old = self.homes.get(user)
        if old is not None:
            self._refuse_stale(old, expected)
        made = self._made(self._world.actor(user), body)
        made.id = made.root_id = old.id if old else made.id
        self.homes[user] = made
        self._world.changed()
        return made

    def home(self, actor: Actor) -> View | None:
        """The app home of this very person: ids repeat from one company to another."""
        shown = self.homes.get(actor.id)
        return shown if shown and shown.actor == actor else None

    def replace(self, view: View, body: Json, expected: str | None = None) -> View:
        """Change what an open view shows; typed values of inputs that stay are kept.

        Raises:
            SlackError: hash_conflict.
        """
        self._refuse_stale(view, expected)
        view.body = self._named(body)
        view.hash = self._hash()
        view.errors = {}
        kept = {block["block_id"] for block in view.body["blocks"]}
        view.state = {block_id: value for block_id, value in view.state.items() if block_id in kept}
        self._world.changed()
        return view

    def find(self, view_id: object, external_id: object) -> View:
        """An open view by either id.

        Raises:
            SlackError: not_found.
        """
        everything = [view for stack in self._open.values() for view in stack] + list(self.homes.values())
        for view in everything:
            if view_id and view.id == view_id:
                return view
            if external_id and view.body.get("external_id") == external_id:
                return view
        raise SlackError("not_found")

    def pop(self, actor: Actor) -> View | None:
        """Close what is on top."""
        stack = self.stack(actor)
        closed = stack.pop() if stack else None
        self._world.changed()
        return closed

    def clear(self, actor: Actor) -> list[View]:
        """Close everything, top first."""
        closed = list(reversed(self._open.pop(actor, [])))
        self._world.changed()
        return closed

    def _made(self, actor: Actor, body: Json) -> View:
        view_id = f"V{self._world.token().upper()}"
        return View(view_id, self._named(body), actor, self._hash(), view_id, self._world.home_team)

    def _named(self, body: Json) -> Json:
        return {**copy.deepcopy(body), "blocks": self._world.named(body["blocks"]) or []}

    def _hash(self) -> str:
        return f"{int(self._world.clock.now())}.{self._world.token()}"

    def _refuse_stale(self, view: View, expected: str | None) -> None:
        # An empty string is a mismatch like any other; only an absent hash is not compared.
        if expected is not None and expected != view.hash:
            raise SlackError("hash_conflict")

    def _refuse_known_external_id(self, body: Json) -> None:
        external = body.get("external_id")
        known = {view.body.get("external_id") for stack in self._open.values() for view in stack}
        if external and external in known:
            raise SlackError("duplicate_external_id")
