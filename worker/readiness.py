"""What an agent says of itself that it lacks, before the first run finds out."""

from collections.abc import Iterator, Mapping

from worker.load import Factory, beside

#: The function beside an agent's factory that is asked, without arguments. It returns one sentence for each thing.
HOOK = "missing"


def missing(factories: Mapping[str, Factory]) -> Iterator[str]:
    """One sentence for each thing without which an agent cannot work, such as a database that nobody filled."""
    for name, factory in factories.items():
        ask = beside(factory, HOOK)
        if ask is None:
            continue
        try:
            yield from [str(sentence) for sentence in ask()]
        # A boundary: a team's function may raise anything, and that it cannot look is what it lacks.
        except Exception as error:  # noqa: BLE001
            what = f"{type(error).__name__}: {error}"
            yield f"The agent {name} cannot say whether it lacks something: {HOOK}() raised {what}"
