"""Every modal in every state it can be opened in."""

from collections.abc import Callable, Iterator
from typing import Annotated, Any

from pydantic import Field

from approvals.models import Call
from bot.details import detail_pages
from bot.edit_modal import about_call, edit_modal, nothing_to_edit, with_rows
from bot.ids import CallbackId, Place
from bot.modals import View, details_modal, loading, refusal
from bot.reject_modal import reject_modal
from bot.review_modal import Reviewed, review_modal, review_sure_modal
from bot.settle_modal import settle_modal
from bot.text import inert
from bot_builders import AnyLaw, a_decision
from every_card import drifted, of, one_of_two, pending_calls
from policies.arguments import Arguments
from policies.edits import AtMostProposed, EditField, OneOf, SubsetOfProposed, Text, edit_fields
from policies.money import Money
from screen_words import Words

Made = tuple[str, Callable[[Words], View]]
PLACE = Place(ref="call_000000000001:1", channel="C_REFUNDS", thread_ts="1780000000.000100")


class Line(Arguments):
    payment_id: str
    amount: Annotated[Money, AtMostProposed()]


class Refund(Arguments):
    """Refund."""

    lines: Annotated[list[Line], SubsetOfProposed(key="payment_id"), Field(min_length=1)]
    why: Annotated[str, OneOf("duplicate", "goodwill")] = "duplicate"
    note: Annotated[str, Text(max=5000)] = ""


def a_refund(words: Words, lines: int) -> Refund:
    amount = Money(minor=31240, currency="EUR")
    named = [Line(payment_id=f"{words.of('pay')[:300]}_{at:04d}", amount=amount) for at in range(lines)]
    return Refund(lines=named, note=words.of("The customer paid twice.")[:5_000])


def modals() -> Iterator[Made]:
    """Every modal."""
    for callback in CallbackId:
        yield f"loading {callback}", lambda _, callback=callback: loading(callback, "Decide each call", PLACE)
    yield "nothing to edit", lambda _: nothing_to_edit(PLACE, 88)
    yield "edit nothing", lambda _: edit_modal((), PLACE, 88)
    for lines in (1, 2, 38, 100, 300):
        name = f"edit {lines} lines"
        yield name, lambda w, lines=lines: edit_modal(edit_fields(a_refund(w, lines)), PLACE, 88)
    yield "reject one", lambda _: reject_modal("call 88", PLACE)
    yield "reject all", lambda _: reject_modal("all 8 calls", PLACE, number=8)
    yield "refused", lambda w: refusal("Reject", inert(w.must("You approved this.")))
    yield from reviews()
    for callback in (CallbackId.MARK_DONE, CallbackId.MARK_NOT_DONE):
        for needed in (1, 2):
            name = f"{callback}, {needed} needed"
            yield name, lambda w, c=callback, n=needed: settle_modal(w.call(), c, PLACE, needed=n)
    yield from details()


def reviews() -> Iterator[Made]:
    """The window for a whole card, and the question on top of it."""
    for name, pending in pending_calls():
        yield f"review: {name}", lambda w, pending=pending: review_modal(of(w, pending(w)), PLACE, AnyLaw())
        yield f"review, sure: {name}", lambda w, pending=pending: _sure(w, pending(w))
    yield "review of eight", lambda w: review_modal(of(w, *_eight(w)), PLACE, AnyLaw())
    yield "review of what is approved already", lambda w: review_modal(of(w, one_of_two(w)), PLACE, AnyLaw(), "U0001")
    yield "review of eight, sure", lambda w: _sure(w, *_eight(w))
    yield "review, sure, one left open", lambda w: _sure(w, drifted(w), w.call(2), w.call(3), chosen=2)
    yield "edit a call with an approval", lambda w: edit_modal(_rows(w), PLACE, 1, about_call(one_of_two(w)))


def _eight(words: Words) -> list[Call]:
    return [words.call(at) for at in range(1, 9)]


def _rows(words: Words) -> tuple[EditField, ...]:
    return with_rows(edit_fields(a_refund(words, 3)), words.call())


def _sure(words: Words, *calls: Call, chosen: int = 8) -> View:
    """Every second call is rejected."""
    said = [Reviewed(call.key, at % 2 == 0, words.must("paid already")) for at, call in enumerate(calls[:chosen])]
    return review_sure_modal(of(words, *calls), said, PLACE, AnyLaw())


def details() -> Iterator[Made]:
    """The details of every call, and each page of long ones."""
    for name, pending in pending_calls():
        yield f"details: {name}", lambda w, pending=pending: details_modal(pending(w), PLACE)
    yield "details with history", lambda w: details_modal(_with_history(w), PLACE)
    for page in ("first", "middle", "last"):
        yield f"details, {page} page", lambda w, page=page: _page(w, page)


def _with_history(words: Words) -> Any:
    call = words.call(version=9)
    said = [
        a_decision(call, verdict, version=at, name=words.must("Bruno Billing"), reason=words.of("no"))
        for at in range(1, 9)
        for verdict in ("approve", "edit")
    ]
    return call.model_copy(update={"decisions": tuple(said)})


def _page(words: Words, which: str) -> View:
    call = words.call(content=words.content(requested="long " * 60_000))
    last = len(detail_pages(call)) - 1
    assert last > 1
    page = {"first": 0, "middle": last // 2, "last": last}[which]
    return details_modal(call, PLACE.model_copy(update={"page": page}))
