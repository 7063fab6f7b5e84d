import csv
import io
import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import click
from rich.console import Console
from rich.table import Table
from rich.text import Text

from approvals.canary_record import is_canary
from approvals.ledger_rows import LedgerRow
from approvals.questions import Found
from approvals.stories import CallStory
from approvals.told import masked, words
from policies.money import Money
from policies.plain_text import visible, visible_json, visible_lines

#: Lines of a call's arguments that a story shows unless it is told in full.
BRIEF = 6
COLUMNS = (
    *("at", "type", "run", "call", "tool", "actor", "name", "reason", "cause", "seal"),
    *("version", "law", "decide_by", "amount", "currency", "resources", "headline", "canary"),
)

#: What a spreadsheet takes for the beginning of a formula, in every width.
_FORMULA = frozenset("=+-@\uff1d\uff0b\uff0d\uff20")


def print_found(found: Sequence[Found], shape: str) -> None:
    """Events as a table a person reads, as JSON lines, or as CSV."""
    if shape == "json":
        for one in found:
            click.echo(visible_json(json.dumps(_flat(one), ensure_ascii=False)))
    elif shape == "csv":
        click.echo(as_csv([_flat(one) for one in found]), nl=False)
    else:
        console().print(_table(found))


def console() -> Console:
    """As wide as the terminal; wide enough for a table when there is none."""
    shown = Console()
    return shown if shown.is_terminal else Console(width=180)


def cell(text: str, style: str = "", **how: Any) -> Text:
    """What an agent, a provider or a person wrote, for a terminal: it is no markup, and moves or hides nothing."""
    return Text(visible_lines(text), style, **how)


def as_csv(rows: Iterable[Mapping[str, object]]) -> str:
    """CSV that a spreadsheet opens without running what somebody wrote into a reason."""
    text = io.StringIO()
    writer = csv.DictWriter(text, COLUMNS, extrasaction="ignore")
    writer.writeheader()
    for row in rows:
        writer.writerow({name: _inert(value) for name, value in row.items()})
    return text.getvalue()


def _inert(value: object) -> str:
    written = " ".join(map(str, value)) if isinstance(value, list) else str(value if value is not None else "")
    text = visible_lines(written)
    return f"'{text}" if text.lstrip()[:1] in _FORMULA else text


def _flat(found: Found) -> dict[str, Any]:
    amount, row = found.amount, found.row
    body = {name: text for name, text in row.body.items() if name not in {"kept", "event"}}
    return {
        "seq": row.seq,
        "hash": row.hash,
        **body,
        "amount": amount.plain if amount else None,
        "currency": amount.currency if amount else None,
        "resources": found.shown.get("resources", []),
        "headline": found.shown.get("headline", ""),
    }


def _table(found: Sequence[Found]) -> Table:
    table = Table(title="Ledger", title_justify="left")
    for column in ("when (UTC)", "what", "who", "amount", "about", "why", "run", "call"):
        table.add_column(column, no_wrap=column == "when (UTC)")
    for one in found:
        body = one.row.body
        about = str(one.shown.get("headline") or body.get("tool", ""))
        amount = str(one.amount) if one.amount else ""
        cells = (instant(one.row.at), what(one.row), who(one.row), amount, about, why(one.row))
        table.add_row(*map(cell, (*cells, body.get("run", ""), body.get("call", ""))))
    return table


def timeline(rows: Sequence[LedgerRow], *, title: str) -> Table:
    """Events of one run, in order."""
    table = Table(title=cell(title, "table.title"), title_justify="left")
    for column in ("when (UTC)", "what", "who", "call", "version", "why"):
        table.add_column(column, no_wrap=column == "when (UTC)")
    for row in rows:
        body = row.body
        cells = (instant(row.at), what(row), who(row), body.get("call", ""))
        table.add_row(*map(cell, (*cells, body.get("version", ""), why(row))))
    return table


