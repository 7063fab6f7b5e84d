"""The law judges a whole turn; whatever goes wrong in it ends with a person, never with an automatic yes."""

import textwrap
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from policies.arguments import Arguments, ArgumentsRefused, Id, read_arguments
from policies.budgets import Budgets
from policies.deadlines import Deadlines
from policies.evaluate import Proposal, evaluate
from policies.history import keeping
from policies.law import Law, LawRefused, load_law
from policies.money import Money, eur, zero
from policies.requirement import STRICTEST_TIER, Requirement
from policies.reviewers import Reviewers
from policies.risk import Mode, Risk
from policies.rule import Ask, Facts, NoFacts, Rule, Spend, rule

NOON = datetime(2026, 10, 23, 12, tzinfo=UTC)
TOML = """
team = "T0000HOME"
strictest = "leads"
ops = ["U0003"]
[tiers.leads]
users = ["U0002"]
[tiers.billing]
users = ["U0001", "U0002"]
"""


class Pay(Arguments):
    """Pay somebody."""

    account: Id
    amount: Money


class PayFacts(Facts):
    known: bool


@rule(Pay, PayFacts, risk=Risk.IRREVERSIBLE)
def pay(ask: Ask[Pay, PayFacts], so_far: Spend) -> Requirement:
    amount = ask.args.amount
    run = amount + so_far.in_run("payments", amount.currency)
    return (
        Requirement(radius=f"payments in {amount.currency}", resources=(ask.args.account,))
        .counting("payments", amount)
        .auto_when(run.minor <= 5000, "Small.")
        .needs("billing", reviewers=2, because="Not small.")
    )


@rule(Pay, risk=Risk.IRREVERSIBLE)
def credit(ask: Ask[Pay, NoFacts], so_far: Spend) -> Requirement:
    return Requirement(radius="credit", resources=(ask.args.account,)).auto_when(True, "Always.").needs("billing")


@rule(Pay, risk=Risk.READ_ONLY)
def look(ask: Ask[Pay, NoFacts], so_far: Spend) -> Requirement:
    raise AssertionError("a reading tool is not judged")


def broken(result: Any) -> Rule:
    """A rule of the tool `pay` that raises or returns something."""

    def judge(ask: Ask[Any, Any], so_far: Spend) -> Requirement:
        if isinstance(result, Exception):
            raise result
        return result  # type: ignore[no-any-return]

    return Rule("pay", Pay, NoFacts, Risk.IRREVERSIBLE, None, judge, "somewhere", "")


def law(*rules: Rule) -> Law:
    return Law(
        rules={each.tool: each for each in rules or (pay, credit, look)},
        reviewers=Reviewers.from_toml(TOML),
        deadlines=Deadlines(),
        budgets=Budgets(),
        version="v1",
    )


def call(tool: str = "pay", minor: int = 4900, account: str = "a", **changes: Any) -> Proposal:
    currency = changes.pop("currency", "EUR")
    args = Pay(account=account, amount=Money(minor=minor, currency=currency))
    fields: dict[str, Any] = {"args": args, "facts": PayFacts(known=True), **changes}
    return Proposal(f"{tool}-{account}", tool, "desk", **fields)


def judged(
    *calls: Proposal,
    under: Law | None = None,
    spent: Mapping[Any, int] | None = None,
    vetoes: Mapping[str, str] | None = None,
    corrections: Mapping[str, str] | None = None,
    edits: Mapping[str, str] | None = None,
) -> tuple[Requirement, ...]:
    refused = {"vetoes": vetoes or {}, "corrections": corrections or {}, "edits": edits or {}}
    return evaluate(under or law(), calls, requester="U0005", spent=spent or {}, now=NOON, **refused)


def test_a_requirement_is_finished_from_rule_and_law() -> None:
    (need,) = judged(call(minor=9900))
    assert (need.mode, need.tier, need.reviewers, need.reasons) == (Mode.HUMAN, "billing", 2, ("Not small.",))
    assert (need.risk, need.undo, need.ttl_s, need.lapse_s, need.law) == (Risk.IRREVERSIBLE, None, 900, 3600, "v1")
    assert not need.vetoed


