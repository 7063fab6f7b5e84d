"""Every key in Redis, and only here.

All keys start with one prefix per tenant, and scripts derive theirs from it (`scripts/_keys.lua` mirrors this file,
a test compares them). That ties the project to a single Redis or a Sentinel primary: a cluster wants every key of
a script in one slot, and RQ does not run on one either.
"""

import re
from urllib.parse import quote

from approvals.errors import ApprovalsError

#: Behind a tenant's prefix: written only so that its writer can wait for the replicas.
WAITED = "waited"
#: Likewise: written only to see whether the server takes it.
PROBED = "probed"

_ID = re.compile(r"[A-Za-z0-9_.-]{1,128}")


class BadIdError(ApprovalsError):
    """An id that could be mistaken for part of another key."""


def checked_id(value: str) -> str:
    """`value`, if it can stand in a key.

    Raises:
        BadIdError: it is empty, over 128 characters, or holds more than letters, digits, `_`, `.` and `-`.
    """
    if not _ID.fullmatch(value):
        raise BadIdError(f"{value!r} cannot be an id; use 1 to 128 letters, digits, '_', '.' or '-'.")
    return value


def delivery_key(prefix: str, digest: str) -> str:
    """String: which process took up this delivery of Slack's; forgotten after minutes. No script reads it."""
    return f"{prefix}delivery:{digest}"


def canary_key(prefix: str, slot: str) -> str:
    """String: the canary of this slot of a week was tried; forgotten after days. No script reads it."""
    return f"{prefix}canary:{slot}"


