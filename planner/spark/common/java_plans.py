"""Access to objects of Spark's JVM: physical plans, expressions and collections."""

from collections.abc import Iterator
from typing import Any

from pyspark.sql import DataFrame


def plan_of(table: DataFrame) -> Any | None:  # noqa: ANN401 - a physical plan
    """
    Return the physical plan of a table; `None`: Spark Connect shows none.

    Raises
    ------
    Exception
        An error of py4j, if the table cannot be planned.
    """
    frame = getattr(table, "_jdf", None)
    return None if frame is None else frame.queryExecution().sparkPlan()


def class_of(thing: Any) -> str:  # noqa: ANN401 - an object of Java
    """Return the full name of the class of an object."""
    return str(thing.getClass().getName())


def type_of(expression: Any) -> str:  # noqa: ANN401 - an expression
    """Return the type of an expression, as SQL writes it."""
    return str(expression.dataType().simpleString())


def id_of(column: Any) -> int:  # noqa: ANN401 - an expression
    """Return the number by which a plan refers to a column."""
    return int(column.exprId().id())


def items_of(sequence: Any) -> Iterator[Any]:  # noqa: ANN401 - a sequence of Scala
    """Yield the items of a sequence of Scala."""
    return (sequence.apply(n) for n in range(sequence.size()))


def members_of(collection: Any) -> Iterator[Any]:  # noqa: ANN401 - of Java
    """Yield the members of a collection of Java."""
    iterator = collection.iterator()
    while iterator.hasNext():
        yield iterator.next()
