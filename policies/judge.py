"""One call judged by its rule; whatever a rule does wrong ends with a person of the strictest tier."""

from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from pydantic import ValidationError

from policies.arguments import Arguments
from policies.law import Law
from policies.money import MONEY_ENDS, total
from policies.requirement import STRICTEST_TIER, Requirement
from policies.risk import Mode, Risk
from policies.roster import Reviewers
from policies.rule import Ask, Facts, NoFacts, Rule, Spend
from policies.strict_json import ArgumentsRefused, read_json, write_json
from policies.unjudged import DECIDES, still_forbidden, unjudged


@dataclass(frozen=True, slots=True)
class Proposal:
    """One call as it came from the agent, read by the engine.

    `problem` is a sentence when something could not be read, and `kind` says what: the `arguments` (the call is
    refused; also when no kind is given), the `facts` (its check failed: a person is asked) or the `tool` (nobody
    knows it: a person is asked).
    """

    key: str
    tool: str
    agent: str
    args: Arguments | None
    facts: Facts | None
    problem: str | None = None
    kind: Literal["arguments", "facts", "tool"] | None = None


class Judged(NamedTuple):
    """What a call needs. `blind`: nobody knows what it touches, since no rule could say so."""

    need: Requirement
    blind: bool = False


def judge(law: Law, proposal: Proposal, requester: str, so_far: Spend) -> Judged:
    """What this call needs by its rule, or by the lack of one."""
    rule = law.rules.get(proposal.tool)
    if (proposal.problem and proposal.kind not in {"facts", "tool"}) or proposal.kind == "arguments":
        return _refused(proposal.tool, proposal.problem or "The arguments could not be read.")
    if rule is None or proposal.kind == "tool":
        return _blind(proposal, proposal.problem or f"No rule covers {proposal.tool}{DECIDES}")
    if not isinstance(proposal.args, rule.arguments):
        return _refused(proposal.tool, f"The arguments were not read as {rule.arguments.__name__}.")
    if rule.risk is Risk.READ_ONLY:
        return Judged(
            Requirement(
                radius=f"{proposal.tool}: reads only", mode=Mode.AUTO, risk=rule.risk, reasons=("It changes nothing.",)
            )
        )
    facts = NoFacts() if rule.facts is NoFacts else proposal.facts
    if proposal.kind == "facts" or not isinstance(facts, rule.facts):
        why = proposal.problem or f"The data behind {proposal.tool} was not looked up{DECIDES}"
        return _blind(proposal, why, because="not checked")
    ask = Ask(proposal.tool, proposal.agent, requester, proposal.args, facts)
    return _applied(law, rule, ask, so_far, proposal)


def _applied(law: Law, rule: Rule, ask: Ask[Any, Any], so_far: Spend, proposal: Proposal) -> Judged:
    try:
        returned: object = rule.judge(ask, so_far)
    except Exception as error:  # noqa: BLE001 - a team's rule may raise anything; then a person decides
        return _blind(proposal, f"Its rule failed ({type(error).__name__}){DECIDES}")
    wrong = _nonsense(returned)
    if not isinstance(returned, Requirement):
        return _blind(proposal, f"Its rule returned nonsense ({wrong}){DECIDES}")
    if wrong:
        refused = still_forbidden(rule.tool, returned, wrong)
        return Judged(refused) if refused else _blind(proposal, f"Its rule returned nonsense ({wrong}){DECIDES}")
    return Judged(of_known_tier(law.reviewers, _with_amount(returned)))


def of_known_tier(reviewers: Reviewers, need: Requirement) -> Requirement:
    """The same of people who exist: where the file does not define its tier (any more), the strictest decides.

    So they do of what runs unasked, should it become a person's; until then nothing is said of it.
    """
    if need.tier == STRICTEST_TIER or need.tier in reviewers.tiers or need.mode is Mode.FORBIDDEN:
        return need
    why = [f"reviewers.toml does not define the tier {need.tier}{DECIDES}"] if need.mode is Mode.HUMAN else []
    return need.model_copy(update={"tier": STRICTEST_TIER, "reasons": (*need.reasons, *why)})


def _with_amount(returned: Requirement) -> Requirement:
    """Where `worth` said nothing, personal limits are compared with all that is counted."""
    if returned.amount is not None or not returned.counts:
        return returned
    return returned.worth(total(returned.counts.values()))


def _blind(proposal: Proposal, why: str, *, because: str = "no rule") -> Judged:
    return Judged(unjudged(proposal.tool, why, proposal.args, because=because), blind=True)


def _nonsense(returned: object) -> str:
    """What is wrong with a requirement, empty when nothing is. Its verbs copy without validating."""
    if not isinstance(returned, Requirement):
        return f"a {type(returned).__name__}"
    try:
        Requirement.model_validate(dict(returned), strict=True)
    except ValidationError as error:
        return ".".join(str(name) for name in error.errors()[0]["loc"])
    try:
        read_json(write_json(returned.model_dump()))  # pydantic lets half a character pass, and no seal covers one
    except ArgumentsRefused as refused:
        return refused.field.strip("/").replace("/", ".")
    if not returned.radius.strip():
        return "no blast radius"
    if returned.reviewers < 1:
        return f"{returned.reviewers} reviewers"
    return _mixed(returned)


def _mixed(returned: Requirement) -> str:
    mixed = [spending.cap for spending in returned.spends if _currencies(spending) != {spending.limit.currency}]
    if mixed:
        return f"the cap {mixed[0]} mixes currencies"
    counted = sorted({amount.currency for amount in returned.counts.values()})
    if returned.amount is None and len(counted) > 1:
        return f"amounts in {' and '.join(counted)} without worth"
    if returned.amount is None and sum(amount.minor for amount in returned.counts.values()) >= MONEY_ENDS:
        return "counts that come to more than any amount"
    return ""


def _currencies(spending: Any) -> set[str]:
    return {spending.limit.currency, *(amount.currency for amount in spending.amounts.values())}


def _refused(tool: str, why: str) -> Judged:
    return Judged(Requirement(radius=f"{tool}: unreadable", mode=Mode.FORBIDDEN, reasons=(why,)))