def test_each_rule_sees_the_history_and_the_other_calls_but_not_its_own() -> None:
    assert judged(call(minor=5000))[0].mode is Mode.AUTO
    assert judged(call(minor=5000), spent={("payments", "EUR"): 1})[0].mode is Mode.HUMAN
    assert [need.mode for need in judged(call(minor=2500), call(minor=2500, account="b"))] == [Mode.AUTO] * 2
    assert [need.mode for need in judged(call(minor=2500), call(minor=2501, account="b"))] == [Mode.HUMAN] * 2


def test_currencies_are_counted_apart() -> None:
    needs = judged(call(minor=5000), call(minor=5000, account="b", currency="JPY"), spent={("payments", "USD"): 9999})
    assert [need.mode for need in needs] == [Mode.AUTO, Mode.AUTO]


def test_a_tool_without_a_rule_asks_the_strictest_tier() -> None:
    (need,) = judged(call("mystery", args=None, facts=None))
    assert (need.mode, need.tier, need.confirm) == (Mode.HUMAN, STRICTEST_TIER, True)
    assert need.reasons == ("No rule covers mystery, so the strictest tier decides.",)
    assert need.risk is Risk.IRREVERSIBLE


@pytest.mark.parametrize("kind", ["arguments", None])
@pytest.mark.parametrize("tool", ["pay", "look", "mystery"])
def test_unreadable_arguments_are_refused_before_any_card(tool: str, kind: Any) -> None:
    (need,) = judged(call(tool, args=None, problem="/amount must be a number, not true.", kind=kind))
    assert (need.mode, need.reasons) == (Mode.FORBIDDEN, ("/amount must be a number, not true.",))


def test_arguments_of_another_model_are_refused() -> None:
    assert judged(call(args=None))[0].mode is Mode.FORBIDDEN
    assert judged(call(args=Arguments()))[0].reasons == ("The arguments were not read as Pay.",)


def test_a_check_that_failed_asks_the_strictest_tier() -> None:
    (need,) = judged(call(minor=1, facts=None, problem="The ledger did not answer.", kind="facts"))
    assert (need.mode, need.tier, need.reasons) == (Mode.HUMAN, STRICTEST_TIER, ("The ledger did not answer.",))
    assert need.radius == "pay: not checked"


@pytest.mark.parametrize("facts", [None, NoFacts()])
def test_facts_that_are_missing_or_of_another_kind_ask_the_strictest_tier(facts: Facts | None) -> None:
    (need,) = judged(call(minor=1, facts=facts))
    assert (need.mode, need.tier) == (Mode.HUMAN, STRICTEST_TIER)
    assert need.reasons == ("The data behind pay was not looked up, so the strictest tier decides.",)


def test_reading_tools_are_automatic_and_never_judged() -> None:
    (need,) = judged(call("look", facts=None), vetoes={"look|a": "no", "pay|a": "no"})
    assert (need.mode, need.risk) == (Mode.AUTO, Risk.READ_ONLY)


@pytest.mark.parametrize(
    ("result", "why"),
    [
        (ZeroDivisionError("secret"), "Its rule failed (ZeroDivisionError), so the strictest tier decides."),
        (None, "Its rule returned nonsense (a NoneType), so the strictest tier decides."),
        (True, "Its rule returned nonsense (a bool), so the strictest tier decides."),
        (
            Requirement(radius=" ", mode=Mode.AUTO),
            "Its rule returned nonsense (no blast radius), so the strictest tier decides.",
        ),
        (
            Requirement(radius="x", mode=Mode.AUTO, reviewers=0),
            "Its rule returned nonsense (0 reviewers), so the strictest tier decides.",
        ),
        (
            Requirement(radius="x").model_copy(update={"mode": "automatic"}),
            "Its rule returned nonsense (mode), so the strictest tier decides.",
        ),
        (
            Requirement(radius="x", mode=Mode.AUTO).spending(
                "day", {"a": Money(minor=1, currency="JPY")}, limit=eur(1)
            ),
            "Its rule returned nonsense (the cap day mixes currencies), so the strictest tier decides.",
        ),
    ],
)
def test_whatever_a_rule_does_wrong_ends_with_a_person(result: Any, why: str) -> None:
    (need,) = judged(call(), under=law(broken(result)))
    assert (need.mode, need.tier, need.reasons) == (Mode.HUMAN, STRICTEST_TIER, (why,))