def calls_table(calls: Iterable[CallStory], *, personal: bool, full: bool) -> Table:
    """For each call what was requested, what was approved, and what was executed; `full` with every argument."""
    table = Table(title="Calls", title_justify="left", show_lines=True)
    for column in ("call", "requested", "approved", "executed"):
        table.add_column(column, ratio=3 if column == "requested" else 2)
    for call in calls:
        table.add_row(*map(cell, _call_cells(call, personal=personal, most=None if full else BRIEF)))
    return table


def totals(calls: Iterable[CallStory]) -> str:
    """One line for each tool: how many things were to be touched, how many were let, how many were."""
    by_tool: dict[str, list[CallStory]] = {}
    for call in calls:
        by_tool.setdefault(call.tool, []).append(call)
    return "\n".join(visible(_total(tool, told)) for tool, told in by_tool.items())


def _total(tool: str, told: Sequence[CallStory]) -> str:
    requested = sum(call.touched(min(call.versions, default=None)) for call in told)
    approved = sum(call.touched(call.approved_version) for call in told)
    executed = sum(call.touched(call.executed_version) for call in told)
    number = "1 call" if len(told) == 1 else f"{len(told)} calls"
    return f"{tool}: requested {requested}, approved {approved}, executed {executed}, in {number}."


def _few(lines: Sequence[str], most: int | None) -> list[str]:
    """The lines, or the first of them and how many are left out."""
    if most is None or len(lines) <= most + 1:
        return [*lines]
    return [*lines[:most], f"... and {len(lines) - most} more lines (--full)"]


def _call_cells(call: CallStory, *, personal: bool, most: int | None) -> tuple[str, str, str, str]:
    first = call.versions.get(1, {})
    arguments = _few(words(masked(first.get("arguments"), reveal=personal)), most)
    requested = "\n".join([str(first.get("headline", "")), *arguments])
    if call.approved_version is None:
        approved = " ".join(part for part in (call.ended or "not decided", call.cause and f"({call.cause})") if part)
    else:
        by = f"by {', '.join(call.approvers)}" if call.approvers else "by policy, nobody was asked"
        approved = f"{_difference(call, call.approved_version, personal=personal, most=most)}\n{by}"
    executed = f"version {call.executed_version}" if call.executed_version is not None else call.ended or "no"
    if call.undo:
        executed = f"{executed}\n{call.undo}"
    return f"{call.key}\n{call.tool}", requested, approved, executed


def _difference(call: CallStory, version: int, *, personal: bool, most: int | None) -> str:
    if version == 1:
        return "as requested"
    before, after = (
        words(masked(call.versions.get(number, {}).get("arguments"), reveal=personal)) for number in (1, version)
    )
    changes = [f"- {line}" for line in before if line not in after] + [
        f"+ {line}" for line in after if line not in before
    ]
    return "\n".join([f"version {version}", *_few(changes or ["the same arguments"], most)])


def instant(at: int) -> str:
    """An instant as the tables show it."""
    return datetime.fromtimestamp(at / 1000, UTC).strftime("%Y-%m-%d %H:%M:%S")


def what(row: LedgerRow) -> str:
    """What happened; of what happened to a canary, that it is one."""
    words = row.type.replace("_", " ")
    return f"{words} (canary)" if is_canary(row) and not words.startswith("canary") else words


def who(row: LedgerRow) -> str:
    """Who did it: the name at the time, and the id that stays."""
    name, actor = row.body.get("name", ""), row.body.get("actor", "")
    if row.type == "run_started":
        return f"{actor} asks {name}"  # there it is the agent's name
    if row.type in {"law_changed", "configuration_changed"}:
        return f"the {row.body.get('cause', '')}, at its start"
    return f"{name} ({actor})" if name and actor and name != actor else name or actor


def why(row: LedgerRow) -> str:
    """The reason that was given, else the cause."""
    return row.body.get("reason") or row.body.get("cause") or ""


def money(minor: int, currency: str) -> str:
    """An amount as people read it."""
    return str(Money(minor=minor, currency=currency))
