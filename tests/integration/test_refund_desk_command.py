"""`python -m worker.refund_desk.shop` as a person runs it."""

import json
import os
import sqlite3
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
GERMAN = ROOT / "worker" / "refund_desk" / "data" / "failed_payments_de.csv"


def shop(home: Path, *arguments: str, code: int = 0) -> str:
    """What the command prints, errors included."""
    env = {**os.environ, "PYTHONPATH": str(ROOT), "VOBO_SHOP_URL": f"sqlite:///{home}/new/shop.db"}
    done = subprocess.run(
        [sys.executable, "-m", "worker.refund_desk.shop", *arguments],
        cwd=home,
        env=env,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout + done.stderr


def test_a_new_shop_is_loaded_and_nothing_was_done_to_it(tmp_path: Path) -> None:
    assert "Loaded 38 payments" in shop(tmp_path, "load")
    assert json.loads(shop(tmp_path, "effects", "--json")) == {
        "refunds": [],
        "mails": [],
        "deletions": [],
        "deployments": [],
        "reports": [],
    }
    assert shop(tmp_path, "effects").startswith("0 refunds\n0 mails\n0 customers deleted\n")


def test_a_shop_with_data_keeps_it_unless_it_is_told_to_start_over(tmp_path: Path) -> None:
    shop(tmp_path, "load", "--with", "overnight")
    assert "Start over with --fresh" in shop(tmp_path, "load")
    assert "0 payments added" in shop(tmp_path, "load", "--with", "overnight")
    assert "3 payments added" in shop(tmp_path, "load", "--fresh", "--with", "overnight")


def test_a_shop_nobody_loaded_says_how(tmp_path: Path) -> None:
    assert "python -m worker.refund_desk.shop load" in shop(tmp_path, "effects", code=1)


def test_a_german_file_is_loaded_only_when_it_is_said_to_be_one(tmp_path: Path) -> None:
    assert "--style german" in shop(tmp_path, "load", "--payments", str(GERMAN), code=1)
    assert "Loaded 38 payments" in shop(tmp_path, "load", "--payments", str(GERMAN), "--style", "german")


def test_what_an_agent_wrote_moves_nothing_on_the_terminal_that_reads_it_back(tmp_path: Path) -> None:
    shop(tmp_path, "load")
    with sqlite3.connect(tmp_path / "new" / "shop.db") as database:
        database.execute(
            "INSERT INTO refund_reports (idempotency_key, title, body, at) VALUES ('k', ?, '', '2026-11-30')",
            ("Refunds\x1b[2K\x9b1A\n0 refunds",),
        )
    told = shop(tmp_path, "effects")
    assert "  Refunds\\u{001b}[2K\\u{009b}1A\\u{000a}0 refunds\n" in told
    (report,) = json.loads(text := shop(tmp_path, "effects", "--json"))["reports"]
    assert report["title"] == "Refunds\x1b[2K\x9b1A\n0 refunds"
    assert "\x9b" not in text
