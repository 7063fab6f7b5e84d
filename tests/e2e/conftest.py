import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest


@pytest.fixture
def home() -> Iterator[Path]:
    """A short path (unix sockets have little room), thrown away afterwards."""
    made = Path(tempfile.mkdtemp(prefix="vobo-"))
    yield made
    shutil.rmtree(made, ignore_errors=True)
