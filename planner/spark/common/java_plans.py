"""Access to objects of Spark's JVM: physical plans, expressions and collections."""

from collections.abc import Iterator
from typing import Any


def class_of(thing: Any) -> str:  # noqa: ANN401 - an object of Java
    """Return the full name of the class of an object."""
    return str(thing.getClass().getName())


def members_of(collection: Any) -> Iterator[Any]:  # noqa: ANN401 - of Java
    """Yield the members of a collection of Java."""
    iterator = collection.iterator()
    while iterator.hasNext():
        yield iterator.next()
