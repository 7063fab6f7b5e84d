"""The secrets of this installation, recognised wherever they are about to be stored."""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Self

from pydantic import BaseModel, SecretStr

from approvals.errors import ApprovalsError
from approvals.redis_address import passwords_in

#: Shorter values are words; finding them everywhere would refuse honest texts.
SHORTEST = 8
WITHHELD = "[secret withheld]"
#: Variables whose values are secrets although no setting of ours reads them: those of the team's tools.
_SOUNDS_SECRET = re.compile(r"(^|_)(KEYS?|TOKENS?|SECRETS?|PASSWORDS?|PASSWD|CREDENTIALS?)$")
#: Text inside JSON inside JSON is escaped once more at each level.
_LEVELS = 3


class SecretRefused(ApprovalsError):
    """Something to store holds the value of a configured secret. The text names the secret, never its value."""


class KnownSecrets:
    """Names and values of what must never be stored. Empty by default: then everything is let through."""

    def __init__(self, values: Mapping[str, str] | None = None) -> None:
        found = {name: value for name, value in (values or {}).items() if len(value) >= SHORTEST}
        spelled = [(spelling, name) for name, value in found.items() for spelling in _spellings(value)]
        self._spelled = sorted(spelled, key=lambda pair: -len(pair[0]))

    def __repr__(self) -> str:
        return f"<KnownSecrets: {len({name for _, name in self._spelled})}>"  # a value in a log is a leaked value

    @classmethod
    def of(cls, settings: BaseModel, environment: Mapping[str, str]) -> Self:
        """The secrets among the settings and the variables of the environment."""
        named = {name: value.strip() for name, value in environment.items() if _SOUNDS_SECRET.search(name)}
        return cls({**named, **dict(_configured(settings))})

    def named_in(self, text: str) -> str | None:
        """The name of a secret whose value stands in `text`, as it is or escaped for JSON; None when there is none."""
        return next((name for spelling, name in self._spelled if spelling in text), None)

    def without(self, text: str) -> str:
        """`text` with every value of a secret replaced."""
        for spelling, _ in self._spelled:
            text = text.replace(spelling, WITHHELD)
        return text

    def refuse(self, text: str, what: str) -> None:
        """Let nothing through that holds a secret.

        Raises:
            SecretRefused: it does; `what` names the text.
        """
        name = self.named_in(text)
        if name is not None:
            raise SecretRefused(
                f"{what} holds the value of {name}, so it was not stored. Find out how it got there, and replace the"
                " secret: whoever sent it has read it."
            )


NO_SECRETS = KnownSecrets()


def _configured(settings: BaseModel) -> Iterator[tuple[str, str]]:
    for field, described in type(settings).model_fields.items():
        value, name = getattr(settings, field), described.alias or field
        if isinstance(value, SecretStr):
            # VOBO_STATE_KEYS is a list; of every other secret a part is not worth refusing, and the whole is meant.
            parts = value.get_secret_value().split(",") if field == "state_keys" else [value.get_secret_value()]
            yield from ((name if at == 0 else f"{name} ({at + 1})", part.strip()) for at, part in enumerate(parts))
        elif isinstance(value, str) and "://" in value:
            yield from ((name if not at else f"{name} ({at + 1})", one) for at, one in enumerate(passwords_in(value)))


def _spellings(value: str) -> set[str]:
    """The value as it is, and as it stands in JSON text, in JSON text inside JSON text, and so on."""
    found = {value}
    for ascii_only in (True, False):
        escaped = value
        for _ in range(_LEVELS):
            escaped = json.dumps(escaped, ensure_ascii=ascii_only)[1:-1]
            found.add(escaped)
    return found
