"""Suggestions for unknown names."""

from collections.abc import Iterable
from difflib import get_close_matches

MOST_NAMED = 10


def near(name: object, known: Iterable[object], otherwise: str = "") -> str:
    """
    Return the closest known name, ignoring case, or else the known names.

    Parameters
    ----------
    name
        The unknown name.
    known
        The known names.
    otherwise
        Remedy where no known name is close; empty: the known names.

    Examples
    --------
    >>> near("Zone-A", ["zone-a", "zone-b"]), near("x", [1, 2])
    ('did you mean zone-a?', 'there are: 1, 2')
    """
    names = [str(each) for each in known]
    by_case = {each.casefold(): each for each in reversed(names)}
    close = get_close_matches(str(name).casefold(), list(by_case), n=1, cutoff=0.5)
    if close:
        return f"did you mean {by_case[close[0]]}?"
    if otherwise:
        return otherwise
    shown = ", ".join(names[:MOST_NAMED])
    more = len(names) - MOST_NAMED
    return f"there are: {shown or 'none'}" + (f" and {more} more" if more > 0 else "")


def of_java_class(name: str) -> str:
    """
    Return the role of a class of Kafka's clients, or of its broker, by its Java name.

    Examples
    --------
    >>> of_java_class("org.apache.kafka.clients.consumer.CooperativeStickyAssignor")
    'CooperativeSticky'
    >>> of_java_class("org.apache.kafka.coordinator.group.assignor.RangeAssignor")
    'server-Range'
    """
    package, _, last = name.rpartition(".")
    role = last.removesuffix("Assignor").removesuffix("Partitioner") or last
    return f"server-{role}" if ".coordinator." in package else role
