"""Effects of which nobody knows how they ended."""

from approvals.lifecycle import State
from approvals.models import Call
from workshop import Workshop, saying, shipping


def fall() -> None:
    """What a tool raises when it breaks off."""
    raise ConnectionError("the shelf fell")


def unanswered(workshop: Workshop) -> Call:
    """An approved call whose effect gave no answer a moment ago."""
    workshop.script.extend([[shipping(("cup", 3))], [saying()]])
    workshop.shop.before_effect = fall
    workshop.start()
    assert workshop.decide(workshop.calls()[0]).ok
    workshop.execute()
    (call,) = workshop.calls()
    assert call.state is State.UNKNOWN
    return call
