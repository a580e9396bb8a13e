"""Amounts as people read them."""

BYTE_UNITS = ("B", "kB", "MB", "GB", "TB", "PB", "EB")


def bytes_text(value: float, digits: int = 3) -> str:
    """
    Return bytes with a decimal unit.

    Examples
    --------
    >>> bytes_text(1_283_000_000_000, 4)
    '1.283 TB'
    """
    size, unit = float(value), 0
    while abs(size) >= 999.5 and unit < len(BYTE_UNITS) - 1:
        size /= 1000
        unit += 1
    text = f"{size:.{digits}g}"
    return f"{text if 'e' not in text else f'{size:.0f}'} {BYTE_UNITS[unit]}"


def duration_text(seconds: float) -> str:
    """
    Return a duration in its two largest units.

    Examples
    --------
    >>> duration_text(8580)
    '2 h 23 min'
    """
    if seconds < 90:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    if minutes < 60:
        return f"{minutes} min"
    hours, minutes = divmod(minutes, 60)
    if hours < 48:
        return f"{hours} h {minutes:02d} min"
    days, hours = divmod(hours, 24)
    return f"{days} d {hours} h"


def percent_text(fraction: float) -> str:
    """Return a fraction as a percentage, with digits only where it is small."""
    percent = 100 * fraction
    if percent == 0 or abs(percent) >= 10:
        return f"{percent:.0f} %"
    return f"{percent:.2g} %"


def ids_text(ids: list[int]) -> str:
    """
    Return broker ids as ranges.

    Examples
    --------
    >>> ids_text([1, 2, 3, 7, 9, 10])
    '1-3,7,9-10'
    """
    parts: list[str] = []
    start = 0
    for i in range(1, len(ids) + 1):
        if i == len(ids) or ids[i] != ids[i - 1] + 1:
            low, high = ids[start], ids[i - 1]
            parts.append(str(low) if low == high else f"{low}-{high}")
            start = i
    return ",".join(parts)


def span_text(low: float, high: float, unit: str = "") -> str:
    """Return ``low-high`` without decimals, or one number where they are the same."""
    first, last = f"{low:.0f}", f"{high:.0f}"
    return (first if first == last else f"{first}-{last}") + unit
