"""Spark schemas of table contracts."""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql import types as T  # noqa: N812

from planner.fleet.contracts.table_contract import (
    VERSION,
    VERSION_COLUMN,
    TableContract,
)


def columns_of(contract: TableContract, *, is_versioned: bool = True) -> T.StructType:
    """Return the columns of a table, each with its metadata."""
    from pyspark.sql.pandas.types import from_arrow_schema

    found: T.StructType = from_arrow_schema(
        contract.schema if is_versioned else contract.columns
    )
    return T.StructType(
        [
            T.StructField(
                each.name, each.dataType, metadata=contract.metadata(each.name)
            )
            for each in found
        ]
    )


def versioned(rows: DataFrame, contract: TableContract) -> DataFrame:
    """Return rows in the columns of a contract, with its version and its metadata."""
    numbered = rows.withColumn(VERSION_COLUMN, F.lit(VERSION))
    have = set(numbered.columns)
    return numbered.select(
        *(
            (F.col(f"`{each.name}`") if each.name in have else F.lit(None))
            .cast(each.dataType)
            .alias(each.name, metadata=each.metadata)
            for each in columns_of(contract)
        )
    )