def test_a_tier_that_is_not_defined_becomes_the_strictest() -> None:
    (need,) = judged(call(), under=law(broken(Requirement(radius="x").needs("gone", reviewers=2))))
    assert (need.tier, need.reviewers) == (STRICTEST_TIER, 2)
    assert need.reasons == ("reviewers.toml does not define the tier gone, so the strictest tier decides.",)


def test_what_a_person_refused_does_not_come_back() -> None:
    (need,) = judged(call(), vetoes={"pay|a": "Olga rejected 49.00 EUR at 23:10."})
    assert (need.mode, need.vetoed) == (Mode.FORBIDDEN, True)
    assert need.reasons == ("A person refused this before and it may not come back: Olga rejected 49.00 EUR at 23:10.",)
    assert not judged(call(account="b"), vetoes={"pay|a": "no"})[0].vetoed


def test_another_road_to_a_refused_resource_asks_the_strictest_tier() -> None:
    assert judged(call("credit"))[0].mode is Mode.AUTO
    (need,) = judged(call("credit"), vetoes={"pay|a": "Olga said no."})
    assert (need.mode, need.tier, need.reasons) == (
        Mode.HUMAN, STRICTEST_TIER, ("It follows a refusal: Olga said no.",),
    )  # fmt: skip


def test_a_correction_is_a_persons_and_says_what_it_follows() -> None:
    (need,) = judged(call("credit"), corrections={"credit|a": "Olga said: less."})
    why = "It is the one corrected proposal after a rejection: Olga said: less."
    assert (need.mode, need.tier, need.reasons, need.follows) == (Mode.HUMAN, "billing", (why,), (why,))
    assert judged(call("credit", account="b"), corrections={"credit|a": "no"})[0].mode is Mode.AUTO


def test_another_road_to_what_awaits_a_correction_asks_the_strictest_tier() -> None:
    (need,) = judged(call("credit"), corrections={"pay|a": "Olga said: less."})
    assert (need.tier, need.reasons) == (STRICTEST_TIER, ("It follows a refusal: Olga said: less.",))


def test_a_veto_outweighs_a_correction() -> None:
    assert judged(call("credit"), corrections={"credit|a": "less"}, vetoes={"credit|a": "no"})[0].vetoed


def test_what_a_call_follows_is_kept_when_it_is_judged_again() -> None:
    (first,) = judged(call("credit"), vetoes={"pay|a": "Olga said no."})
    (again,) = judged(call("credit"))
    kept = keeping(first, again)
    assert (kept.mode, kept.tier, kept.reasons) == (Mode.HUMAN, STRICTEST_TIER, first.reasons)
    assert keeping(again, again) == again
    assert keeping(first, first) == first


def test_a_tool_without_resources_can_be_vetoed_as_a_whole() -> None:
    assert judged(call("mystery", args=None), vetoes={"mystery|*": "no"})[0].vetoed
    assert not judged(call("mystery", args=None), vetoes={"pay|*": "no"})[0].vetoed


def test_a_refused_call_does_not_weigh_on_its_siblings() -> None:
    needs = judged(call(minor=4000), call(minor=4000, account="b"), vetoes={"pay|b": "no"})
    assert [need.mode for need in needs] == [Mode.AUTO, Mode.FORBIDDEN]


