"""What may be told of an exception."""

import traceback

from approvals.errors import ApprovalsError


def outline(error: BaseException | None) -> str:
    """Types and places of an exception and its causes, without their messages, which may quote arguments.

    Our own errors keep their sentence: it is written for people and names no secret.
    """
    parts = []
    while error is not None:
        sentence = f": {error}" if isinstance(error, ApprovalsError) else ""
        frames = traceback.extract_tb(error.__traceback__)
        place = f" at {frames[-1].filename}:{frames[-1].lineno} in {frames[-1].name}" if frames else ""
        parts.append(f"{type(error).__qualname__}{sentence}{place}")
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    return " <- ".join(parts)
