"""What every tier shares: the gate is decided by the change it looks at, never by dice."""

from hypothesis import settings

settings.register_profile("gate", derandomize=True, database=None)
settings.register_profile("fuzz", derandomize=False, database=None, print_blob=True)
settings.load_profile("gate")  # `make fuzz` asks for the other one
