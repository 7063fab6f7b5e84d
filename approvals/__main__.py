"""The `vobo` command for operators."""

import sys

import click

from approvals.commands import canary, doctor, export, freezing, init, keys, ledger, policies, report, show, start
from approvals.errors import ApprovalsError
from policies.law import LawRefused
from policies.plain_text import visible_lines
from policies.reviewers import ReviewersRefused


@click.group()
@click.version_option(package_name="vobo")
def cli() -> None:
    """Batched human approval in Slack for AI agents that must not act alone."""


for command in (
    start.start,
    show.show,
    ledger.ledger,
    export.export,
    report.report,
    freezing.freeze,
    freezing.unfreeze,
    keys.keys,
    policies.policies,
    canary.canary,
    init.init,
    doctor.doctor,
):
    cli.add_command(command)


def main() -> None:
    """Run the command; what it refuses is one sentence, not a traceback."""
    if "" not in sys.path:  # a console script does not look where it is called, where a team's rules may be
        sys.path.insert(0, "")
    try:
        cli()
    except (ApprovalsError, LawRefused, ReviewersRefused) as refused:
        click.echo(visible_lines(str(refused)), err=True)
        sys.exit(1)


if __name__ == "__main__":
    main()
