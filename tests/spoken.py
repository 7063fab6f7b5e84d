"""Where the bot's files hold words for people: what is said through the catalogue, and what slipped past it."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from string import Formatter

from messages import calls_of

#: Which arguments of which functions people read: places in their order, and names.
READ: dict[str, tuple[frozenset[int], frozenset[str]]] = {
    name: (frozenset(places), frozenset(names))
    for name, places, names in (
        ("button", (0,), ("text", "label")),
        ("confirm", (0, 1, 2), ("title", "text", "yes")),
        ("leaf", (0,), ("text",)),
        ("quote", (0,), ("text",)),
        ("context", range(9), ()),
        ("section", (0,), ("mrkdwn",)),
        ("header", (0,), ("text",)),
        ("option", (0,), ("text",)),
        ("field", (1,), ("label", "hint")),
        ("text_input", (), ("placeholder",)),
        ("plain_text", (0,), ("text",)),
        ("modal", (1,), ("title", "submit")),
        ("loading", (1,), ("title",)),
        ("notice", (1, 3), ("title", "text")),
        ("open_modal", (3,), ("title",)),
        ("Message", (0,), ("text",)),
        ("alert_message", (0, 1, 2), ("title", "text", "remedy_text", "certain", "unclear")),
        ("tell", (2,), ("mrkdwn",)),
        ("Refused", (0,), ()),
        ("SlackUnavailable", (0,), ()),
    )
}
#: These hand on what they are given, perhaps shortened or made inert.
_HANDING_ON = frozenset({"cut", "clip", "inert", "escaped", "escaped_within", "one_line", "plain", "visible"})
_MARKUP = re.compile(r"<[^>\s]*>?|`[^`]*`|&\w+;|\b[a-z]+_[a-z_]+\b")
_WORD = re.compile(r"[^\W\d_]{2,}")


def names_in(text: str) -> set[str]:
    """The `{places}` of a text."""
    return {name for _, name, _, _ in Formatter().parse(text) if name}


def unclear(path: Path) -> Iterator[str]:
    """What extraction would miss or a language would not reach: no literal, wrong names, said while importing."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    later = {id(call) for body in _run_later(tree) for call in _said(body)}
    for call in _said(tree):
        place = f"{path.name}:{call.lineno}"
        texts = _texts(call)
        if texts is None:
            yield f"{place} says what is no literal"
            continue
        if id(call) not in later:
            yield f"{place} is translated while it is imported, before anybody's language is known"
        given = {one.arg for one in call.keywords}
        wanted = set().union(*map(names_in, texts)) - ({"number"} if len(texts) > 1 else set())
        if None not in given and given != wanted:
            yield f"{place} is given {sorted(map(str, given))} for {sorted(wanted)}"


def _run_later(tree: ast.AST) -> Iterator[ast.AST]:
    """The bodies of functions; their defaults and decorators are run while importing."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            yield from node.body
        elif isinstance(node, ast.Lambda):
            yield node.body


def _said(tree: ast.AST) -> Iterator[ast.Call]:
    yield from calls_of(tree, "say", "say_count")


def _texts(call: ast.Call) -> list[str] | None:
    assert isinstance(call.func, ast.Name)
    parts = call.args[:1] if call.func.id == "say" else call.args[1:3]
    texts = [part.value for part in parts if isinstance(part, ast.Constant) and isinstance(part.value, str)]
    return texts if texts and len(texts) == len(parts) else None


def bare_words(path: Path) -> Iterator[str]:
    """Words that people read and that are in no catalogue."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for call in calls_of(tree, *READ):
        assert isinstance(call.func, ast.Name)
        places, names = READ[call.func.id]
        shown = [part for at, part in enumerate(call.args) if at in places or isinstance(part, ast.Starred)]
        shown += [one.value for one in call.keywords if one.arg in names]
        for part in shown:
            for words in _bare(part):
                yield f"{path.name}: {call.func.id}({words!r})"


def _bare(node: ast.AST) -> Iterator[str]:
    match node:
        case ast.Constant(value=str(text)):
            if _WORD.search(_MARKUP.sub(" ", text)):
                yield text
        case ast.JoinedStr():
            # one text, so that markup which a value interrupts is still seen as markup
            text = "".join(str(part.value) if isinstance(part, ast.Constant) else "0" for part in node.values)
            yield from _bare(ast.Constant(text))
            yield from (words for part in node.values if isinstance(part, ast.FormattedValue) for words in _bare(part))
        case ast.FormattedValue(value=inner) | ast.Starred(value=inner):
            yield from _bare(inner)
        case ast.BinOp():
            yield from (words for part in (node.left, node.right) for words in _bare(part))
        case ast.IfExp():
            yield from (words for part in (node.body, node.orelse) for words in _bare(part))
        case ast.BoolOp(values=parts) | ast.List(elts=parts) | ast.Tuple(elts=parts):
            yield from (words for part in parts for words in _bare(part))
        case ast.Call(func=ast.Name(id=name), args=[first, *_]) if name in _HANDING_ON:
            yield from _bare(first)
        case ast.Call(func=ast.Attribute(attr="join"), args=[first]):
            yield from _bare(first)


def kept_words(path: Path) -> Iterator[str]:
    """What would be kept in the language of whoever happened to click."""
    for call in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(call, ast.Call) and re.search(r"\bstore\.", ast.unparse(call.func)):
            parts = [*call.args, *(one.value for one in call.keywords)]
            if any(True for part in parts for _ in _said(part)):
                yield f"{path.name}:{call.lineno} gives a translated text to the store"


#: What is logged, printed, or raised for a log, a console or a program. English, as the ledger is.
_NOT_FOR_SLACK = frozenset(
    {"BotCannotStart", "IdRefused", "PayloadRefused", "PydanticCustomError", "Field"}
    | {"echo", "option", "debug", "info", "warning", "error", "exception"}
)
_PROSE = re.compile(r"[^\W\d_]{2,}[,;:.]? [^\W\d_]{2,}")


def prose(path: Path) -> Iterator[str]:
    """String literals of several words outside docstrings, catalogue and logs: what `bare_words` cannot follow."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    hidden = {id(part) for call in _said(tree) for part in ast.walk(call)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            hidden.add(id(node.value))
        elif isinstance(node, ast.Call) and _called(node) in _NOT_FOR_SLACK:
            hidden |= {id(part) for part in ast.walk(node)}
    for node in ast.walk(tree):
        text = node.value if isinstance(node, ast.Constant) and id(node) not in hidden else None
        if isinstance(text, str) and _PROSE.search(_MARKUP.sub(" ", text)):
            yield text


def _called(call: ast.Call) -> str:
    return call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
