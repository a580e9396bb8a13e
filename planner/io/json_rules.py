"""Rules of JSON that Python's own reader does not keep."""

from typing import NoReturn


def refuse_constant(name: str) -> NoReturn:
    """
    Refuse ``NaN`` and infinities, as `parse_constant` of `json.loads`.

    Raises
    ------
    ValueError
        Always.
    """
    msg = f"{name} is no number"
    raise ValueError(msg)


def is_unicode(text: str) -> bool:
    """Return whether a text can be written as UTF-8: it has no lone surrogate."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
