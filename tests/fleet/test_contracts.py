"""Contracts of the tables of fleets: every column, and queries that run."""

import duckdb
import pytest

from planner.fleet.contracts.all_contracts import ABOUT, CONTRACTS
from planner.fleet.contracts.example_queries import QUERIES


@pytest.fixture(scope="module")
def engine():
    connection = duckdb.connect()
    for name, contract in CONTRACTS.items():
        connection.register(name, contract.schema.empty_table())
    return connection


@pytest.mark.parametrize("name", CONTRACTS)
def test_a_contract_has_every_column(name):
    contract = CONTRACTS[name]

    assert contract.name == name
    assert set(contract.meanings) == set(contract.columns.names)
    assert set(contract.keys) <= set(contract.columns.names)
    assert ABOUT[name]
    for column in contract.schema.names:
        text, *_ = contract.meaning(column)
        assert text.endswith(".")
        assert contract.metadata(column)["comment"].startswith(text)


@pytest.mark.parametrize("name", CONTRACTS)
def test_the_queries_of_a_table_run(name, engine):
    assert len(QUERIES[name]) == 3
    for query in QUERIES[name]:
        assert name in query
        assert engine.sql(query).fetchall() in ([], [(0,)])
