"""Steering a workspace from Python: each verb of the control API as a method."""

import json
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from typing import Any, TypeVar

from bot.sandbox.errors import SandboxError
from bot.sandbox.model import Json
from bot.sandbox.pressing import pressed

T = TypeVar("T")


class WorkspaceClient:
    """People at their keyboards. `user` is a user id; `team_id` makes somebody of that id a stranger."""

    def __init__(self, url: str) -> None:
        self.url = url.rstrip("/")
        self.api_url = f"{self.url}/api/"

    def do(self, verb: str, **args: Any) -> Json:
        """Any control verb by name; None arguments are left out.

        Raises:
            SandboxError: the workspace says why it cannot be done.
        """
        body = json.dumps({key: value for key, value in args.items() if value is not None}).encode()
        return self._fetch(f"/_control/{verb}", body)

    def mention(
        self, user: str, channel: str, text: str, thread_ts: str | None = None, team_id: str | None = None
    ) -> Json:
        """Write `@vobo text`; returns channel, ts and the delivery ids."""
        return self.do("mention", user=user, channel=channel, text=text, thread_ts=thread_ts, team_id=team_id)

    def say(self, user: str, channel: str, text: str, thread_ts: str | None = None, team_id: str | None = None) -> Json:
        """Write a message."""
        return self.do("say", user=user, channel=channel, text=text, thread_ts=thread_ts, team_id=team_id)

    def edit(self, user: str, channel: str, ts: str, text: str) -> Json:
        """Change the words of an own message."""
        return self.do("edit", user=user, channel=channel, ts=ts, text=text)

    def slash(
        self, user: str, channel: str, text: str = "", command: str = "/vobo", team_id: str | None = None
    ) -> Json:
        """Run a slash command and wait for its acknowledgement."""
        return self.do("slash", user=user, channel=channel, command=command, text=text, team_id=team_id)

    def click(  # noqa: PLR0917 - where, then what, in reading order
        self,
        user: str,
        channel: str,
        ts: str,
        action_id: str,
        block_id: str | None = None,
        value: str | None = None,
        *,
        chosen: Any = None,
        selected_option: str | None = None,
        team_id: str | None = None,
        stale: bool = False,
    ) -> Json:
        """Press a control of a message and wait for the acknowledgement (`acked` in the result).

        `value` tells buttons of one action id apart; `selected_option` (or `chosen`) is the value of the option taken;
        `stale` presses a control only an older version of the message showed.
        """
        return self.do(
            "click",
            user=user,
            channel=channel,
            ts=ts,
            action_id=action_id,
            block_id=block_id,
            value=value,
            chosen=selected_option if chosen is None else chosen,
            team_id=team_id,
            stale=stale,
        )

    def click_view(
        self,
        user: str,
        action_id: str,
        block_id: str | None = None,
        value: str | None = None,
        *,
        chosen: Any = None,
        home: bool = False,
        team_id: str | None = None,
    ) -> Json:
        """Press a control in the open modal, or with `home` in the app home."""
        return self.do(
            "click_view",
            user=user,
            action_id=action_id,
            block_id=block_id,
            value=value,
            chosen=chosen,
            home=home,
            team_id=team_id,
        )

    def view(self, user: str, team_id: str | None = None) -> Json | None:
        """The modal this person sees, with `errors`, or None."""
        found: Json | None = self.do("view", user=user, team_id=team_id)["view"]
        return found

    def submit(self, user: str, values: Json | None = None, *, force: bool = False, team_id: str | None = None) -> Json:
        """Submit the top modal; `{block_id: {action_id: text | option value | [option values]}}` over the initial
        values. Returns ok, sent, acked and errors by block id. `force` skips the client's own checks.
        """
        return self.do("submit", user=user, values=values or {}, force=force, team_id=team_id)

    def close_view(self, user: str, *, everything: bool = False, team_id: str | None = None) -> Json:
        """Close the top modal, or all."""
        return self.do("close_view", user=user, everything=everything, team_id=team_id)

    def open_home(self, user: str, team_id: str | None = None) -> Json:
        """Look at the app home (sends app_home_opened)."""
        return self.do("open_home", user=user, team_id=team_id)

    def home(self, user: str, team_id: str | None = None) -> Json | None:
        """The app home published for this person, or None."""
        found: Json | None = self.do("home", user=user, team_id=team_id)["view"]
        return found

    def messages(self, channel: str, thread_ts: str | None = None, *, user: str | None = None) -> list[Json]:
        """Messages of a channel or thread, oldest first. Without `user` only those everybody sees; with it that
        person's ephemeral ones too.
        """
        found: list[Json] = self.do("messages", channel=channel)["messages"]
        return [
            one
            for one in found
            if one["only_for"] in (None, user) and (thread_ts is None or thread_ts in (one["ts"], one.get("thread_ts")))
        ]

    def message(self, channel: str, ts: str) -> Json:
        """One message.

        Raises:
            SandboxError: it is not there.
        """
        for one in self.do("messages", channel=channel)["messages"]:
            if one["ts"] == ts:
                return dict(one)
        raise SandboxError(f"There is no message {ts} in {channel}.")

    def ephemerals(self, user: str, channel: str) -> list[Json]:
        """What only this person sees in a channel."""
        return [one for one in self.messages(channel, user=user) if one["only_for"] == user]

    def state(self) -> Json:
        """Everything: channels, views, homes, notices, faults, connections."""
        return self.do("state")

    def notices(self, user: str) -> list[str]:
        """Slack's own warnings this person got."""
        return [one["text"] for one in self.state()["notices"] if one["user"] == user]

    def deliveries(self, kind: str | None = None) -> list[Json]:
        """The log of deliveries: app_mention, message, block_actions, view_submission, view_closed, slash_command."""
        found: list[Json] = self.do("deliveries", kind=kind)["deliveries"]
        return found

    def calls(self, method: str | None = None) -> list[Json]:
        """The Web API calls the app made: method, args, outcome."""
        found: list[Json] = self._fetch("/_control/calls", None)["calls"]
        return [one for one in found if method in (None, one["method"])]

    def fault(self, method: str, kind: str, count: int = 1, **details: Any) -> Json:
        """Plan a misfortune: kind error (error=), http (status=, retry_after=), delay (seconds=), cut_before,
        cut_after; `skip` lets that many calls pass first; method `*` is any, `response_url` those.
        """
        return self.do("fault", method=method, kind=kind, count=count, **details)

    def duplicate_next(self, count: int = 1) -> Json:
        """The next deliveries arrive twice."""
        return self.do("deliveries_fault", duplicate=count)

    def lose_next(self, count: int = 1) -> Json:
        """The next attempts to deliver vanish."""
        return self.do("deliveries_fault", lose=count)

    def lose_next_acks(self, count: int = 1) -> Json:
        """The next deliveries arrive, but their acknowledgement is lost."""
        return self.do("deliveries_fault", lose_acks=count)

    def clear_faults(self) -> Json:
        """Good weather."""
        return self.do("clear_faults")

    def drop_connections(self, *, politely: bool = False) -> int:
        """End all Socket Mode connections; returns how many there were."""
        return int(self.do("drop_connections", politely=politely)["dropped"])

    def deafen(self) -> int:
        """All Socket Mode connections stay open and go silent; returns how many there were."""
        return int(self.do("deafen")["deaf"])

    def archive(self, channel: str, *, archived: bool = True) -> Json:
        """Archive a channel, or bring it back."""
        return self.do("channel", channel=channel, archived=archived)

    def remove_bot(self, channel: str, *, removed: bool = True) -> Json:
        """Take the bot out of a channel, or put it back."""
        return self.do("channel", channel=channel, bot_is_member=not removed)

    def revoke_token(self, *, revoked: bool = True) -> Json:
        """Revoke the app's tokens, or give them back."""
        return self.do("token", revoked=revoked)

    def expire_tokens(self) -> Json:
        """Every token that can run out has done so now."""
        return self.do("expire_tokens")

    def uninstall(self) -> Json:
        """Somebody removes the app: its tokens are void, and it is told so."""
        return self.do("uninstall")

    def allow(self, url: str, *, allow: bool = True) -> str:
        """Press Allow (or Cancel) on the page that asks whether to install the app; returns where the browser goes."""
        return pressed(self.url, url, "allow" if allow else "cancel")

    def rate_limits(self, *, on: bool = True, burst: int | None = None, per_second: float | None = None) -> Json:
        """Rate limits on or off."""
        return self.do("rate_limits", on=on, burst=burst, per_second=per_second)

    def set_user(self, user: str, **flags: Any) -> Json:
        """Change what users.info says: deleted, is_restricted, is_bot, is_stranger, team_id, locale, tz, ..."""
        return self.do("user", user=user, **flags)

    def set_usergroup(self, usergroup: str, users: list[str]) -> Json:
        """Set the members of a user group."""
        return self.do("usergroup", usergroup=usergroup, users=users)

    def advance(self, seconds: float) -> Json:
        """Let time pass for triggers, response URLs and rate limits."""
        return self.do("advance", seconds=seconds)

    def until(self, probe: Callable[[], T | None], seconds: float = 10.0, what: str = "the condition") -> T:
        """Poll until `probe` gives something truthy, and return that.

        Raises:
            SandboxError: it did not within `seconds`.
        """
        deadline = time.monotonic() + seconds
        while True:
            found = probe()
            if found:
                return found
            if time.monotonic() > deadline:
                raise SandboxError(f"Waited {seconds} s in vain for {what}.")
            time.sleep(0.03)

    def wait_message(
        self,
        channel: str,
        containing: str,
        thread_ts: str | None = None,
        *,
        user: str | None = None,
        seconds: float = 10.0,
    ) -> Json:
        """Wait for a message whose text or blocks contain some words; the newest one that does."""

        def probe() -> Json | None:
            found = self.messages(channel, thread_ts, user=user)
            fitting = [m for m in found if containing in m["text"] + json.dumps(m.get("blocks"), ensure_ascii=False)]
            return fitting[-1] if fitting else None

        return self.until(probe, seconds, f"a message containing {containing!r} in {channel}")

    def wait_connected(self, seconds: float = 10.0) -> None:
        """Wait until the bot has a Socket Mode connection."""
        self.until(lambda: self.state()["connections"], seconds, "a Socket Mode connection")

    def _fetch(self, path: str, body: bytes | None) -> Json:
        headers = {"Content-Type": "application/json"}
        request = urllib.request.Request(self.url + path, body, headers)  # noqa: S310 - our own http URL
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        try:
            with opener.open(request, timeout=60) as answer:
                return dict(json.load(answer))
        except urllib.error.HTTPError as refused:
            with refused:
                text = refused.read().decode()
            raise SandboxError(json.loads(text)["error"] if text.startswith("{") else text) from None
