from enum import StrEnum


class Risk(StrEnum):
    """What a tool can do to the world; declared by its rule, never guessed from its name or arguments."""

    #: Changes nothing anywhere. Never asks.
    READ_ONLY = "read_only"
    #: Leaves a trace that can be taken back. Asks too, unless the rule says it is small enough; offers its undo.
    REVERSIBLE = "reversible"
    #: Cannot be taken back. Asks, unless the rule says it is small enough.
    IRREVERSIBLE = "irreversible"


class Mode(StrEnum):
    """What one call needs before it may run."""

    #: Nobody is asked.
    AUTO = "auto"
    #: People decide.
    HUMAN = "human"
    #: It cannot be approved by anybody.
    FORBIDDEN = "forbidden"