class Keys:
    """The keys of one tenant. Names equal those in `scripts/_keys.lua`."""

    def __init__(self, tenant: str) -> None:
        self.prefix = f"vobo:{checked_id(tenant)}:"
        self.outbox = f"{self.prefix}outbox"  # zset: entry id -> when to send next
        self.wakeups = f"{self.prefix}wakeups"  # zset: job:argument -> when to enqueue next
        self.attempts = f"{self.prefix}attempts"  # hash: job:argument -> how often enqueued
        self.deadlines = f"{self.prefix}deadlines"  # zset: kind:subject -> due instant
        self.ledger = f"{self.prefix}ledger"  # stream of events, until drained into SQL
        self.lead = f"{self.prefix}lead"  # hash: which relay leads
        self.frozen = f"{self.prefix}frozen"  # hash: who froze everything, and why
        self.vouched = f"{self.prefix}vouched"  # hash: the server that may claim, the newest drained event
        self.told = f"{self.prefix}told"  # hash: Slack id -> when a card notified it last
        self.withdrawn = f"{self.prefix}withdrawn"  # hash: tool -> until when nobody is asked about it
        self.switches = f"{self.prefix}switches"  # hash: home_team, self_approval, which tiers are empty
        self.tallies = f"{self.prefix}tallies"  # hash: what happened so far, and how many calls are where
        self.pending = f"{self.prefix}pending"  # zset: blast radius -> how many of its calls wait for a person
        self.waiting = f"{self.prefix}waiting"  # zset: batch -> since when one of its calls waits for a person
        self.owed = f"{self.prefix}owed"  # zset: entry id, other than alerts -> since when it is owed
        self.reached = f"{self.prefix}reached"  # hash: channel, or any -> when Slack took a message there last
        self.inbox_groups = f"{self.prefix}inbox_groups"  # zset: group of batches that wait -> how many
        self.watched = f"{self.prefix}watched"  # set: everybody who has calls among what they decided lately
        self.dead_letters = f"{self.prefix}dead_letters"  # set: run:id, call:key, undo:key that wait for an operator

    def run(self, run: str) -> str:
        """Hash: the run."""
        return f"{self.prefix}run:{run}"

    def saved(self, run: str) -> str:
        """Hash: the run's saved state (encrypted) and its revision."""
        return f"{self.prefix}run:{run}:saved"

    def counts(self, run: str) -> str:
        """Hash: call key -> what the call adds to the run's sums."""
        return f"{self.prefix}run:{run}:counts"

    def pause_calls(self, run: str, pause: int | str) -> str:
        """List: the calls of one pause."""
        return f"{self.prefix}pause:{run}:{pause}:calls"

    def pause_batches(self, run: str, pause: int | str) -> str:
        """List: the batches of one pause."""
        return f"{self.prefix}pause:{run}:{pause}:batches"

    def pause_open(self, run: str, pause: int | str) -> str:
        """Set: calls of the pause that waited for a person. Written by version 0.1 alone, forgotten with its run."""
        return f"{self.prefix}pause:{run}:{pause}:open"

    def unanswered(self, run: str, pause: int | str) -> str:
        """Set: calls of the pause that the run still waits for."""
        return f"{self.prefix}pause:{run}:{pause}:unanswered"

    def batch(self, batch: str) -> str:
        """Hash: the batch."""
        return f"{self.prefix}batch:{batch}"

    def batch_calls(self, batch: str) -> str:
        """List: its calls, in the order of their numbers."""
        return f"{self.prefix}batch:{batch}:calls"

    def batch_open(self, batch: str) -> str:
        """Set: its calls that wait for a person."""
        return f"{self.prefix}batch:{batch}:open"

    def batch_told(self, batch: str) -> str:
        """Set: the users who got a direct message about the card."""
        return f"{self.prefix}batch:{batch}:told"

    def call(self, call: str) -> str:
        """Hash: the call."""
        return f"{self.prefix}call:{call}"

    def votes(self, call: str) -> str:
        """Hash: reviewer -> decision on the current version."""
        return f"{self.prefix}call:{call}:votes"

    def decisions(self, call: str) -> str:
        """List: every decision ever made on the call."""
        return f"{self.prefix}call:{call}:decisions"

    def undo_votes(self, call: str) -> str:
        """Hash: who wants the call undone -> when, and their name."""
        return f"{self.prefix}call:{call}:undo_votes"

    def deciders(self, call: str) -> str:
        """Set: the reviewers who have the call among what they decided lately, or had."""
        return f"{self.prefix}call:{call}:deciders"

    def spent(self, call: str) -> str:
        """List: the caps in which the call holds an amount."""
        return f"{self.prefix}call:{call}:spent"

    def at_work(self, subject: str) -> str:
        """String: the effect of this call, or of `undo:call`, may be at work; gone after half a minute."""
        return f"{self.prefix}at_work:{subject}"

    def thread(self, channel: str, thread_ts: str) -> str:
        """String: the newest run of a thread."""
        return f"{self.prefix}thread:{channel}:{thread_ts}"

    def vetoes(self, channel: str, thread_ts: str) -> str:
        """Hash: tool|resource -> the sentence of the rejection."""
        return f"{self.prefix}vetoes:{channel}:{thread_ts}"

    def corrections(self, channel: str, thread_ts: str) -> str:
        """Hash: tool|resource -> the sentence of a rejection that allows one new proposal."""
        return f"{self.prefix}corrections:{channel}:{thread_ts}"

    def heard(self, slack_id: str) -> str:
        """Sorted set: the cards that notified this user or usergroup within the last hour -> when."""
        return f"{self.prefix}heard:{slack_id}"

    def inbox(self, group: str, choice: str) -> str:
        """Sorted set: batches of a group -> until when they can be decided. `choice` is `<radius>.<requester>`.

        The radius is its SHA-1, since it is free text; either side may be empty: whatever it is.
        """
        return f"{self.prefix}inbox:{group}:{choice}"

    def inbox_radii(self, group: str) -> str:
        """Sorted set: radius -> how many batches of the group have it."""
        return f"{self.prefix}inbox_radii:{group}"

    def inbox_requesters(self, group: str) -> str:
        """Sorted set: requester -> how many batches of the group are theirs."""
        return f"{self.prefix}inbox_requesters:{group}"

    def decided(self, user: str) -> str:
        """Sorted set: the last calls this reviewer decided -> when."""
        return f"{self.prefix}decided:{user}"

    def person(self, user: str) -> str:
        """Hash: the snapshot of a Slack user."""
        return f"{self.prefix}person:{user}"

    def members(self, group: str) -> str:
        """Hash: who Slack says belongs to a usergroup."""
        return f"{self.prefix}members:{group}"

    def entry(self, entry: str) -> str:
        """Hash: one entry of the outbox."""
        return f"{self.prefix}outbox:{entry}"

    def report(self, week: str) -> str:
        """Hash: the report of a week on its way to ops."""
        return f"{self.prefix}report:{week}"

    def report_lease(self, week: str) -> str:
        """String: which clock makes the report of a week."""
        return f"{self.report(week)}:lease"

    def cap(self, name: str, currency: str, key: str, window: str) -> str:
        """Hash: call key -> minor units reserved. Names and keys are a team's free text, hence the quoting."""
        return f"{self.prefix}cap:{quote(name, safe='')}:{currency}:{quote(key, safe='')}:{window}"
