"""What ops is told about records that cannot be trusted. Nothing of the record itself is read or shown."""

from collections.abc import Callable, Mapping

from bot.alerts import alert_message
from bot.blocks import Message
from bot.text import inert


def frozen_alert(frozen: str | None) -> Message:
    """Effects are stopped, or go on again."""
    if frozen is None:
        return alert_message("Effects go on again", "Approved calls run again.", "Nothing is left to do.")
    fix = (
        "Decisions go on; what is approved waits, and lapses. Compare `vobo ledger` with the providers, settle what"
        " differs, then run `vobo unfreeze --reconciled`."
    )
    return alert_message("Everything is frozen", f"No effect can happen: {inert(frozen, 600)}.", fix)


def alarm(kind: str, about: str) -> Message:
    """The message about one alarm; `about` is what follows its kind in the subject."""
    return ALARMS[kind](about)


def _seal(call: str) -> Message:
    text = f"What is stored about call `{inert(call, 100)}` is not what was sealed, so it was refused."
    fix = "Find out who can write to Redis. `vobo ledger` tells what was decided; reject the call and ask again."
    return alert_message("A seal does not fit", text, fix)


def _blob(about: str) -> Message:
    cause, _, rest = about.partition(":")
    kind, _, subject = rest.partition(":")
    place = f"The stored {inert(kind, 40)} of `{inert(subject, 100)}`"
    if cause == "no_key":
        text = f"{place} was encrypted with a key that VOBO_STATE_KEYS does not hold any more. It is kept as it is."
        fix = "Put the old key behind the new one, restart bot, worker and clock, and requeue what has failed."
        return alert_message("A key is missing", text, fix)
    text = f"{place} was changed, is older than it must be, or belongs elsewhere. It was refused and is kept as it is."
    return alert_message("A stored record was changed", text, "Find out who can write to Redis, and freeze meanwhile.")


def _tool(call: str) -> Message:
    text = f"Call `{inert(call, 100)}` waits for an agent or a tool that the worker no longer has. It did not run."
    return alert_message("A tool is gone", text, "Deploy the former agents, or let the call lapse and ask again.")


def _secret(about: str) -> Message:
    text = f"`{inert(about, 100)}` held the value of a configured secret, which was not stored."
    fix = "Find out how the agent got it, and replace the secret."
    return alert_message("A secret was about to be stored", text, fix)


def _anchor(text: str) -> Message:
    row = text.split("-")[1]
    said = f"The ledger's rows up to {inert(row, 20)} are signed. Keep this where it is:\n`{inert(text, 400)}`"
    fix = "`vobo ledger verify --anchor` with this text proves later that none of them was changed or taken away."
    return alert_message("The ledger is anchored", said, fix)


#: The first word of a subject -> its message.
ALARMS: Mapping[str, Callable[[str], Message]] = {
    "seal": _seal,
    "blob": _blob,
    "tool": _tool,
    "secret": _secret,
    "anchor": _anchor,
}
