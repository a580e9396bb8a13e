"""Example queries of the contracts, on Spark."""

import pytest

from planner.fleet.contracts.all_contracts import CONTRACTS
from planner.fleet.contracts.example_queries import QUERIES

pytestmark = [
    pytest.mark.lake,
    pytest.mark.spark,
    # pyspark leaks a socket at exit.
    pytest.mark.filterwarnings("default"),
]


def test_spark_understands_every_query(lake):
    from planner.spark.common.contract_columns import columns_of

    for name, contract in CONTRACTS.items():
        rows = lake.createDataFrame([], columns_of(contract))
        rows.createOrReplaceTempView(name)
    for query in (each for queries in QUERIES.values() for each in queries):
        assert lake.sql(query).columns
    for name in CONTRACTS:
        lake.catalog.dropTempView(name)
