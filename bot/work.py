"""What follows an acknowledgement: run apart, and whatever goes wrong ends as a private sentence."""

from collections.abc import Callable

from slack_sdk.errors import SlackClientError

from approvals.errors import ApprovalsError
from approvals.known_secrets import SecretRefused
from approvals.replicas import NotReplicated
from approvals.vault import BlobKeyMissing, BlobTampered
from bot.asker import Asker, tell
from bot.deciding import changed
from bot.deps import Deps
from bot.errors import BotError
from bot.ids import IdRefused
from bot.language import say
from bot.payloads import Click, PayloadRefused
from bot.readers import speaking_to
from bot.sending import SendingFailed
from bot.sentences import outage


def later(deps: Deps, asker: Asker, work: Callable[[], None]) -> None:
    """Run `work` in the pool, so that the acknowledgement never waits for it; there it is said for whom."""
    deps.pool.submit(guarded, deps, asker, work)


def guarded(deps: Deps, asker: Asker, work: Callable[[], None]) -> None:
    """Run `work`; a failure is told to the person and logged, never raised: Slack has its acknowledgement already.

    Whatever is said meanwhile is for this person: private answers and modals, never a message that many read.
    """
    with speaking_to(deps.store, asker.user, deps.language):
        try:
            work()
        except Exception as error:  # noqa: BLE001 - the boundary of a job: nobody above could tell the person
            tell(deps, asker, explained(deps, error))


def once(deps: Deps, click: Click, work: Callable[[Deps, Click], None]) -> None:
    """Do what a click asks for, in one process only: two bots may get the same one, and both would answer."""
    if deps.store.deliveries.first(click.trigger_id, click.sender.user, click.action_id, click.value):
        work(deps, click)
    else:
        deps.log.warning("a click that was taken up already came once more")


def explained(deps: Deps, error: Exception, otherwise: str = "") -> str:
    """What a person is told about an error: the sentence of a refusal, or `otherwise` (that nothing was decided)."""
    if isinstance(error, BotError):
        return str(error)
    if isinstance(error, IdRefused | PayloadRefused):
        deps.log.warning("refused: %s", error)
        return say("This control is not one of this bot's, so nothing was decided.")
    if isinstance(error, NotReplicated):
        deps.log.error("not done: %s", error)
        return say("This is kept in one place only so far, so do not rely on it. Press again in a minute.")
    if isinstance(error, SecretRefused):
        return say("What you wrote holds the value of a configured secret, so it was not kept. Replace the secret.")
    if isinstance(error, BlobTampered | BlobKeyMissing):
        deps.log.error("refused: %s", error)
        return changed()
    if isinstance(error, ApprovalsError | SlackClientError | SendingFailed):
        deps.log.warning("not done: %s", error)
    else:
        deps.log.error("not done", exc_info=error)
    return otherwise or outage()
