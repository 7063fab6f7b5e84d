"""What ops is told about records that cannot be trusted. Nothing of the record itself is read or shown."""

from collections.abc import Callable, Mapping, Sequence

from approvals.switches import Freeze
from bot.alerts import alert_message
from bot.blocks import Message
from bot.language import say, say_count
from bot.text import inert
from bot.what_words import full_stop

#: Characters of all reasons for a freeze together, and of the one that a message is about.
_REASONS, _ITS_OWN = 2_000, 1_500


def frozen_alert(reasons: Sequence[Freeze], subject: str = "") -> Message:
    """Effects are stopped, or go on again. The reason that `frozen:<at>:<number>` names comes first."""
    if not reasons:
        return alert_message(
            say("Effects go on again"), say("Approved calls run again."), say("Nothing is left to do.")
        )
    fix = say(
        "Decisions go on; what is approved waits, and lapses. Compare `vobo ledger` with the providers, settle what"
        " differs, then run `vobo unfreeze --reconciled`."
    )
    own = [one for number, one in enumerate(reasons, 1) if subject == f"frozen:{one.at}:{number}"]
    text = f"{say('No effect can happen.')} {_in_order([*own, *(one for one in reasons if one not in own)])}"
    return alert_message(say("Everything is frozen"), text, fix)


def _in_order(reasons: Sequence[Freeze]) -> str:
    """As many as there is room for, and how many more there are."""
    shown = [inert(str(reasons[0]), _ITS_OWN)]
    for one in reasons[1:]:
        text = inert(str(one))
        if sum(map(len, [*shown, text])) > _REASONS:
            break
        shown.append(text)
    said, more = full_stop(f"Frozen {'; '.join(shown)}"), len(reasons) - len(shown)
    if not more:
        return said
    rest = say_count(
        more,
        "And {number} more reason: `vobo doctor` names all.",
        "And {number} more reasons: `vobo doctor` names all.",
    )
    return f"{said} {rest}"


def alarm(kind: str, about: str) -> Message:
    """The message about one alarm; `about` is what follows its kind in the subject."""
    return ALARMS[kind](about)


def _seal(call: str) -> Message:
    text = say("What is stored about call `{call}` is not what was sealed, so it was refused.", call=inert(call, 100))
    fix = say("Find out who can write to Redis. `vobo ledger` tells what was decided; reject the call and ask again.")
    return alert_message(say("A seal does not fit"), text, fix)


def _blob(about: str) -> Message:
    cause, _, rest = about.partition(":")
    kind, _, subject = rest.partition(":")
    place = {"kind": inert(kind, 40), "subject": inert(subject, 100)}
    if cause == "no_key":
        text = say(
            "The stored {kind} of `{subject}` was encrypted with a key that VOBO_STATE_KEYS does not hold any more."
            " It is kept as it is.",
            **place,
        )
        fix = say("Put the old key behind the new one, restart bot, worker and clock, and requeue what has failed.")
        return alert_message(say("A key is missing"), text, fix)
    text = say(
        "The stored {kind} of `{subject}` was changed, is older than it must be, or belongs elsewhere."
        " It was refused and is kept as it is.",
        **place,
    )
    fix = say("Find out who can write to Redis, and freeze meanwhile.")
    return alert_message(say("A stored record was changed"), text, fix)


def _tool(call: str) -> Message:
    text = say(
        "Call `{call}` waits for an agent or a tool that the worker no longer has. It did not run.",
        call=inert(call, 100),
    )
    fix = say("Deploy the former agents, or let the call lapse and ask again.")
    return alert_message(say("A tool is gone"), text, fix)


def _secret(about: str) -> Message:
    text = say("`{place}` held the value of a configured secret, which was not stored.", place=inert(about, 100))
    fix = say("Find out how the agent got it, and replace the secret.")
    return alert_message(say("A secret was about to be stored"), text, fix)


def _anchor(text: str) -> Message:
    row = text.split("-")[1]
    said = say(
        "The ledger's rows up to {row} are signed. Keep this where it is:\n`{anchor}`",
        row=inert(row, 20),
        anchor=inert(text, 400),
    )
    fix = say("`vobo ledger verify --anchor` with this text proves later that none of them was changed or taken away.")
    return alert_message(say("The ledger is anchored"), said, fix)


def _not_kept(day: str) -> Message:
    text = say(
        "On {day} the ledger's database refused an event even when it came alone. All others are kept; in its place"
        " stands a row that says why.",
        day=inert(day, 20),
    )
    fix = say(
        "`vobo ledger --type not_kept` lists such rows. What the event said stands in `ledger_personal`, kind `event`."
        " Tell the maintainers why it was refused."
    )
    return alert_message(say("An event could not be kept"), text, fix)


def _undrained(about: str) -> Message:
    key = inert(about.partition(":")[0], 20)
    text = say(
        "Events wait in Redis and are not in the ledger: they need the key `{key}`, which the VOBO_STATE_KEYS of"
        " whoever drains them does not hold. Nothing is lost; effects and decisions go on.",
        key=key,
    )
    fix = say(
        "Put that key behind the newest one and restart bot, worker and clock. Only when it is lost for good:"
        " `vobo ledger drain --without-key {key} --reason ...` keeps the events without their personal values.",
        key=key,
    )
    return alert_message(say("The ledger waits for a key"), text, fix)


def _gate(call: str) -> Message:
    text = say(
        "Call `{call}` could not be taken through the gate: its check or preview gave no answer in time, or something"
        " failed there that nobody foresaw. Nothing of it ran; the other calls of its card go on.",
        call=inert(call, 100),
    )
    fix = say(
        "The worker's log says where: most often a check, a preview or a validator of the team's. Repair that; while"
        " the call is approved it is tried again every few seconds, until its approval lapses."
    )
    return alert_message(say("A call cannot be carried out"), text, fix)


def _unsent(entry: str) -> Message:
    text = say(
        "The message `{entry}` could not be made or sent: something failed that nobody foresaw. All others go on.",
        entry=inert(entry, 200),
    )
    fix = say("The bot's log says where it failed. It is tried again with growing pauses.")
    return alert_message(say("A message cannot be made"), text, fix)


#: The first word of a subject -> its message.
ALARMS: Mapping[str, Callable[[str], Message]] = {
    "seal": _seal,
    "blob": _blob,
    "tool": _tool,
    "secret": _secret,
    "anchor": _anchor,
    "not_kept": _not_kept,
    "undrained": _undrained,
    "gate": _gate,
    "unsent": _unsent,
}
