class ApprovalsError(Exception):
    """Something in the state of record refused; the text says what to do next."""