def test_two_calls_on_one_resource_are_shown_to_a_person() -> None:
    needs = judged(call("credit"), call("credit"))
    assert {(need.mode, need.reasons) for need in needs} == {
        (Mode.HUMAN, ("Another call of this turn touches a too.",))
    }


@given(
    minors=st.lists(st.integers(1, 4000), min_size=2, max_size=9),
    spent=st.integers(0, 4000),
    odd=st.lists(st.sampled_from(["mystery", "arguments", "facts", "raises"]), max_size=4),
)
@settings(max_examples=100)
def test_nothing_unknown_unreadable_or_above_the_threshold_is_automatic(
    minors: list[int], spent: int, odd: list[str]
) -> None:
    calls = [call(minor=minor, account=f"a{at}") for at, minor in enumerate(minors)]
    for at, kind in enumerate(odd):
        tool = kind if kind in {"mystery", "raises"} else "pay"
        problem = {} if tool == kind else {"problem": "unreadable", "kind": kind}
        calls.append(call(tool, minor=1, account=f"x{at}", **problem))
    raising = Rule("raises", Pay, NoFacts, Risk.IRREVERSIBLE, None, broken(KeyError("x")).judge, "somewhere", "")
    needs = judged(*calls, under=law(pay, raising), spent={("payments", "EUR"): spent})
    assert len(needs) == len(calls)
    assert all(need.mode is not Mode.AUTO for need in needs[len(minors) :])
    above = sum(minors) + spent > 5000
    assert {need.mode for need in needs[: len(minors)]} == {Mode.HUMAN if above else Mode.AUTO}


@given(text=st.text(max_size=40) | st.sampled_from(['{"account":"a"}', '{"account":"a","amount":true}', "[]", "null"]))
@settings(max_examples=100)
def test_arguments_that_cannot_be_read_are_never_automatic(text: str) -> None:
    with pytest.raises(ArgumentsRefused) as refused:
        read_arguments(Pay, text)
    (need,) = judged(call(args=None, problem=refused.value.sentence, kind="arguments"))
    assert need.mode is Mode.FORBIDDEN


def written(folder: Path, monkeypatch: pytest.MonkeyPatch, **modules: str) -> None:
    for name, body in modules.items():
        head = """
            from policies.arguments import Arguments
            from policies.requirement import Requirement
            from policies.risk import Risk
            from policies.rule import rule
        """
        (folder / f"{name}.py").write_text(textwrap.dedent(head) + textwrap.dedent(body), encoding="utf-8")
    monkeypatch.syspath_prepend(str(folder))


SHIP = """
    class Ship(Arguments):
        '''Ship something.'''
        parcel: str

    @rule(Ship, risk=Risk.IRREVERSIBLE)
    def ship(ask, so_far):
        return Requirement(radius="parcels").needs("drivers", reviewers=2 if ask.args.parcel else 1)
"""


def test_two_rules_for_one_tool_are_refused_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written(tmp_path, monkeypatch, law_one=SHIP, law_two=SHIP)
    with pytest.raises(LawRefused) as refused:
        load_law(["law_one", "law_two"], TOML)
    assert str(refused.value) == "The tool ship has two rules, in law_one and in law_two; keep one of them."


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        ("x = 1", "The rule module law_bad declares no rule; decorate one with @rule or take it out of VOBO_RULES."),
        (
            "1 / 0",
            (
                "The rule module law_bad cannot be imported (ZeroDivisionError: division by zero); correct it or"
                " VOBO_RULES."
            ),
        ),
        (
            SHIP.replace("parcel: str", "parcel: dict[str, str]"),
            (
                "The rule of ship in law_bad: Ship.parcel has an open mapping. Declare a list of Arguments with named"
                " fields instead."
            ),
        ),
        (
            SHIP.replace("Risk.IRREVERSIBLE", "Risk.REVERSIBLE"),
            (
                "The rule module law_bad cannot be imported (ValueError: A reversible tool needs undo=, a sentence that"
                " says how its effect is taken back.); correct it or VOBO_RULES."
            ),
        ),
    ],
)
def test_a_rule_module_that_cannot_be_law_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, body: str, sentence: str
) -> None:
    written(tmp_path, monkeypatch, law_bad=body)
    monkeypatch.delitem(__import__("sys").modules, "law_bad", raising=False)
    with pytest.raises(LawRefused) as refused:
        load_law(["law_bad"], TOML)
    assert str(refused.value) == sentence


