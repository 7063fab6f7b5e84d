"""`python bench/preset.py`: prints the text that `approvals/blob_preset.txt` was made from; see approvals/packing.py.

What the Agents SDK and vobo write around a team's values, whatever the agent: names, punctuation, enumerations. The
values themselves are emptied, so the text knows nothing about anybody's data. The committed file never changes: blobs
in Redis need it. A better one would be another file and another method.
"""

import json
import re
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tests"), str(ROOT / "bench")]

from agents.testing import function_call  # noqa: E402 - as below
from desk_runs import a_server  # noqa: E402 - beside this file

from builders import a_requirement  # noqa: E402 - the values of the tests, found through the path above
from policies.money import eur  # noqa: E402 - this checkout, wherever it is started from
from policies.requirement import Spending  # noqa: E402 - as above
from worker.watch import is_call_id  # noqa: E402 - as above
from workshop import Workshop, shipping  # noqa: E402 - the engine's smallest agent, found through the path above

#: Texts of the SDK and of vobo that are the same in every run: kinds, states, modes.
_ENUMERATION = re.compile(r"[a-z]+(_[a-z]+)*")
_OF_THE_SHOP = {"ship", "find", "label", "cup", "pot", "pan", "desk", "ann", "item", "stock", "keep", "default"}
_LEAST = 4


def text() -> str:
    """The boilerplate, what is most often needed last: matches cost less the nearer they are."""
    with a_server(fsync=False) as store:
        shop = Workshop(
            store,
            store.runs.client,
            [function_call("find", {"item": "cup"}, call_id="f1")],
            [shipping(("cup", 2), call_id="c1"), shipping(("pot", 3), call_id="c2")],
        )
        shop.start()
        state = store.runs.load_state("run_1") or b""
        contents = [call.content.model_dump_json() for call in shop.calls()]
    money = a_requirement(
        amount=eur(0), counts={"": eur(0)}, spends=(Spending(cap="", amounts={"": eur(0)}, limit=eur(0)),)
    )
    parts = [money.model_dump_json(), *contents[:1], state.decode()]
    return "".join(json.dumps(_emptied(json.loads(part)), separators=(",", ":")) for part in parts)


def _emptied(value: Any) -> Any:
    if isinstance(value, dict):
        return {(name if _is_ours(name) else ""): _emptied(each) for name, each in value.items()}
    if isinstance(value, list):
        return [_emptied(each) for each in value]
    if isinstance(value, str):
        said = len(value) >= _LEAST and _ENUMERATION.fullmatch(value) and value not in _OF_THE_SHOP
        return value if said else ""
    return value


def _is_ours(name: str) -> bool:
    """Not a name of the shop's, no digest of a tool and no random id of a call."""
    return name not in _OF_THE_SHOP and not re.search(r"[0-9/]", name) and (name.islower() or not is_call_id(name))


if __name__ == "__main__":
    sys.stdout.write(text())
