"""A call that was judged under one law, read again as another law reads it."""

from typing import Literal

from policies.arguments import ArgumentsRefused, read_arguments
from policies.judge import Proposal
from policies.law import Law


def reread(  # noqa: PLR0917 - a recorded call's fields, in their order
    law: Law,
    key: str,
    tool: str,
    agent: str,
    requested: str,
    facts: str,
    problem: str | None = None,
    kind: Literal["arguments", "facts", "tool"] | None = None,
) -> Proposal:
    """The proposal as `law` has to judge it, from the model's own argument text and the facts that were stored.

    What this law cannot read is a problem of the proposal, as it would be at a pause; nothing is raised.
    """
    rule = law.rules.get(tool)
    if rule is None:
        return Proposal(key, tool, agent, None, None)
    try:
        args = read_arguments(rule.arguments, requested)
    except ArgumentsRefused as refused:
        return Proposal(key, tool, agent, None, None, refused.sentence, "arguments")
    if problem and kind != "tool":
        return Proposal(key, tool, agent, args, None, problem, kind or "arguments")
    try:
        known = read_arguments(rule.facts, facts)
    except ArgumentsRefused:
        why = f"{tool} is judged by facts that were not looked up then, so the strictest tier decides."
        return Proposal(key, tool, agent, args, None, why, "facts")
    return Proposal(key, tool, agent, args, known)
