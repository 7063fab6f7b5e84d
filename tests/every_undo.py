"""Taking a call back: its message in the thread, on card and outcome, and what ops is told when nobody saw it."""

from collections.abc import Callable, Iterator

from approvals.lifecycle import State, UndoState
from approvals.models import Call, Undo
from bot.blocks import Message
from bot.outcome import render_outcome
from bot.undo_alert import undo_alert
from bot.undo_text import render_undo
from bot_builders import NOW, a_pause
from every_card import card, of
from policies.money import eur
from policies.requirement import Spending
from screen_words import Words

Made = tuple[str, Callable[[Words], Message]]
ENDED = (UndoState.UNDONE, UndoState.FAILED, UndoState.UNKNOWN)


def undos() -> Iterator[Made]:
    """Every message about an undo."""
    for state in UndoState:
        yield f"card, undo {state.value}", lambda w, state=state: card(of(w, _ran(w, state)))
        yield f"outcome, undo {state.value}", lambda w, state=state: render_outcome(a_pause(_ran(w, state)))
        yield f"outcome, late receipt, undo {state.value}", lambda w, s=state: render_outcome(a_pause(_late(w, s)))
        yield f"alert: late receipt, undo {state.value}", lambda w, s=state: _there(undo_alert(_late(w, s), w.run()))
        yield f"alert: undo, now {state.value}", lambda w, state=state: _there(undo_alert(_ran(w, state), w.run()))
    for state in ENDED:
        yield f"undo {state.value}", lambda w, state=state: _there(render_undo(_ran(w, state)))
    yield (
        "alert: one operator says undone",
        lambda w: _there(undo_alert(_ran(w, UndoState.UNKNOWN), w.run(), (w.must("Omar"), UndoState.UNDONE.value))),
    )


def _ran(words: Words, state: UndoState) -> Call:
    spends = (Spending(cap="refunds", amounts={"cus_1": eur(10)}, limit=eur(600)),)
    content = words.content(requirement=words.requirement(undo=words.must("Pay it back."), spends=spends))
    undo = Undo(
        state=state,
        seal="s" * 64,
        by="U0002",
        name=words.must("Olga"),
        at=NOW,
        missing=1,
        ended_at=NOW if state in ENDED else None,
        reason=words.of("the provider said no"),
    )
    return words.ended(1, State.SUCCEEDED, content=content, undo=undo, receipt="{}")


def _late(words: Words, state: UndoState) -> Call:
    call = _ran(words, state)
    assert call.undo is not None
    return call.model_copy(update={"undo": call.undo.model_copy(update={"contradicted": True})})


def _there(message: Message | None) -> Message:
    assert message is not None
    return message
