"""A few combinators that describe a JSON shape and say, with a JSON pointer, where a value departs from it."""

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

Check: TypeAlias = Callable[[Any, str, "Problems"], None]


class Problems(list[str]):
    """What is wrong, in Slack's phrasing: `text [json-pointer:/blocks/0/text]`."""

    def add(self, text: str, pointer: str) -> None:
        """Note one departure at `pointer`."""
        self.append(f"{text} [json-pointer:{pointer}]")


def string(most: int, least: int = 1) -> Check:
    """Text of `least` to `most` characters."""

    def check(value: Any, at: str, problems: Problems) -> None:
        if not isinstance(value, str):
            problems.add("must be a string", at)
        elif len(value) > most:
            problems.add(f"must be less than {most + 1} characters", at)
        elif len(value) < least:
            problems.add(f"must be more than {least - 1} characters", at)

    return check


def boolean(value: Any, at: str, problems: Problems) -> None:
    """True or false, nothing that merely looks like it."""
    if not isinstance(value, bool):
        problems.add("must be a boolean", at)


def integer(least: int, most: int) -> Check:
    """A whole number within both bounds, inclusive."""

    def check(value: Any, at: str, problems: Problems) -> None:
        if isinstance(value, bool) or not isinstance(value, int):
            problems.add("must be an integer", at)
        elif not least <= value <= most:
            problems.add(f"must be between {least} and {most}", at)

    return check


def anything(_value: Any, _at: str, _problems: Problems) -> None:
    """A value this workspace carries without looking into it."""


def one_of(*allowed: str) -> Check:
    """One of a fixed set of words."""

    def check(value: Any, at: str, problems: Problems) -> None:
        if value not in allowed:
            problems.add(f"must be a valid enum value: {', '.join(allowed)}", at)

    return check


def array(each: Check, most: int, least: int = 1) -> Check:
    """A list of `least` to `most` values of one shape."""

    def check(value: Any, at: str, problems: Problems) -> None:
        if not isinstance(value, list):
            problems.add("must be an array", at)
            return
        if len(value) > most:
            problems.add(f"no more than {most} items allowed", at)
        if len(value) < least:
            problems.add(f"no less than {least} items allowed", at)
        for index, member in enumerate(value):
            each(member, f"{at}/{index}", problems)

    return check


def record(required: Mapping[str, Check], optional: Mapping[str, Check] | None = None) -> Check:
    """An object with exactly these keys; Slack refuses unknown ones too."""
    known = {**(optional or {}), **required}

    def check(value: Any, at: str, problems: Problems) -> None:
        if not isinstance(value, dict):
            problems.add("must be an object", at)
            return
        for key in required:
            if value.get(key) is None:
                problems.add(f"missing required field: {key}", at)
        for key, member in value.items():
            if key not in known:
                problems.add(f"invalid additional property: {key}", at)
            elif member is not None:
                known[key](member, f"{at}/{key}", problems)

    return check


def tagged(shapes: Mapping[str, Check], what: str = "type") -> Check:
    """An object whose `type` names its shape."""

    def check(value: Any, at: str, problems: Problems) -> None:
        if not isinstance(value, dict) or not isinstance(value.get("type"), str):
            problems.add("missing required field: type", at)
            return
        shape = shapes.get(value["type"])
        if shape is None:
            problems.add(f"unsupported {what}: {value['type']}", f"{at}/type")
        else:
            shape(value, at, problems)

    return check


def nullable(shape: Check) -> Check:
    """A value of one shape, or null where a list leaves a place empty."""

    def check(value: Any, at: str, problems: Problems) -> None:
        if value is not None:
            shape(value, at, problems)

    return check
