"""A candidate law beside the one in force: judged at every pause, recorded where it differs, and never obeyed."""

from collections.abc import Mapping
from datetime import UTC, datetime

import structlog

from approvals.models import PauseWrite, Run
from policies.evaluate import evaluate
from policies.requirement import Requirement
from policies.reread import reread
from policies.risk import Mode
from worker.deps import Deps
from worker.earlier_edits import earlier_edits

_log = structlog.get_logger(__name__)


def beside(deps: Deps, run: Run, write: PauseWrite) -> Mapping[str, str]:
    """Call key -> how the candidate differs, for a pause that is about to be written. Nothing it does wrong matters."""
    if deps.shadow is None:
        return {}
    try:
        proposals = [
            reread(
                deps.shadow,
                call.key,
                call.tool,
                call.agent,
                call.content.requested,
                call.content.facts,
                call.content.problem,
                "facts" if call.content.requirement.mode is Mode.HUMAN else "arguments",
            )
            for call in write.calls
        ]
        needs = evaluate(
            deps.shadow,
            proposals,
            requester=run.requester,
            spent=deps.store.runs.counts(run.id),
            vetoes=deps.store.vetoes.of_thread(run.channel, run.thread_ts),
            corrections=deps.store.vetoes.corrections_of_thread(run.channel, run.thread_ts),
            edits=earlier_edits(deps.store, deps.shadow, run),
            now=datetime.fromtimestamp(deps.store.now() / 1000, UTC),
        )
    # A boundary: the candidate is somebody's draft. The run goes on under the law in force, whatever it raises.
    except Exception as error:  # noqa: BLE001
        _log.warning("the shadow law could not judge", run=run.id, error=type(error).__name__)
        return {}
    pairs = zip(write.calls, needs, strict=True)
    told = {call.key: _difference(call.content.requirement, need, deps.shadow.version) for call, need in pairs}
    return {key: sentence for key, sentence in told.items() if sentence}


def record(deps: Deps, differences: Mapping[str, str]) -> None:
    """Put what differs into the ledger, once the pause is written."""
    for key, sentence in differences.items():
        deps.store.calls.note(key, event="shadow_differs", person=None, detail=sentence)


def _difference(law: Requirement, candidate: Requirement, version: str) -> str:
    now, then = _asked(law), _asked(candidate)
    if now == then:
        return ""
    why = " ".join(candidate.reasons)
    return f"The candidate {version} says {then} instead of {now}: {why}"


def _asked(need: Requirement) -> str:
    if need.mode is not Mode.HUMAN:
        return need.mode.value
    return f"{need.reviewers} of {need.tier}"
