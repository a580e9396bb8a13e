"""Keys of a document that its importer does not use, for notes."""

from collections.abc import Iterator

MOST_ENTRIES = 50
"""Number of entries of one list that are compared: a tool prints similar entries."""


def unused_keys(document: object, read: object, place: str = "") -> Iterator[str]:
    """
    Yield the paths of keys that a document has and its validated form lacks.

    Parameters
    ----------
    document
        Parsed document.
    read
        Validated form, without other keys.
    place
        Path of both.

    Examples
    --------
    >>> [*unused_keys({"a": [{"b": 1, "c": 2}], "d": 0}, {"a": [{"b": 1}]})]
    ['a[].c', 'd']
    """
    if isinstance(document, dict) and isinstance(read, dict):
        for key, value in document.items():
            here = f"{place}.{key}" if place else str(key)
            if key in read:
                yield from unused_keys(value, read[key], here)
            elif value not in (None, "", [], {}):
                yield here
    elif isinstance(document, list) and isinstance(read, list):
        pairs = zip(document[:MOST_ENTRIES], read[:MOST_ENTRIES], strict=False)
        for value, other in pairs:
            yield from unused_keys(value, other, f"{place}[]")
