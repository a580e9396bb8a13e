"""Broker lists: ids and ranges joined by commas."""

import re
from collections.abc import Iterable

MOST_BROKERS = 100_000
"""Largest length of a range of broker ids; a longer one is taken for a typing error."""


def parse_broker_list(text: str) -> tuple[int, ...]:
    """
    Parse a broker list: ids and ranges joined by commas.

    Raises
    ------
    ValueError
        If the text is no such list, or names a broker twice.

    Examples
    --------
    >>> parse_broker_list("1,5-7")
    (1, 5, 6, 7)
    """
    return _each_once(read_broker_ids(text))


def broker_list(value: str | Iterable[int]) -> tuple[int, ...]:
    """
    Return the ids of a broker list, or those given as numbers.

    Raises
    ------
    ValueError
        If the text is no such list, a number is no id, or a broker is named twice.
    """
    if isinstance(value, str):
        return parse_broker_list(value)
    ids = tuple(int(one) for one in value)
    if not all(0 <= one < 2**31 for one in ids):
        msg = "must be broker ids"
        raise ValueError(msg)
    return _each_once(ids)


def _each_once(ids: tuple[int, ...]) -> tuple[int, ...]:
    if len(set(ids)) != len(ids):
        msg = "must name each broker once"
        raise ValueError(msg)
    return ids


def read_broker_ids(text: str) -> tuple[int, ...]:
    """
    Parse ids and ranges joined by commas, keeping duplicates.

    Raises
    ------
    ValueError
        If the text is no such list.
    """
    ids: list[int] = []
    for part in text.split(","):
        match = re.fullmatch(r"\s*(\d{1,10})(?:-(\d{1,10}))?\s*", part)
        if match is None:
            msg = "must be broker ids"
            raise ValueError(msg)
        low = int(match[1])
        high = int(match[2]) if match[2] is not None else low
        if high < low or high - low > MOST_BROKERS or high >= 2**31:
            msg = "ranges must ascend, ids must fit 32 bits"
            raise ValueError(msg)
        ids += range(low, high + 1)
    return tuple(ids)
