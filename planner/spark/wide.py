"""
Scores on their way to Spark: a row per place, its figures lists by resource.

Spark takes rows in value by value, so that a sixth of the rows, without what the six
have in common, costs it a fraction; to make six of each is code that it compiles.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame

from placement.load import RESOURCES
from placement.score import ClusterScore
from planner.score.tables import LOADS, MAKERS, SCHEMA, topic_columns
from planner.snapshot.columns import ArrowArray, ArrowTable

NAMES = tuple(str(resource) for resource in RESOURCES)
FIGURES = (
    "brokers",
    *LOADS,
    *SCHEMA.names[SCHEMA.names.index("is_out_of_band") : -1],
)
"""Columns that differ from resource to resource."""
WIDE = pa.schema(
    [
        (field.name, pa.list_(field.type) if field.name in FIGURES else field.type)
        for field in SCHEMA
        if field.name != "resource"
    ]
)
_AT = "at"


def wide_levels(
    score: ClusterScore,
    cluster_id: str | None,
    taken_at: datetime | None,
    levels: Sequence[str],
) -> ArrowTable:
    """Return some levels of one score, in the columns of `WIDE`."""
    each = range(len(RESOURCES))
    tables = [
        wide_rows([MAKERS[level](score, r) for r in each], cluster_id, taken_at, level)
        for level in levels
    ]
    return pa.concat_tables(tables)


def wide_topics(
    names: ArrowArray,
    topics: Any,  # noqa: ANN401 - a TopicLevel
    cluster_id: str | None,
    taken_at: datetime | None,
) -> ArrowTable:
    """Return the rows of some topics of a snapshot, in the columns of `WIDE`."""
    columns = [topic_columns(names, topics, r) for r in range(len(RESOURCES))]
    return wide_rows(columns, cluster_id, taken_at, "topic")


def wide_rows(
    columns: Sequence[Mapping[str, Any]],
    cluster_id: str | None,
    taken_at: datetime | None,
    level: str,
) -> ArrowTable:
    """Return the rows of one level from its columns by resource, absent ones null."""
    first = columns[0]
    count = len(next(iter(first.values())))
    fixed = {"cluster_id": cluster_id, "taken_at": taken_at, "level": level}
    arrays = []
    for field in WIDE:
        if field.name in fixed:
            value = pa.scalar(fixed[field.name], field.type)
            arrays.append(pa.repeat(value, count))
        elif field.name not in first:
            arrays.append(pa.nulls(count, field.type))
        elif field.name in FIGURES:
            values = [of_resource[field.name] for of_resource in columns]
            arrays.append(_lists(values, field.type))
        else:
            arrays.append(pa.array(first[field.name], field.type))
    return pa.Table.from_arrays(arrays, schema=WIDE)


def _lists(values: Sequence[Any], kind: Any) -> ArrowArray:  # noqa: ANN401 - an Arrow type
    """Return columns by resource as one column of lists."""
    together = np.stack([np.asarray(each) for each in values], axis=1)
    width = len(values)
    start = np.arange(0, together.size + 1, width, dtype=np.int32)
    flat = pa.array(together.reshape(-1), kind.value_type)
    return pa.ListArray.from_arrays(pa.array(start), flat, type=kind)


def unfolded(wide: DataFrame) -> DataFrame:
    """Return the rows of scores, a row per resource."""
    # As text, since every call of a function of Spark's crosses over to its JVM.
    places = ", ".join(map(str, range(len(NAMES))))
    names = ", ".join(f"'{name}'" for name in NAMES)
    made = {"resource": f"get(array({names}), {_AT})"}
    made |= {name: f"get({name}, {_AT})" for name in FIGURES}
    each = wide.selectExpr("*", f"explode(array({places})) AS {_AT}")
    return each.selectExpr(*(f"{made.get(n, n)} AS {n}" for n in SCHEMA.names))
