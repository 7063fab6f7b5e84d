"""How much of a call somebody reads before deciding it. What is longer cannot be approved by anybody."""

from approvals.models import CallContent

#: Nobody reads more than this, some forty pages.
MOST_CHARACTERS = 400_000


def readable_in_full(content: CallContent) -> bool:
    """Whether everything that an approval would cover can be read."""
    shown = (content.arguments, content.requested, content.facts, content.preview.model_dump_json())
    return sum(map(len, shown)) <= MOST_CHARACTERS
