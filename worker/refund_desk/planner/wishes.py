"""What a request asks for, as far as this planner understands English: verbs, ids and days, nothing clever."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum

from policies.money import Money, MoneyRefused


class Wish(StrEnum):
    """Something the planner knows how to do."""

    REFUND = "refund"
    MAIL = "mail"
    DELETE = "delete"
    DEPLOY = "deploy"
    REPORT = "report"
    POLICY = "policy"
    LOOK = "look"


_I = re.IGNORECASE
# The first pattern that fits a clause names its wish: a report about refunds is a report.
_VERBS = (
    (Wish.POLICY, re.compile(r"\bpolicy\b|\brules?\b.*\brefund", _I)),
    (Wish.LOOK, re.compile(r"^(?:please )?(?:show|list|which|how many|what|who|count|look)\b", _I)),
    (Wish.REPORT, re.compile(r"\breport\b|\bsummar(?:y|ise|ize)\b", _I)),
    (Wish.DELETE, re.compile(r"\b(?:delete|erase|remove)\b", _I)),
    (Wish.MAIL, re.compile(r"\b(?:e-?mail|mail|write to)\b|\b(?:notify|inform|tell)\b(?! (?:me|us)\b)", _I)),
    (Wish.DEPLOY, re.compile(r"\bdeploy\w*|\broll ?out\b|\bship\b", _I)),
    (Wish.REFUND, re.compile(r"\brefund\w*|\bpay back\b|\bgive .*\bback\b|\breimburse\w*", _I)),
)
_SPLIT = re.compile(r"[,;.!?\n](?:\s+|$)|\band\b|\bthen\b|\bbut\b", _I)
_NOT = re.compile(r"\b(?:not|don['\u2019]?t|never|no|nobody|skip)\b", _I)
_EXCEPT = re.compile(r"\b(?:except(?: for)?|without|excluding|other than|not)\b", _I)
_DAY = re.compile(r"\b\d{4}-\d{2}-\d{2}\b")
_ID = re.compile(r"\b(?:pay|cus|dep)_\w+")
_AMOUNT = re.compile(r"(?<![\w.,])(\d[\d.,]*)\s*([A-Z]{3})\b")
_GROUPED = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?")
_CURRENCY = re.compile(r"\bin ([A-Z]{3})\b")
_CAMPAIGN = re.compile(r"\bcampaign\b|\bmailing list\b|\b(?:all|every) (?:subscriber|recipient)s?\b", _I)
_ERASURE = re.compile(r"\berasure\b|\bdeletion list\b", _I)
_UNSURE = re.compile(r"\b(?:over|under|above|below|more than|less than|at (?:most|least)|half|some|first|last)\b", _I)
_ADDRESSED = re.compile(r"<@[^>]*>|@vobo\b", _I)
_QUOTED = re.compile(r"[\"\u201c\u201e]([^\"\u201c\u201d\u201e]+)[\"\u201c\u201d]")
_COURTESY = re.compile(r"^(?:please|thanks|thank you|hi|hello|hey|ok|okay)?\W*$", _I)


@dataclass(frozen=True, slots=True)
class Wanted:
    """A request, understood. `texts` keeps, for each wish, the words that belong to it; `unread` what belonged to none.

    `quoted` is the first text in quotation marks: what a mail is to say. It is never read for wishes.
    """

    texts: Mapping[Wish, str]
    declined: frozenset[Wish]
    unread: tuple[str, ...]
    quoted: str | None

    def __contains__(self, wish: Wish) -> bool:
        return wish in self.texts

    def ids(self, kind: str, wish: Wish) -> tuple[str, ...]:
        """The ids that begin with `kind` and belong to a wish, without those it excepts."""
        excepted = self.excepted(wish)
        return tuple(
            name for name in self._named(self.texts.get(wish, "")) if self._is(name, kind) and name not in excepted
        )

    def excepted(self, wish: Wish) -> frozenset[str]:
        """The ids a wish leaves out: `all failed payments except pay_0031`."""
        _, *after = _EXCEPT.split(self.texts.get(wish, ""))
        return frozenset(name for part in after for name in self._named(part))

    @property
    def day(self) -> str | None:
        """The day the request names; None means the newest day with failed payments."""
        found = _DAY.search(" ".join(self.texts.values()))
        return None if found is None else found[0]

    @property
    def currency(self) -> str | None:
        """The currency the request restricts itself to: `in USD`."""
        found = _CURRENCY.search(" ".join(self.texts.values()))
        return None if found is None else found[1]

    def amount(self) -> Money | None:
        """The amount of a refund, when the request names one.

        Raises:
            MoneyRefused: it names one that cannot be read without guessing.
        """
        found = _AMOUNT.search(self.texts.get(Wish.REFUND, ""))
        if found is None:
            return None
        digits = found[1].replace(",", "") if _GROUPED.fullmatch(found[1]) else found[1]
        try:
            return Money.typed(digits, found[2])
        except MoneyRefused:
            raise
        except ValueError:
            raise MoneyRefused(f'"{found[2]}" is not a currency.') from None

    def unsure(self, wish: Wish) -> str | None:
        """A word that narrows a wish in a way this planner cannot follow."""
        found = _UNSURE.search(self.texts.get(wish, ""))
        return None if found is None else found[0]

    def campaign(self) -> bool:
        """The mail is for the mailing list, not for the customers whose payments failed."""
        return _CAMPAIGN.search(self.texts.get(Wish.MAIL, "")) is not None

    def erasure_list(self, wish: Wish) -> bool:
        """The wish is about the erasure list."""
        return _ERASURE.search(self.texts.get(wish, "")) is not None

    @staticmethod
    def _named(text: str) -> tuple[str, ...]:
        return tuple(dict.fromkeys(_ID.findall(text)))

    @staticmethod
    def _is(name: str, kind: str) -> bool:
        return name.startswith(f"{kind}_")


def read_request(request: str) -> Wanted:
    """What the request wants; a clause with a negation takes its wish away, one with ids only goes to the last wish."""
    texts: dict[Wish, str] = {}
    declined: set[Wish] = set()
    unread: list[str] = []
    last: Wish | None = None
    quoted = _QUOTED.search(request)
    for clause in _clauses(_ADDRESSED.sub(" ", _QUOTED.sub(" ", request))):
        wish = next((wish for wish, verb in _VERBS if verb.search(clause)), None)
        if wish is not None and _NOT.search(clause):
            declined.add(wish)
        elif wish is not None:
            texts[wish] = f"{texts.get(wish, '')} {clause}"
            last = wish
        elif last is not None and _only_ids(clause):
            texts[last] += f" {clause}"
        else:
            unread.append(clause)
    wanted = {wish: text for wish, text in texts.items() if wish not in declined}
    return Wanted(
        texts=wanted,
        declined=frozenset(declined),
        unread=tuple(unread),
        quoted=None if quoted is None else quoted[1].strip(),
    )


def _clauses(text: str) -> Iterator[str]:
    for clause in _SPLIT.split(text):
        if not _COURTESY.match(clause.strip()):
            yield clause.strip()


def _only_ids(clause: str) -> bool:
    left = _EXCEPT.sub("", _DAY.sub("", _ID.sub("", clause)))
    return (_ID.search(clause) or _DAY.search(clause)) is not None and not left.strip(" :()")
