"""What ops reads while a worker may still be at work on what nobody knows the end of."""

import pytest

from approvals.lifecycle import State, UndoState
from approvals.models import Undo
from block_rules import all_text
from bot.alerts import unknown_alert
from bot.language import speaking
from bot.refusals import still_at_work
from bot.undo_alert import undo_alert
from bot_builders import NOW, a_call, a_run

AT = 1_780_000_000_000  # 20:26:40 UTC
SAID = f"A worker may still be at work on it until <!date^{AT // 1000 + 20}^"


@pytest.mark.parametrize(
    ("until", "time"), [(AT, "20:27"), (AT + 19_999, "20:27"), (AT + 20_000, "20:27"), (AT + 20_001, "20:28")]
)
def test_the_time_to_come_back_at_is_a_whole_minute_and_never_too_early(until: int, time: str) -> None:
    assert f"until {time} UTC. Look at the provider again then" in still_at_work(until)


def test_the_time_is_the_readers() -> None:
    with speaking("es-ES", "Europe/Madrid"):
        assert "hasta 22:27." in still_at_work(AT)


def alerts(until: int | None, now: int | None) -> list[str]:
    """What ops is told about a call, and about an undo."""
    call = a_call(1, State.UNKNOWN).model_copy(update={"at_work_until": until})
    undo = Undo(
        state=UndoState.UNKNOWN, seal="s", by="U0002", name="Olga", at=NOW, missing=0, ended_at=NOW, at_work_until=until
    )
    undone = a_call(1, State.SUCCEEDED).model_copy(update={"undo": undo})
    about_undo = undo_alert(undone, a_run(), now=now)
    assert about_undo
    return [all_text(unknown_alert(call, a_run(), now=now).blocks), all_text(about_undo.blocks)]


def test_ops_reads_until_when_a_worker_may_be_at_work_on_it() -> None:
    assert all(SAID in said for said in alerts(AT, AT - 1))


@pytest.mark.parametrize(("until", "now"), [(AT, AT), (AT, AT + 1), (None, AT), (AT, None)])
def test_ops_reads_nothing_of_it_when_that_is_over_or_unknown(until: int | None, now: int | None) -> None:
    assert not any("at work" in said for said in alerts(until, now))
