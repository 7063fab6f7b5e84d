"""What a person is told about a refusal says in every language what the law said."""

from collections.abc import Iterator

from bot.language import speaking
from bot.refusals import from_elsewhere, may_not_decide, may_not_operate, may_not_start
from policies.authority import Refusal, may_decide, may_operate, may_start
from policies.money import eur
from policies.person import Person
from policies.requirement import Requirement
from policies.reviewers import Reviewers

REVIEWERS = Reviewers.from_toml(
    """
team = "T0HOME"
strictest = "ops_leads"
starters = ["U1", "U2"]
[tiers.ops_leads]
users = ["U1", "U2"]
[people.U1]
name = "Una"
limits = { EUR = "50.00" }
[agents.desk]
starters = ["U2"]
"""
)
NEED = Requirement(radius="x", tier="ops_leads", amount=eur(60))


def person(user: str = "U1", team: str = "T0HOME", **flags: bool) -> Person:
    return Person(user=user, name="Una", team=team, **flags)


def nobodies() -> Iterator[Person]:
    """Who may do nothing at all."""
    yield person(team="T0ELSE")
    yield person(bot=True)
    yield person(deactivated=True)
    yield person(guest=True)


def of_a_card() -> Iterator[tuple[Refusal | None, Requirement]]:
    for who in nobodies():
        yield decide(who, NEED), NEED
    forbidden = NEED.model_copy(update={"mode": "forbidden"})
    yield decide(person(), forbidden), forbidden
    yield decide(person(), NEED, requester="U1"), NEED
    yield decide(person("U7"), NEED), NEED
    yield decide(person(), NEED), NEED  # over the limit
    yield decide(person("U2"), NEED), NEED  # no limit


def decide(who: Person, need: Requirement, requester: str = "U5") -> Refusal | None:
    return may_decide(REVIEWERS, need, who, requester=requester, clicker_team=who.team)


def told() -> Iterator[tuple[Refusal, str, str]]:
    """Each refusal, and what is said about it in English and in Spanish."""
    for refusal, need in of_a_card():
        assert refusal
        yield refusal, *in_both(lambda r=refusal, n=need: may_not_decide(r, n))
    starting = [may_start(REVIEWERS, who, clicker_team=who.team) for who in (*nobodies(), person("U7"))]
    for refusal in (*starting, may_start(REVIEWERS, person(), clicker_team="T0HOME", agent="desk")):
        assert refusal
        yield refusal, *in_both(lambda r=refusal: may_not_start(r))
    for refusal in [may_operate(REVIEWERS, who, clicker_team=who.team) for who in (*nobodies(), person())]:
        assert refusal
        yield refusal, *in_both(lambda r=refusal: may_not_operate(r))


def in_both(say: object) -> tuple[str, str]:
    assert callable(say)
    english = str(say())
    with speaking("es"):
        return english, str(say())


def test_english_is_the_laws_own_sentence_and_spanish_is_another() -> None:
    seen = set()
    for refusal, english, spanish in told():
        assert english == refusal.sentence
        assert spanish != english
        seen.add(refusal.cause)
    assert seen == set(Refusal.model_fields["cause"].annotation.__args__)  # type: ignore[union-attr]


def test_amounts_keep_their_notation_in_every_language() -> None:
    spanish = [spanish for refusal, _, spanish in told() if refusal.cause == "over_limit"]
    assert spanish == [
        "Suma 60.00 EUR y tu límite es 50.00 EUR. Puedes reducirlo con Editar, o rechazarlo.",
        "No tienes un límite en EUR, así que no puedes aprobar 60.00 EUR. Pide a operaciones que lo fije.",
    ]


def test_a_cause_that_is_new_is_said_in_the_laws_own_words_and_inert() -> None:
    with speaking("es"):
        assert may_not_start(Refusal(cause="forbidden", sentence="Not <!here>.")) == "Not &lt;!here&gt;."
        assert from_elsewhere().startswith("Solo los miembros")
