"""`make demo`: the whole story on this machine. `--auto` plays the reviewers too, and checks the effects.

`--agent` puts an agent of your own in the place of the sample (docs/your-own-agent.md).
"""

import fcntl
import json
import shlex
import shutil
import signal
import sys
import tempfile
from pathlib import Path
from types import FrameType
from typing import Any

import click
from rich.console import Console
from rich.table import Table

import demo_own
import reviewing
from reviewing import BRUNO, OLGA, OMAR, OPS, REQUEST, text_of
from stack import ROOT, NotInTime, Stack, listens, until

PORT = 8055
#: How long a card waits in the automatic demo, so that its silence ends while you watch.
SHORT_TTL_S = 40


@click.command()
@click.option("--auto", is_flag=True, help="Play the reviewers too; exit 0 only when the effects are right.")
@click.option("--port", default=PORT, help="Where the sandbox Slack page listens.")
@click.option("--home", type=click.Path(path_type=Path, file_okay=False), help="Where it keeps its files.")
@demo_own.options
def main(*, auto: bool, port: int, home: Path | None, examples: tuple[str, ...], **own: Any) -> None:
    """Start everything, run the main job, clean up."""
    if auto and own["agent"]:
        raise click.UsageError("--auto plays the sample's story; your own agent you play by hand.")
    parts = demo_own.environment(**own)
    console = Console(soft_wrap=True)
    for ending in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
        signal.signal(ending, _stop)
    if not auto and listens(port):
        console.print(f"Port {port} is taken, perhaps by another demo. Stop it, or: make demo ARGS='--port {port + 1}'")
        sys.exit(1)
    place = ROOT / ".var" / ("demo-own" if own["agent"] else "demo")
    home = Path(tempfile.mkdtemp(prefix="vobo-demo-")) if auto else (home or place).resolve()
    home.mkdir(parents=True, exist_ok=True)
    with (home / "demo.lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            console.print("A demo of this checkout is running already. Stop it first: Ctrl-C where it was started.")
            sys.exit(1)
        stack = Stack(home, port=0 if auto else port, extra={**parts, **(_short_ttl(home) if auto else {})}, tied=True)
        if own["agent"]:
            stack.path, stack.sandbox_args = Path.cwd(), tuple(f"--example=@vobo {said}" for said in examples)
        _run(stack, console, auto=auto, sample=not own["agent"])


def _stop(_number: int, _frame: FrameType | None) -> None:
    """Stop once; a second signal must not interrupt the cleaning up."""
    for ending in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
        signal.signal(ending, signal.SIG_IGN)
    raise KeyboardInterrupt


def _run(stack: Stack, console: Console, *, auto: bool, sample: bool) -> None:
    try:
        stack.prepare()
        if sample:
            stack.run("-m", "worker.refund_desk.shop", "load", "--fresh")
        stack.run("-m", "worker", "--check")
        stack.start_all()
        console.print(
            f"[bold]vobo is running.[/bold] The sandbox Slack: {stack.page}/?as={reviewing.ROSA}&channel=C_REFUNDS"
        )
        if auto:
            _automatic(stack, console)
        else:
            _by_hand(stack, console, sample=sample)
    except NotInTime as late:
        console.print(f"Not as it should be: {late}", markup=False)
        sys.exit(1)
    except KeyboardInterrupt:
        console.print("\nStopping.")
        sys.exit(130 if auto else 0)
    finally:
        stack.stop()
        if auto:
            shutil.rmtree(stack.home, ignore_errors=True)


def _short_ttl(home: Path) -> dict[str, str]:
    """The sample's law with cards that wait only seconds."""
    home.mkdir(parents=True, exist_ok=True)
    law = (ROOT / "policies" / "rules" / "reviewers.toml").read_text()
    path = home / "reviewers.toml"
    path.write_text(law.replace("[deadlines]\n", f"[deadlines]\nttl_seconds = {SHORT_TTL_S}\n"))
    return {"VOBO_REVIEWERS": str(path)}


def _by_hand(stack: Stack, console: Console, *, sample: bool) -> None:
    env = stack.home / "env"
    env.touch(mode=0o600)
    names = [name for name in stack.env if name.startswith(("REDIS_", "SLACK_", "VOBO_"))]
    env.write_text("".join(f"export {name}={shlex.quote(stack.env[name])}\n" for name in names))
    place = env.relative_to(ROOT) if env.is_relative_to(ROOT) else env
    story = (
        f"Open it, then press the first example below, or write in #refund-desk:\n\n    @vobo {REQUEST}\n\n"
        "Three cards come into the thread. Switch who you are at the top of the page: Rosa asked, so she may not\n"
        "decide; Bruno and Olga are billing, Olga and Omar ops leads. Approve, edit an amount, or reject. What nobody\n"
        "decides expires: after 15 minutes in business hours, 4 hours outside.\n\n"
    )
    own = (
        "Open it and write to @vobo in #refund-desk. Cards come into the thread. Switch who you are at the top of the\n"
        "page: Rosa (U0005) asks; Bruno is U0001, Olga U0002 and Omar U0003 in a reviewers.toml.\n\n"
    )
    console.print(
        f"{story if sample else own}"
        "What happened, from another terminal (in brackets: only these commands shall use the demo's store):\n\n"
        f"    (. {place}; .venv/bin/vobo ledger)\n"
        + (f"    (. {place}; .venv/bin/python -m worker.refund_desk.shop effects)\n" if sample else "")
        + "\nCtrl-C ends everything.",
        markup=False,
    )
    signal.pause()


def _automatic(stack: Stack, console: Console) -> None:
    thread = reviewing.start(stack)
    console.print(f'Rosa asks: "@vobo {REQUEST}"')
    cards = thread.wait_for_cards(3)
    console.print(f"{len(cards)} cards, one per blast radius:")
    for card in cards:
        console.print(f"  - {card['text'].partition('. For <')[0]}", markup=False)
    edited = thread.edit(BRUNO, "Refund 38", "pay_0009", "250.00")
    _accepted(edited, "the edit")
    console.print("Bruno lowers pay_0009 from 312.40 to 250.00 EUR, which is his approval of the new version.")
    thread.wait_for("one more approval needed")
    until(lambda: thread.approve(OLGA, "Refund 38")["acked"], "Olga's click is acknowledged", 10)
    console.print("Olga, the second of two, approves the refunds.")
    thread.approve(BRUNO, "Mail")
    console.print("Bruno approves the mail.")
    _accepted(thread.reject(OMAR, "Delete 29 customers", "Finance needs these until January."), "the rejection")
    console.print(
        "Omar rejects the deletion of inactive customers. Nobody decides the erasure requests: silence is a no."
    )
    outcome = thread.wait_for("Outcome", seconds=SHORT_TTL_S + 40)
    answer = thread.wait_for("stand-in", seconds=40)
    alert = until(
        lambda: next((m for m in stack.slack.messages(OPS) if "A card expired" in text_of(m)), None),
        "the alert in #vobo-ops",
        20,
        stack.home,
    )
    console.rule("Outcome, written by code")
    console.print(outcome["text"], markup=False)
    console.rule("The model's words")
    console.print(answer["text"], markup=False)
    console.rule("#vobo-ops")
    console.print(alert["text"], markup=False)
    effects = json.loads(stack.run("-m", "worker.refund_desk.shop", "effects", "--json"))
    console.print(_effects_table(effects))
    wrong = check(effects)
    if wrong:
        raise NotInTime("the effects are not what was approved:\n" + "\n".join(wrong))
    console.print("[green]Exactly what was approved happened, once, with the edited amount.[/green]")


def _accepted(answer: dict[str, Any], what: str) -> None:
    if answer.get("errors") or not answer.get("acked"):
        raise NotInTime(f"{what} was refused: {answer}")


def check(effects: dict[str, Any]) -> list[str]:
    """What differs between the effects read back from the shop and what was approved."""
    refunds = {row["payment_id"]: row["minor"] for row in effects["refunds"]}
    wanted = 412000 - 31240 + 25000
    checks = {
        f"38 refunds, but there are {len(effects['refunds'])}": len(effects["refunds"]) == len(refunds) == 38,
        f"refunds worth {wanted} cents, but they are {sum(refunds.values())}": sum(refunds.values()) == wanted,
        f"pay_0009 refunded with 25000 cents, but {refunds.get('pay_0009')}": refunds.get("pay_0009") == 25000,
        f"one mail to each of 36 customers, but {len(effects['mails'])}": len(effects["mails"]) == 36
        and len({row["recipient"] for row in effects["mails"]}) == 36,
        f"no deletion, but {len(effects['deletions'])}": not effects["deletions"],
        f"no deployment, but {len(effects['deployments'])}": not effects["deployments"],
    }
    return [sentence for sentence, right in checks.items() if not right]


def _effects_table(effects: dict[str, Any]) -> Table:
    table = Table(title="Read back from the shop database", title_justify="left")
    table.add_column("effect")
    table.add_column("count", justify="right")
    table.add_column("sum", justify="right")
    for kind, rows in effects.items():
        cents = sum(row.get("minor", 0) for row in rows)
        table.add_row(kind, str(len(rows)), f"{cents / 100:,.2f} EUR" if cents else "")
    return table


if __name__ == "__main__":
    main()
