class BotError(Exception):
    """Something the bot refuses or cannot do; the text is a sentence for the person who asked."""


class Refused(BotError):
    """This person may not do this, or it cannot be done now. Nothing was decided."""


class SlackUnavailable(BotError):
    """Slack does not answer a question whose answer is needed before anything may be decided.

    `retry_after_ms` is for how long it wants to be left alone, 0 when it does not say.
    """

    def __init__(self, sentence: str, *, retry_after_ms: int = 0) -> None:
        super().__init__(sentence)
        self.retry_after_ms = retry_after_ms


class Unsure(BotError):
    """The store broke off while it was asked: nobody knows whether it took the decision."""


class BotCannotStart(BotError):
    """The environment is wrong; the text names every problem and its fix."""


class SlackAway(BotCannotStart):
    """Slack does not answer now, and may later."""