def test_a_module_that_does_not_exist_is_named() -> None:
    with pytest.raises(
        LawRefused, match=r"The rule module nowhere\.law cannot be imported \(ModuleNotFoundError: .*VOBO_RULES"
    ):
        load_law(["nowhere.law"], TOML)


@pytest.mark.parametrize(
    ("extra", "sentence"),
    [
        (
            "[deadlines]\nzone = 'Mars'",
            "reviewers.toml, deadlines.zone: Mars is not a time zone; write for example Europe/Berlin.",
        ),
        (
            "[budgets]\ncalls_per_card = 9",
            "reviewers.toml, budgets.calls_per_card: Input should be less than or equal to 8.",
        ),
        ("[[", "reviewers.toml is not valid TOML: "),
    ],
)
def test_settings_that_cannot_work_keep_the_law_from_loading(extra: str, sentence: str) -> None:
    with pytest.raises(LawRefused) as refused:
        load_law(["policies.rules"], TOML + extra)
    assert str(refused.value).startswith(sentence)


def test_the_law_names_tiers_without_people_and_rules_without_tiers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written(tmp_path, monkeypatch, law_ship=SHIP)
    empty = TOML.replace('ops = ["U0003"]', "").replace('"leads"', '"chiefs"') + "[tiers.night]\nnext = 'day'\n"
    assert load_law(["law_ship"], empty).problems() == (
        "reviewers.toml: the strictest tier is chiefs, which is not defined under [tiers].",
        "reviewers.toml: the tier night has nobody in it; name users or usergroups.",
        "reviewers.toml: the tier night escalates to day, which is not defined under [tiers].",
        "reviewers.toml: nobody is ops, so dead letters have nobody to settle them; name users under ops.",
        "The rule of ship in law_ship needs the tier drivers, which reviewers.toml does not define.",
    )
    short = TOML + "[tiers.drivers]\nusers = ['U0009']\n"
    assert load_law(["law_ship"], short).problems() == (
        "The rule of ship in law_ship can need 2 people of drivers; reviewers.toml names 1.",
    )


def test_the_version_changes_with_rules_and_with_people(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written(tmp_path, monkeypatch, law_v1=SHIP, law_v2=SHIP.replace("parcels", "crates"))
    first = load_law(["law_v1"], TOML).version
    assert first == load_law(["law_v1"], TOML).version
    assert first != load_law(["law_v1"], TOML + "# later\n").version
    assert first != load_law(["law_v2"], TOML).version


def test_a_rule_starts_its_sums_from_nothing() -> None:
    assert Spend().in_run("payments") == Spend().nothing("EUR") == zero("EUR")


def test_what_follows_an_edit_is_a_persons_whichever_tool_and_says_what_was_changed() -> None:
    edits = {"a": "Olga edited pay before: a: 480.00 EUR -> 250.00 EUR"}
    why = "It follows an edit. Olga edited pay before: a: 480.00 EUR -> 250.00 EUR"
    for tool in ("pay", "credit"):
        assert judged(call(tool))[0].mode is Mode.AUTO
        (need,) = judged(call(tool), edits=edits)
        assert (need.mode, need.tier, need.reasons, need.follows) == (Mode.HUMAN, "billing", (why,), (why,))
    assert judged(call(account="b"), edits=edits)[0].mode is Mode.AUTO
    assert judged(call(), edits=edits, vetoes={"pay|a": "no"})[0].vetoed


def test_reading_what_was_edited_needs_nobody() -> None:
    (need,) = judged(call("look"), edits={"a": "Olga edited pay before"})
    assert need.mode is Mode.AUTO
