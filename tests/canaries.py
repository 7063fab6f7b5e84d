"""Canaries for tests: a reviewers.toml that opts in, and planting one."""

from typing import Any

from approvals.canaries import AGENT, Planted
from approvals.models import Call
from approvals.planting import plant
from approvals.store import Store
from builders import a_content, a_requirement, loaded
from policies.law import Law
from policies.requirement import Canary

ASKER, CHANNEL, OPENED = "U0ASK", "C0PAY", "1.0"
ODDITY = "The account was opened an hour ago."
CANARIES = f"""
[canaries]
channel = "{CHANNEL}"
requester = "{ASKER}"
[[canaries.calls]]
tool = "ship"
radius = "stock of ann"
tier = "desk"
request = "send bob his pans"
headline = "Ship 40 pans"
impact = ["1 customer"]
because = "More than one item: somebody must look."
reason = "Bob is waiting."
oddity = "{ODDITY}"
agent = "desk"
[canaries.calls.arguments]
item = "pan"
"""


def a_canary_content(**changes: Any) -> Any:
    """What is stored of a canary's call."""
    return a_content(requirement=a_requirement(canary=Canary(agent="desk", oddity=ODDITY), **changes))


def a_canary(**changes: Any) -> Planted:
    """A canary as it is written, whatever the law says."""
    fields = {
        "run": "run_c",
        "batch": "batch_c",
        "call": "call_c",
        "sdk_id": "x",
        "tool": "ship",
        "content": a_canary_content(),
        "seal": "seal-c",
        "request": "send bob his pans",
        "requester": ASKER,
        "channel": CHANNEL,
        "started_as": "",
        "notify": ("U0ANA",),
    }
    return Planted(**{**fields, **changes})


def planted(store: Store, law: Law, *, posted: bool = True) -> Call:
    """The call of a canary that was planted now; its card stands in Slack."""
    tried = plant(store, law, 0)
    assert tried.run, tried.why
    (call,) = store.calls.of_pause(tried.run, 1)
    assert call.agent == AGENT
    store.outbox.delivered(f"opening:{tried.run}", version=1, channel=CHANNEL, ts=OPENED)
    if posted:
        assert store.batches.record_posted(str(call.batch), channel=CHANNEL, ts="1.1").ok
    return loaded(store, call.key)
