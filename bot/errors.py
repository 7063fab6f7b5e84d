class BotError(Exception):
    """Something the bot refuses or cannot do; the text is a sentence for the person who asked."""


class Refused(BotError):
    """This person may not do this, or it cannot be done now. Nothing was decided."""


class SlackUnavailable(BotError):
    """Slack does not answer a question whose answer is needed before anything may be decided."""


class Unsure(BotError):
    """The store broke off while it was asked: nobody knows whether it took the decision."""


class BotCannotStart(BotError):
    """The environment is wrong; the text names every problem and its fix."""
