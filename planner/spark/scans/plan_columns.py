"""
Columns of physical plans, read from the texts that Spark writes of them.

Asking a plan's columns one after the other takes some ten calls of the JVM each, and a
call 0.1 ms. The schema of a plan as JSON, and its expressions as one text, are one call
each. A text that can be read in two ways is read in neither.
"""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import types as T  # noqa: N812

_BETWEEN = "\0"
"""Separator of expressions. A name that has it makes more texts than columns."""


@dataclass(frozen=True, slots=True)
class PlanColumn:
    """
    Column that a plan gives out.

    Parameters
    ----------
    name
        Name of the column.
    kind
        Type, as SQL writes it.
    text
        The expression, as Spark writes it: ``topic#12``, ``name#12 AS topic#13``.
    """

    name: str
    kind: str
    text: str

    @property
    def is_attribute(self) -> bool:
        """Whether the text is that of a column, not of an expression with a name."""
        return re.fullmatch(rf"{re.escape(self.name)}#\d+L?", self.text) is not None

    @property
    def named(self) -> str | None:
        """Text of the expression that the column is a name for, if it is one."""
        name = re.escape(self.name)
        found = re.fullmatch(rf"(.*) AS {name}#\d+L?", self.text, re.DOTALL)
        return None if found is None else found[1]

    @property
    def attribute(self) -> tuple[str, int] | None:
        """
        Name and number of the column that this one is, or is a name for.

        `None` if the text is of no column. That a column of this number has this name
        is for the caller to check: ``-a#1`` is the negative of a column ``a``.
        """
        text = self.text if self.is_attribute else self.named
        found = re.fullmatch(r"(.*)#(\d+)L?", text or "", re.DOTALL)
        return None if found is None else (found[1], int(found[2]))


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


def columns_of(plan: Any, expressions: Any) -> Sequence[PlanColumn]:  # noqa: ANN401 - a physical plan
    """
    Return the columns that a plan gives out.

    Parameters
    ----------
    plan
        The plan.
    expressions
        A sequence of Scala with the expressions of these columns.

    Raises
    ------
    Exception
        An error of any kind, if the texts are not those of the columns.
    """
    fields = T.StructType.fromJson(json.loads(plan.schema().json())).fields
    texts = str(expressions.mkString(_BETWEEN)).split(_BETWEEN)
    return [
        PlanColumn(field.name, field.dataType.simpleString(), text)
        for field, text in zip(fields, texts, strict=True)
    ]
