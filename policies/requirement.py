"""What one call needs before it may run, with the sentences a reviewer reads."""

from collections.abc import Mapping
from typing import Literal, Self

from policies.money import Money
from policies.risk import Mode, Risk
from policies.values import Frozen

#: The tier of whatever nobody wrote a rule for, and of every rule that failed.
STRICTEST_TIER = "strictest"


class TiersMixed(ValueError):
    """A rule asked two tiers about one call; the text names both and says what to write."""


class Spending(Frozen):
    """What a call takes from a cap: amounts by key (a customer, a run), reserved when the call is claimed."""

    cap: str
    amounts: dict[str, Money]
    limit: Money
    window: Literal["day", "run"] = "day"


class Canary(Frozen):
    """Marks a call that tests whether cards are read, and that nothing may ever run (docs/ledger.md).

    `agent` is the name its card shows for the agent, `oddity` a sentence on what gave it away.
    """

    agent: str = ""
    oddity: str = ""


class Requirement(Frozen):
    """What one call needs. Built by a rule with the verbs below, finished by `policies.evaluate`.

    `radius` is what is hurt if this goes wrong (the grouping key of cards); `resources` are the ids it touches;
    `amount` is what a reviewer's personal limit is compared with: what `worth` says, or else, once it is judged, all
    that is counted; `reasons` are whole sentences.
    """

    radius: str
    resources: tuple[str, ...] = ()
    mode: Mode = Mode.HUMAN
    tier: str = STRICTEST_TIER
    reviewers: int = 1
    amount: Money | None = None
    counts: dict[str, Money] = {}
    spends: tuple[Spending, ...] = ()
    reasons: tuple[str, ...] = ()
    confirm: bool = False
    # Filled in by policies.evaluate, from the rule and the law:
    risk: Risk = Risk.IRREVERSIBLE
    undo: str | None = None
    ttl_s: int = 0
    lapse_s: int = 0
    law: str = ""
    #: Refused because a person refused the same before; such a call makes no new card.
    vetoed: bool = False
    #: The rejections it follows, in their sentences: then a person decides, whatever the rule says.
    follows: tuple[str, ...] = ()
    #: Never runs, whatever is decided.
    canary: Canary | None = None

    def spending(
        self, cap: str, amounts: Mapping[str, Money], *, limit: Money, window: Literal["day", "run"] = "day"
    ) -> Self:
        """Take these amounts from a cap; refused at the claim when any key would pass the limit."""
        spending = Spending(cap=cap, amounts=dict(amounts), limit=limit, window=window)
        return self.model_copy(update={"spends": (*self.spends, spending)})

    def counting(self, label: str, amount: Money) -> Self:
        """Add to the run's running sum `label`, which later rules read with `so_far.in_run(label)`.

        What is counted, all labels together, is in the end also what personal limits are compared with, unless `worth`
        says otherwise, before or after; it must where labels count different currencies.

        Raises:
            CurrencyMixed: this label counts another currency already. What is forbidden stays so and raises nothing.
        """
        if self.mode is Mode.FORBIDDEN:
            return self
        counts = {**self.counts, label: self.counts[label] + amount if label in self.counts else amount}
        return self.model_copy(update={"counts": counts})

    def worth(self, amount: Money) -> Self:
        """Compare reviewers' personal limits with this amount, such as the sum of the whole run."""
        return self.model_copy(update={"amount": amount})

    def auto_when(self, condition: bool, because: str) -> Self:  # noqa: FBT001 - reads as a sentence in rules
        """Run unasked when the condition holds."""
        if not condition or self.mode is Mode.FORBIDDEN:
            return self
        return self.model_copy(update={"mode": Mode.AUTO, "reasons": (*self.reasons, because)})

    def forbid_when(self, condition: bool, because: str) -> Self:  # noqa: FBT001 - as auto_when
        """Refuse, whoever asks and whoever would approve; wins over `auto_when`."""
        if not condition:
            return self
        return self.model_copy(update={"mode": Mode.FORBIDDEN, "reasons": (*self.reasons, because)})

    def needs(self, tier: str, *, reviewers: int = 1, because: str | None = None, confirm: bool = False) -> Self:
        """Ask this many different people of a tier of `reviewers.toml`; `confirm` asks each twice.

        A second `needs` never asks for less: the higher number and the second look stay.

        Raises:
            TiersMixed: another tier was named before. What is forbidden stays so and raises nothing.
        """
        reasons = (*self.reasons, because) if because and self.mode is Mode.HUMAN else self.reasons
        if reviewers >= 1:  # fewer are nonsense, which the judge must see
            reviewers = max(reviewers, self.reviewers)
        update = {"tier": self._tier(tier), "reviewers": reviewers, "reasons": reasons}
        return self.model_copy(update={**update, "confirm": confirm or self.confirm})

    def _tier(self, tier: str) -> str:
        named = {self.tier, tier} if "tier" in self.model_fields_set else {tier}
        if STRICTEST_TIER in named:
            return STRICTEST_TIER
        if len(named) > 1 and self.mode is not Mode.FORBIDDEN:
            raise TiersMixed(
                f"A call asks one tier, not both {self.tier} and {tier}. Name the stricter one, or a tier of"
                " reviewers.toml that holds the people of both."
            )
        return tier


class Standing(Frozen):
    """The tally so far: what was decided, by whom, what is missing, in one sentence."""

    verdict: Literal["pending", "approved", "rejected"]
    approved_by: tuple[str, ...] = ()
    missing: int = 0
    sentence: str
