"""What every tier shares: the gate is decided by the change it looks at, never by dice."""

import structlog
from hypothesis import settings

settings.register_profile("gate", derandomize=True, database=None)
settings.register_profile("fuzz", derandomize=False, database=None, print_blob=True)
settings.load_profile("gate")  # `make fuzz` asks for the other one

# Where a test gives no format: as structlog has it, but for tracebacks, whose pictures take seconds each.
_plain = structlog.dev.ConsoleRenderer(exception_formatter=structlog.dev.plain_traceback)
structlog.configure(processors=[*structlog.get_config()["processors"][:-1], _plain])
