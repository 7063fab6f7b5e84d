"""Every message and view the bot can send, by name: one list for the oracles, the languages and whoever looks.

A screen is made from `Words`, so that each can also be made of one hostile text. `test_every_screen` finds every
renderer of the bot and fails when this list does not use it: a new screen cannot be forgotten.
"""

import ast
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import oracle_limits
from block_rules import assert_message, assert_view
from bot.blocks import Message
from bot.modals import View
from every_card import cards, reminders
from every_home import homes
from every_modal import modals
from every_past import reports, windows
from every_told import alerts, told
from every_undo import undos
from oracle_types import unlike_a_view, unlike_slacks
from screen_words import Words

BOT = Path(__file__).resolve().parent.parent / "bot"
SCREENS: dict[str, Callable[[Words], Message | View]] = dict(
    [*cards(), *reminders(), *told(), *alerts(), *modals(), *homes(), *windows(), *reports(), *undos()]
)
#: What a renderer of ours is called or gives; whatever needs the store is shown by the tests that have one.
ENDINGS = ("_modal", "_view", "_alert")
GIVES = frozenset({"Message", "Message | None", "View", "View | None"})
NEEDS = frozenset({"self", "store", "deps"})


def assert_slack_takes(screen: Message | View) -> None:
    """Both oracles and our own rules have nothing against it."""
    if isinstance(screen, Message):
        assert list(unlike_slacks(screen.blocks)) == []
        oracle_limits.build_message(screen.text, screen.blocks)
        assert_message(screen)
    else:
        assert list(unlike_a_view(screen)) == []
        oracle_limits.build_view(screen)
        assert_view(screen)


def renderers(folder: Path = BOT) -> Iterator[tuple[str, str]]:
    """File and name of every function that makes a screen from values alone."""
    for path in sorted(folder.glob("*.py")):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.FunctionDef) and _renders(node):
                yield str(path), node.name


def _renders(node: ast.FunctionDef) -> bool:
    gives = ast.unparse(node.returns) if node.returns else ""
    takes = {one.arg for one in (*node.args.args, *node.args.kwonlyargs)}
    named = node.name.startswith("render_") or node.name.endswith(ENDINGS)
    return (named or gives in GIVES) and not takes & NEEDS


@contextmanager
def noting_calls() -> Iterator[set[tuple[str, str]]]:
    """File and name of every function called meanwhile, in this thread."""
    seen: set[CodeType] = set()
    found: set[tuple[str, str]] = set()
    before = sys.getprofile()

    def note(frame: FrameType, event: str, _: Any) -> None:
        if event == "call":
            seen.add(frame.f_code)

    sys.setprofile(note)
    try:
        yield found
    finally:
        sys.setprofile(before)
        found.update((code.co_filename, code.co_name) for code in seen)


def forgotten(screens: Iterable[Callable[[Words], Message | View]]) -> list[str]:
    """The renderers that none of these screens uses."""
    with noting_calls() as used:
        for make in screens:
            make(Words())
    return [f"{Path(file).name}: {name}" for file, name in renderers() if (file, name) not in used]
