"""The reasons of a rejection that can be chosen: kept in English, as all that is kept, and shown in the reader's."""

from bot.language import ENGLISH, say, speaking


def common_reasons() -> tuple[str, ...]:
    """What people say most, in the reader's language; the order is what their values count."""
    return (
        say("The amount is wrong"),
        say("The wrong rows or recipients"),
        say("Already done"),
        say("Not needed any more"),
        say("I need to know more first"),
    )


def kept_reasons() -> tuple[str, ...]:
    """The same as the ledger keeps them and the agent is told."""
    with speaking(ENGLISH):
        return common_reasons()


def shown_reason(kept: str) -> str:
    """A kept reason for whoever reads: what was chosen in their language, what was typed as it was typed."""
    for english, said in zip(kept_reasons(), common_reasons(), strict=True):
        if kept == english or kept.startswith(f"{english}: "):
            return f"{said}{kept[len(english) :]}"
    return kept
