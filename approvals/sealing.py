"""What exactly a seal covers, filled from one version of a call.

The pause and the refresh make it; the click, the gate and the resume recompute it and compare.
"""

from approvals.models import Call, CallContent
from approvals.seal import SealFields, UnsealableError, seal
from policies.arguments import ArgumentsRefused, read_json
from policies.values import Frozen


class Subject(Frozen):
    """Which call it is. None of this changes between versions."""

    tenant: str
    run: str
    requester: str
    key: str
    agent: str
    tool: str

    @classmethod
    def of(cls, call: Call, *, tenant: str, requester: str) -> "Subject":
        """The subject of a stored call."""
        return cls(tenant=tenant, run=call.run, requester=requester, key=call.key, agent=call.agent, tool=call.tool)


def sealed(subject: Subject, content: CallContent, *, version: int) -> str:
    """The seal of one version of a call.

    Raises:
        UnsealableError: something in it has no canonical form.
    """
    arguments, facts = read_json(content.arguments), read_json(content.facts)
    precondition = content.preview.precondition
    requirement = content.requirement
    return seal(
        SealFields(
            version=version,
            tenant=subject.tenant,
            run=subject.run,
            call_key=subject.key,
            agent=subject.agent,
            agent_version=content.agent_version,
            tool=subject.tool,
            tool_schema_digest=content.tool_schema,
            arguments=arguments if isinstance(arguments, dict) else {},
            facts=facts if isinstance(facts, dict) else {},
            precondition=precondition.fingerprint if precondition else None,
            resources=requirement.resources,
            blast_radius=requirement.radius,
            requester=subject.requester,
            policy_version=requirement.law,
            # Left out where there is none, as before it existed: what was sealed then still fits.
            requirement=requirement.model_dump(mode="json", exclude=None if requirement.canary else {"canary"}),
            ttl_seconds=requirement.ttl_s,
            idempotency_key=f"vobo-{subject.run}-{subject.key}",
        )
    )


def intact(call: Call, *, tenant: str, requester: str) -> bool:
    """Whether the stored call still is what was sealed; False as well for a version that nobody sealed yet."""
    subject = Subject.of(call, tenant=tenant, requester=requester)
    try:
        return sealed(subject, call.content, version=call.version) == call.seal
    except (UnsealableError, ArgumentsRefused):  # nothing that was ever sealed reads like this
        return False
