"""The Home tab as a reviewer reads it: what waits, filters, pages, and what was decided lately."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from approvals.inbox import Choice, Cursor, digest
from approvals.lifecycle import Cause, State
from block_rules import assert_view, controls
from bot.home import PAGE, Home, Lately, Waiting, render_home, render_outsider, render_unavailable
from bot.home_state import HomeState, place, place_text
from bot.home_visits import LATELY_S, Visits
from bot.ids import IdRefused
from bot.modals import View
from bot_builders import NOW, a_call, a_content, a_decision, a_preview, a_requirement, a_view
from policies.money import Money

LINK = "https://home.example.test/archives/C_REFUNDS/p1780000000000200?thread_ts=1780000000.000100&cid=C_REFUNDS"
HOSTILE = "<@U0001> <!channel> *bold* <https://evil.test|here> \u202egnp.exe\u202c :tada: & \x07"


def waiting(number: int = 1, **changes: Any) -> Waiting:
    call = a_call(number, **changes)
    view = a_view(call, id=f"batch_{number}", decide_by=NOW + number * 60_000)
    return Waiting(view, view.calls, LINK)


def home(*cards: Waiting, state: HomeState | None = None, **changes: Any) -> Home:
    fields: dict[str, Any] = {"waiting_in_all": len(cards), "waiting": cards, "radii": ("refunds in EUR",)}
    return Home(state=state or HomeState(), **{**fields, **changes})


def words(view: dict[str, Any]) -> str:
    return json.dumps(view["blocks"], ensure_ascii=False)


def by_id(view: dict[str, Any], block_id: str) -> dict[str, Any]:
    return next(block for block in view["blocks"] if block.get("block_id") == block_id)


def test_nothing_waits_and_nobody_is_shown_an_empty_form() -> None:
    view = render_home(home())
    assert_view(view)
    assert "Nothing waits for you. What needs your decision appears here" in words(view)
    assert [one["action_id"] for one in controls(view["blocks"])] == ["home.page"]
    assert "do not name you as a reviewer" in words(render_home(home(reviewer=False)))


def test_one_card_is_a_row_with_what_how_much_until_when_who_and_where() -> None:
    view = render_home(home(waiting()))
    assert_view(view)
    text = words(view)
    assert "*1 card* waits for you." in text
    assert "refunds in EUR · " in text
    assert "Refund 1 payment, 312.40 EUR" in text
    assert {"type": "user", "user_id": "U0005"} in view["blocks"][-1]["elements"][1]["elements"]
    assert {"type": "link", "url": LINK, "text": "Open the card"} in view["blocks"][-1]["elements"][1]["elements"]
    (date,) = [one for one in view["blocks"][-1]["elements"][1]["elements"] if one["type"] == "date"]
    assert date["timestamp"] == (NOW + 60_000) // 1000
    assert "home:next" not in text
    assert "home:back" not in text


def test_a_card_of_many_calls_counts_those_it_does_not_list() -> None:
    calls = tuple(a_call(number) for number in range(1, 8))
    view = render_home(home(Waiting(a_view(*calls), calls)))
    assert "refunds in EUR: 7 calls, 2,186.80 EUR" in words(view)
    assert "and 4 more" in words(view)
    assert "Open the card" not in words(view)  # nobody knows where it stands


def test_the_longest_page_with_everything_on_it_stays_within_slacks_limits() -> None:
    long = a_content(preview=a_preview(headline="x" * 5_000), requirement=a_requirement(radius="y" * 5_000))
    cards = []
    for number in range(PAGE):
        calls = tuple(a_call(8 * number + at, content=long) for at in range(8))
        seen = a_view(
            *calls, id=f"batch_{number}", radius="y" * 5_000, on_it="U1", on_it_name="z" * 500, escalated_at=1
        )
        cards.append(Waiting(seen, calls, LINK, over_limit=True))
    one = a_call(content=long, state=State.REJECTED, cause=Cause.PERSON, reason="r" * 5_000)
    decided = a_decision(one, "reject")
    lately = [Lately(one.model_copy(update={"decisions": (decided,)}), decided, LINK)] * 20
    place_ = f"{NOW}:{'b' * 128}"
    state = HomeState(radius="f" * 40, requester="U" + "1" * 40, due="hour", start=place_, first=place_, next=place_)
    people = [(f"U{number:05d}", "n" * 300) for number in range(200)]
    full = home(*cards, state=state, waiting_in_all=100_000, matching=250, lately=lately, requesters=people)
    view = render_home(Home(**{**vars_of(full), "radii": [f"{at} " + "r" * 300 for at in range(200)], "switches": "s"}))
    assert_view(view)
    assert "*100,000 cards* wait for you. 250 match the filters." in words(view)


def vars_of(one: Home) -> dict[str, Any]:
    return {name: getattr(one, name) for name in one.__slots__}


def test_hostile_text_is_never_live_anywhere() -> None:
    content = a_content(preview=a_preview(headline=HOSTILE), requirement=a_requirement(radius=HOSTILE))
    call = a_call(content=content, state=State.REJECTED, cause=Cause.PERSON, reason=HOSTILE)
    decision = a_decision(call, "reject", name=HOSTILE, reason=HOSTILE)
    view = a_view(call, radius=HOSTILE, on_it="U1", on_it_name=HOSTILE)
    card = Waiting(view, view.calls, LINK)
    lately = Lately(call.model_copy(update={"decisions": (decision,)}), decision, LINK)
    made = render_home(home(card, lately=[lately], radii=[HOSTILE], requesters=[("U7", HOSTILE)]))
    assert_view(made)
    text = words(made)
    assert "\u202e" not in text
    assert "U+202E" in text
    for block in made["blocks"]:
        if block["type"] in {"section", "context"}:  # only these read markup
            assert "evil" not in json.dumps(block)
        if block["type"] == "actions":
            assert "<@U0001>" not in json.dumps(block)
    assert {one["user_id"] for one in found(made, "user")} == {"U0005"}
    assert {one["url"] for one in found(made, "link")} == {LINK}


def found(value: Any, kind: str) -> list[dict[str, Any]]:
    if isinstance(value, list):
        return [one for part in value for one in found(part, kind)]
    if isinstance(value, dict):
        own = [value] if value.get("type") == kind else []
        return own + [one for part in value.values() for one in found(part, kind)]
    return []


def test_masked_columns_of_a_preview_are_not_on_the_tab() -> None:
    assert "anna@example.test" not in words(render_home(home(waiting())))


def test_notes_say_who_decided_already_who_is_on_it_and_what_is_over_ones_limit() -> None:
    need = a_requirement(reviewers=2, amount=Money(minor=31240, currency="EUR"))
    call = a_call(content=a_content(requirement=need))
    call = call.model_copy(update={"decisions": (a_decision(call),)})
    view = a_view(call, on_it="U0001", on_it_name="Bruno & Co", escalated_at=NOW)
    text = words(render_home(home(Waiting(view, view.calls, LINK, over_limit=True))))
    assert "one more approval needed" in text
    assert "Bruno & Co is on it" in text
    assert "the next tier may decide too" in text
    assert "over your limit: lower the amount, or reject it" in text


def test_250_cards_are_turned_page_by_page() -> None:
    cards = [waiting(number) for number in range(1, PAGE + 1)]
    state = HomeState(start=f"{NOW}:batch_1", first=f"{NOW}:batch_1", next=f"{NOW + 1}:batch_21")
    view = render_home(home(*cards, state=state, waiting_in_all=250))
    assert_view(view)
    assert by_id(view, "home:back")["elements"][0]["value"] == "back"
    assert by_id(view, "home:next")["elements"][0]["value"] == "next"
    assert HomeState.read(view["private_metadata"]) == state
    last = render_home(home(state=HomeState(start=f"{NOW}:batch_1"), waiting_in_all=250))
    assert "No further card here." in words(last)


def test_each_filter_shows_what_is_chosen_even_when_nothing_of_it_waits_any_more() -> None:
    state = HomeState(radius=digest("deploys"), requester="U0005", due="today")
    view = render_home(home(state=state, waiting_in_all=3, matching=0, requesters=[("U0005", "Rosa")]))
    assert_view(view)
    chosen = {
        kind: by_id(view, f"home:{kind}")["elements"][0]["initial_option"] for kind in ("radius", "requester", "due")
    }
    assert chosen["radius"]["text"]["text"] == "Chosen before; nothing of it waits"
    assert chosen["requester"]["text"]["text"] == "Rosa"
    assert chosen["due"]["value"] == "due:today"
    assert "Nothing that waits for you matches the filters." in words(view)
    assert "0 match the filters." in words(view)
    untouched = render_home(home(waiting()))
    assert by_id(untouched, "home:radius")["elements"][0]["initial_option"]["value"] == "radius:-"
    assert controls(render_home(home(state=state))["blocks"])[1:]  # they stay, so that they can be taken back


def test_what_was_decided_lately_says_what_i_said_and_how_it_stands_now() -> None:
    done = a_call(1, State.SUCCEEDED, ended_at=NOW + 5_000)
    decision = a_decision(done)
    lately = [Lately(done.model_copy(update={"decisions": (decision,)}), decision, LINK)]
    edited = a_call(2)
    lately.append(Lately(edited, a_decision(edited, "edit")))
    text = words(render_home(home(lately=lately)))
    assert "You approved (" in text
    assert "Done at " in text
    assert "You edited (" in text
    assert "Waiting for one approval from billing." in text


@pytest.mark.parametrize("render", [render_outsider, render_unavailable])
def test_a_sentence_is_all_that_others_see(render: Callable[[], View]) -> None:
    view = render()
    assert_view(view)
    assert len(view["blocks"]) == 1
    assert view["private_metadata"] == "{}"


@pytest.mark.parametrize(
    "metadata",
    [
        "",
        "{",
        '{"radius": "../../x"}',
        '{"start": "1:a b"}',
        '{"other": 1}',
        '{"requester": "U1:x"}',
        '{"due": "week"}',
    ],
)
def test_metadata_that_is_not_ours_is_a_fresh_start(metadata: str) -> None:
    assert HomeState.read(metadata) == HomeState()


def test_a_filter_starts_again_at_the_first_page_and_keeps_the_others() -> None:
    state = HomeState(due="hour", start=f"{NOW}:b", first=f"{NOW}:b", next=f"{NOW}:c")
    narrowed = state.filtered(f"radius:{digest('x')}")
    assert narrowed == HomeState(radius=digest("x"), due="hour")
    assert narrowed.filtered("due:-") == HomeState(radius=digest("x"))
    assert narrowed.filtered("radius:-").filtered("due:-").narrowed is False
    for strange in ("start:1:b", "radius:x", "requester:nobody", "due:never", "", "radius"):
        with pytest.raises(IdRefused):
            state.filtered(strange)


def test_today_ends_at_midnight_where_the_reader_is() -> None:
    noon = 1_780_056_000_000  # 2026-05-29 12:00 UTC
    assert HomeState(due="today").choice(noon, "UTC") == Choice(until=noon + 12 * 3_600_000)
    assert HomeState(due="today").choice(noon, "Europe/Madrid") == Choice(until=noon + 10 * 3_600_000)
    assert HomeState(due="today").choice(noon, "Not/AZone") == Choice(until=noon + 12 * 3_600_000)
    assert HomeState(due="hour").choice(noon, "UTC") == Choice(until=noon + 3_600_000)
    assert HomeState(requester="U1").choice(noon, "UTC") == Choice(requester="U1")


def test_a_place_survives_being_written() -> None:
    assert place(place_text(Cursor(NOW, "batch_1"))) == Cursor(NOW, "batch_1")
    assert place(place_text(None)) is None


def test_a_tab_is_shown_anew_once_for_several_decisions_and_only_if_it_was_looked_at_lately() -> None:
    now = [0.0]
    visits = Visits(lambda: now[0])
    assert not visits.want("U1")
    visits.note("U1", HomeState(due="hour"))
    assert visits.want("U1")
    assert not visits.want("U1")
    assert visits.take("U1") == HomeState(due="hour")
    assert visits.want("U1")
    visits.take("U1")
    now[0] = LATELY_S
    assert not visits.want("U1")
    visits.note("U2", HomeState())
    assert visits.take("U1") is None  # forgotten
