"""Whether the model that VOBO_MODEL names can be reached, asked without spending a token."""

import asyncio

from openai import APIConnectionError, APIStatusError, AsyncOpenAI, AuthenticationError, PermissionDeniedError

from approvals.findings import Finding, failure, fine, warning
from worker.settings import SAMPLE, WorkerSettings

PATIENCE_S = 15.0
_REAL = "Set OPENAI_API_KEY and VOBO_MODEL for a real one."


def offline_note(settings: WorkerSettings) -> str:
    """What plays the model where none is configured."""
    if settings.offline.startswith(f"{SAMPLE}."):
        return f"No model is configured, so the sample's offline planner stands in for one. {_REAL}"
    return f"No model is configured, so {settings.offline} of VOBO_OFFLINE stands in for one. {_REAL}"


def model_reachable(settings: WorkerSettings) -> Finding:
    """One finding about the provider at OPENAI_BASE_URL."""
    if settings.is_offline:
        return warning("model", offline_note(settings))
    return asyncio.run(_ask(settings))


async def _ask(settings: WorkerSettings) -> Finding:
    key = settings.openai_key.get_secret_value() if settings.openai_key else None
    async with AsyncOpenAI(api_key=key, base_url=settings.openai_url, max_retries=0, timeout=PATIENCE_S) as client:
        where = client.base_url.copy_with(userinfo=b"")
        try:
            listed = [model.id async for model in client.models.list()]
        except (AuthenticationError, PermissionDeniedError) as refused:
            return failure(
                "model",
                f"The provider at {where} refuses OPENAI_API_KEY ({refused.status_code}).",
                "Set it to a key that is valid there.",
            )
        except APIConnectionError as failed:
            return failure(
                "model",
                f"The provider at {where} does not answer ({type(failed).__name__}).",
                "Check the network and OPENAI_BASE_URL.",
            )
        except APIStatusError as refused:  # many local servers serve a model and list none
            return warning("model", f"The provider at {where} answers, but lists no models ({refused.status_code}).")
    if settings.model not in listed:
        return warning(
            "model", f"The provider at {where} does not list {settings.model}.", "Check the name in VOBO_MODEL."
        )
    return fine("model", f"The provider at {where} answers and knows {settings.model}.")
