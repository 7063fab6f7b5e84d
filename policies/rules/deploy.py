"""Deployment: what may be asked, and what it takes."""

import re
from typing import Literal

from pydantic import Field

from policies.arguments import Arguments, Id
from policies.requirement import Requirement
from policies.risk import Risk
from policies.rule import Ask, Facts, Spend, rule

_DIGEST = re.compile(r"sha256:[0-9a-f]{64}")


class Deploy(Arguments):
    """Roll a manifest out to an environment."""

    manifest_id: Id = Field(description="Id of the manifest, for example dep_0042.")
    environment: Literal["staging", "production"] = Field(description="Where it is rolled out.")


class DeployFacts(Facts):
    """What the manifest holds: image digests by service, and the ids of migrations that destroy data."""

    digests: dict[str, str]
    destructive: list[str] = []


@rule(Deploy, DeployFacts, risk=Risk.IRREVERSIBLE)
def deploy(ask: Ask[Deploy, DeployFacts], so_far: Spend) -> Requirement:  # noqa: ARG001 - deploying costs no money
    """Production takes two people; data that would be destroyed is asked about twice."""
    production = ask.args.environment == "production"
    need = Requirement(
        radius=f"deploy to {ask.args.environment}", resources=(ask.args.manifest_id, ask.args.environment)
    ).forbid_when(not ask.facts.digests, f"{ask.args.manifest_id} deploys nothing.")
    for service, digest in sorted(ask.facts.digests.items()):
        need = need.forbid_when(
            not _DIGEST.fullmatch(digest), f"{service} is not pinned to a digest, so nobody knows what would run."
        )
    destructive = ", ".join(ask.facts.destructive)
    why = "Production: two different reviewers." if production else "Staging: one reviewer."
    if destructive:
        why = f"{why} Data is destroyed by {destructive}."
    return need.needs("release", reviewers=2 if production else 1, because=why, confirm=bool(destructive))
