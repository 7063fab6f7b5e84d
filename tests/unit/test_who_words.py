"""Who is asked and who has said what: the law's tally in the reader's words."""

from typing import Any

import pytest

from approvals.lifecycle import State
from approvals.models import Call
from bot.card_text import NAME
from bot.language import speaking
from bot.who_words import others, so_far, who_decides
from bot_builders import a_call, a_content, a_decision, a_requirement, decided
from policies.requirement import STRICTEST_TIER
from policies.reviewers import Reviewers, describe
from policies.tally import tally

REVIEWERS = Reviewers.from_toml(
    """
team = "T0HOME"
strictest = "ops_leads"
[tiers.billing]
users = ["U1", "U2", "U3"]
[tiers.ops_leads]
usergroups = ["S1", "S2"]
[tiers.empty]
[people.U1]
name = "Una"
[people.U2]
name = "Ugo"
[people.U3]
name = "Uma"
"""
)


@pytest.mark.parametrize(
    ("tier", "reviewers", "english", "spanish"),
    [
        ("billing", 1, "billing: Una, Ugo or Uma", "billing: Una, Ugo o Uma"),
        ("billing", 2, "billing: Una, Ugo or Uma; 2 different people", "billing: Una, Ugo o Uma; 2 personas distintas"),
        ("ops_leads", 1, "ops leads: anyone of S1 or anyone of S2", "ops leads: cualquiera de S1 o cualquiera de S2"),
        ("empty", 1, "empty: nobody", "empty: nadie"),
    ],
)
def test_those_who_may_decide_are_named(tier: str, reviewers: int, english: str, spanish: str) -> None:
    need = a_requirement(tier=tier, reviewers=reviewers, amount=None)
    assert who_decides(REVIEWERS, need) == english
    assert english.replace("2 different", "two different") == describe(REVIEWERS, need)
    with speaking("es"):
        assert who_decides(REVIEWERS, need) == spanish


def test_a_long_name_is_cut_where_a_person_is_named_as_missing() -> None:
    long = REVIEWERS.model_copy(
        update={"people": {**REVIEWERS.people, "U1": REVIEWERS.people["U1"].model_copy(update={"name": "Una " * 30})}}
    )
    said = others(long, a_requirement(tier="billing", amount=None), {"U3"})
    assert said.endswith("… or Ugo")
    assert len(said) == NAME + len(" or Ugo")


def a_call_for(reviewers: int, *names: str, tier: str = "billing", verdict: str = "approve", **changes: Any) -> Call:
    call = a_call(content=a_content(requirement=a_requirement(reviewers=reviewers, tier=tier)))
    said = [a_decision(call, verdict, reviewer=f"U{at}", name=name, **changes) for at, name in enumerate(names)]
    return decided(call, State.PENDING_REVIEW, *said)


@pytest.mark.parametrize(
    ("call", "spanish"),
    [
        (a_call_for(1), "A la espera de una aprobación de billing."),
        (a_call_for(2), "A la espera de 2 aprobaciones de billing, de personas distintas."),
        (a_call_for(1, tier=STRICTEST_TIER), "A la espera de una aprobación de la instancia más estricta."),
        (a_call_for(2, "Una"), "Aprobada por Una; falta una aprobación más, de otra persona."),
        (a_call_for(4, "Una", "Ugo"), "Aprobada por Una y Ugo; faltan 2 aprobaciones más, de personas distintas."),
        (a_call_for(2, "Una", version=9), "A la espera de 2 aprobaciones de billing, de personas distintas."),
        (a_call_for(2, "Una", "Ugo"), "Aprobada por Una y Ugo."),
        (a_call_for(2, "Una", verdict="reject", reason="no"), 'Rejected by Una: "no".'),
    ],
)
def test_english_says_what_the_tally_says_and_spanish_says_it_too(call: Call, spanish: str) -> None:
    law = tally(call.content.requirement, call.decisions, version=call.version).sentence
    assert so_far(call) == law.replace("two", "2")
    with speaking("es"):
        assert so_far(call) == spanish
