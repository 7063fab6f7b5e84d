"""How large a number may be to be read, shown, sealed and kept: one bound for all four."""

import math
from decimal import Decimal

MAX_INTEGER_BITS = 4096  # Python refuses to write out much longer ones; no amount or id comes near
#: Every integer of so many digits keeps within those bits.
MAX_DIGITS = int(MAX_INTEGER_BITS * math.log10(2))
MAX_DECIMAL_EXPONENT = 400  # written out in full, a decimal stays readable and cannot fill the memory


def written_out(number: Decimal) -> bool:
    """Whether a finite decimal, the noughts at its end included, can be written out in full."""
    exponent = number.as_tuple().exponent
    return isinstance(exponent, int) and max(abs(exponent), abs(number.adjusted())) <= MAX_DECIMAL_EXPONENT
