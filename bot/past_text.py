"""Events of the ledger as lines that people read: when, what, who, about what, and why."""

from collections.abc import Callable, Iterable

from approvals.ledger_rows import NOBODY, LedgerRow
from approvals.lifecycle import State, UndoState
from approvals.questions import Found
from bot.blocks import Block, leaf, line, person, when
from bot.language import HOLE, around, say
from bot.text import clip, one_line

#: What only an engineer wants to know; `vobo show` tells it.
HIDDEN = frozenset(
    {"paused", "ready", "claimed", "intended", "unclaimed", "undo_claimed", "undo_intended", "undo_unclaimed"}
)
_REASON, _HEADLINE = 200, 120
#: Event -> what happened. `who` is the name of whoever did it, as it was then.
SAID: dict[str, Callable[[str], str]] = {
    "proposed": lambda _: say("Proposed"),
    "posted": lambda _: say("The card was posted"),
    "reminded": lambda _: say("Reviewers were reminded"),
    "escalated": lambda _: say("The next tier was asked as well"),
    "on_it": lambda who: say("{name} is looking", name=who),
    "approval_counted": lambda who: say("{name} approved; more are needed", name=who),
    "approved": lambda who: say("Approved by {name}", name=who) if who else say("Approved by policy, nobody was asked"),
    "drift_noticed": lambda _: say("Its data was seen to have changed"),
    "drift_over": lambda _: say("Its data was seen to be as it was sealed"),
    "edited": lambda who: say("Edited by {name}", name=who),
    "refreshed": lambda _: say("The edit was checked"),
    "rejected": lambda who: say("Rejected by {name}", name=who) if who else say("Refused by policy"),
    "expired": lambda _: say("Expired: nobody decided in time"),
    "lapsed": lambda _: say("The approval became too old"),
    "refused": lambda _: say("Approved, but a limit did not let it run"),
    "withdrawn": lambda who: say("Taken back by {name}", name=who) if who else say("Taken back"),
    "released": lambda _: say("Changed meanwhile, so it went back to review"),
    "revoked": lambda _: say("An approval no longer counted, so it went back to review"),
    "succeeded": lambda _: say("Carried out; the receipt is kept"),
    "failed": lambda _: say("Tried, and nothing happened"),
    "unknown": lambda _: say("Nobody can tell yet whether it happened"),
    "answered_unknown": lambda _: say("The agent was told that nobody knows"),
    "marked": lambda who: say("{name} said what became of it", name=who),
    "contradicted": lambda _: say("A late receipt contradicts what was said before"),
    "provider_asked": lambda who: say("{name} had the provider asked", name=who),
    "undone": lambda who: say("Undone, as {name} asked", name=who) if who else say("Undone"),
    "undo_failed": lambda _: say("The undo did nothing"),
    "undo_unknown": lambda _: say("Nobody can tell yet whether the undo happened"),
    "undo_contradicted": lambda _: say("A late receipt says that it was undone"),
    "completed": lambda _: say("The run ended"),
    "stopped": lambda _: say("The run was stopped"),
    "run_failed": lambda _: say("The run was interrupted"),
    "requeued": lambda _: say("The run was put back in the queue"),
    "cancelled": lambda who: say("Cancelled by {name}", name=who),
    "decision_refused": lambda who: say("{name} may not decide this", name=who),
    "decision_late": lambda who: say("{name} was too late", name=who),
    "frozen": lambda who: say("Everything was frozen by {name}", name=who),
    "unfrozen": lambda who: say("Effects were let go on by {name}", name=who),
    "canary_caught": lambda who: say("It was a test, and {name} caught it", name=who),
    "canary_missed": lambda who: say("It was a test: approved by {name}, and nothing ran", name=who),
    "canary_unseen": lambda _: say("It was a test; nobody decided in time"),
}


def told_line(found: Found, *, of_run: bool) -> Block:
    """One event. Within a run (`of_run`) its own id is left out; the instant is in the reader's time zone."""
    row = found.row
    parts = [when(row.at, "{date_short_pretty} {time}"), leaf(" "), *_said(row)]
    more = [_about(found), _why(row), *([] if of_run else [row.body.get("run", "")])]
    parts += [leaf(f" · {text}") for text in more if text]
    return line(*parts)


def said_of(row: LedgerRow) -> str:
    """What happened, in a few words."""
    cause = row.body.get("cause")
    if row.type == "settled":
        return say("It is settled: it happened") if cause == State.SUCCEEDED else say("It is settled: nothing happened")
    if row.type == "undo_settled":
        undone = cause == UndoState.UNDONE
        return say("The undo is settled: it was undone") if undone else say("The undo is settled: it was not undone")
    if row.type == "law_changed":
        return say("The {process} started with new rules or reviewers", process=cause or "")
    if row.type == "configuration_changed":
        return say("The {process} started with new settings", process=cause or "")
    words = SAID.get(row.type)
    return words(_who(row)) if words else row.type.replace("_", " ")


def shown_rows(found: Iterable[Found]) -> list[Found]:
    """Without what only an engineer wants to know."""
    return [one for one in found if one.row.type not in HIDDEN]


def is_first_law(row: LedgerRow) -> bool:
    """A new store learns which rules are in force: nothing was changed."""
    return row.type == "law_changed" and row.body.get("reason", "").split()[:2] == ["law", "none"]


def _said(row: LedgerRow) -> list[Block]:
    if row.type == "run_started":  # there the name is the agent's
        before, after = around(say("Asked by {name}", name=HOLE))
        parts = (leaf(before, bold=True) if before else None, person(row.body["actor"]), leaf(after) if after else None)
        return [part for part in parts if part]
    return [leaf(said_of(row), bold=True)]


def _who(row: LedgerRow) -> str:
    actor = row.body.get("actor", "")
    return "" if actor in NOBODY else clip(one_line(row.body.get("name") or actor), 80)


def _about(found: Found) -> str:
    headline = clip(one_line(str(found.shown.get("headline") or "")), _HEADLINE)
    if not headline:
        return clip(one_line(found.row.body.get("tool", "")), _HEADLINE)
    version = found.row.body.get("version", "1")
    return headline if version == "1" else say("{headline} (version {version})", headline=headline, version=version)


def _why(row: LedgerRow) -> str:
    reason = clip(one_line(row.body.get("reason", "")), _REASON)
    return f"“{reason}”" if reason and row.type not in {"run_started", "run_failed"} else reason
