"""The standing of a call is one sentence that says who decided and who is missing."""

from typing import Any

import pytest

from policies.person import Decision
from policies.requirement import Requirement
from policies.risk import Mode
from policies.tally import tally

TWO = Requirement(radius="refunds in EUR", tier="billing", reviewers=2)
ONE = Requirement(radius="refunds in EUR", tier="ops_leads")


def said(verdict: Any, name: str, *, version: int = 1, reason: str | None = None) -> Decision:
    return Decision(call="c1", version=version, verdict=verdict, reviewer=f"U_{name}", name=name, reason=reason)


@pytest.mark.parametrize(
    ("requirement", "decisions", "verdict", "missing", "sentence"),
    [
        (ONE, [], "pending", 1, "Waiting for one approval from ops leads."),
        (TWO, [], "pending", 2, "Waiting for two approvals from billing, by different people."),
        (Requirement(radius="x"), [], "pending", 1, "Waiting for one approval from the strictest tier."),
        (
            TWO,
            [said("approve", "Bruno")],
            "pending",
            1,
            "Approved by Bruno; one more approval needed, by somebody else.",
        ),
        (
            TWO,
            [said("approve", "Bruno"), said("approve", "Bruno")],
            "pending",
            1,
            "Approved by Bruno; one more approval needed, by somebody else.",
        ),
        (TWO, [said("approve", "Bruno"), said("approve", "Olga")], "approved", 0, "Approved by Bruno and Olga."),
        (TWO, [said("edit", "Bruno"), said("approve", "Olga")], "approved", 0, "Approved by Bruno and Olga."),
        (
            ONE,
            [said("approve", "Olga"), said("reject", "Omar", reason="not now")],
            "rejected",
            0,
            'Rejected by Omar: "not now".',
        ),
        (TWO, [said("reject", "Omar")], "rejected", 0, "Rejected by Omar, who gave no reason."),
        (TWO, [said("reject", "Omar", reason="  ")], "rejected", 0, "Rejected by Omar, who gave no reason."),
        (
            TWO,
            [said("approve", "Bruno", version=0), said("reject", "Omar", version=2)],
            "pending",
            2,
            "Waiting for two approvals from billing, by different people.",
        ),
        (
            TWO.model_copy(update={"reviewers": 3}),
            [said("approve", "Bruno")],
            "pending",
            2,
            "Approved by Bruno; two more approvals needed, by different people.",
        ),
    ],
)
def test_the_standing_of_a_version(
    requirement: Requirement, decisions: list[Decision], verdict: str, missing: int, sentence: str
) -> None:
    standing = tally(requirement, decisions, version=1)
    assert (standing.verdict, standing.missing, standing.sentence) == (verdict, missing, sentence)


def test_approvers_are_named_by_their_ids() -> None:
    assert tally(TWO, [said("approve", "Bruno")], version=1).approved_by == ("U_Bruno",)
    assert tally(TWO, [said("approve", "Bruno"), said("reject", "Olga")], version=1).approved_by == ()


def test_policy_speaks_for_itself_where_nobody_decides() -> None:
    auto = ONE.model_copy(update={"mode": Mode.AUTO, "reasons": ("It is small.",)})
    forbidden = ONE.model_copy(update={"mode": Mode.FORBIDDEN, "reasons": ("Wrong currency.", "Too much.")})
    assert tally(auto, [], version=1).sentence == "Nobody was asked: It is small."
    assert tally(auto, [], version=1).verdict == "approved"
    assert (
        tally(forbidden, [said("approve", "Olga")], version=1).sentence
        == "Refused by policy: Wrong currency; Too much."
    )
    assert tally(forbidden, [said("approve", "Olga")], version=1).verdict == "rejected"


def test_hidden_characters_in_a_reason_are_spelled_out() -> None:
    assert (
        tally(ONE, [said("reject", "Omar", reason="no\u202e")], version=1).sentence
        == 'Rejected by Omar: "no\\u{202e}".'
    )
