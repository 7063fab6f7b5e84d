class ShopRefused(Exception):
    """The shop said no and changed nothing; the text says why."""


class KeyReused(Exception):
    """An idempotency key came back with other arguments: something was done under it, but not this."""


class DataRefused(Exception):
    """A file cannot be read without guessing; the text names the file, the row and what would be read."""
