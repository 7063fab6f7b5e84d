"""Guards whose absence changes nothing that can be seen, each with the reason."""

EQUIVALENT: dict[str, str] = {}
