"""Contracts of all tables, and the page of documentation that lists them."""

from collections.abc import Iterator, Mapping
from typing import Any

import pyarrow as pa

from planner.fleet.contracts.example_queries import QUERIES
from planner.fleet.contracts.fleet_contracts import FLEETS
from planner.fleet.contracts.result_contracts import RESULTS
from planner.fleet.contracts.table_contract import TableContract

CONTRACTS: Mapping[str, TableContract] = {**FLEETS, **RESULTS}
"""Contract by name of the table."""
ABOUT: Mapping[str, str] = {
    "clusters": "A row per snapshot: all that it has once.",
    "brokers": "A row per broker and snapshot.",
    "log_dirs": "A row per log dir and snapshot.",
    "topics": "A row per topic and snapshot.",
    "partitions": "A row per partition and snapshot.",
    "commits": "A row per snapshot that is whole; in catalogs alone.",
    "rejects": "A row per kind of thing that `fleet ingest` refused.",
    "ingested": "A row per dump that was read; a table in catalogs alone.",
    "scores": "A row per snapshot, level, place and resource.",
    "problems": "A row per problem of a snapshot.",
    "done": "A row per snapshot that was scored.",
    "trends": "A row per place and resource, of all times that were scored.",
    "balance": "A row per snapshot but the first, and resource.",
    "changes": "A row per partition that changed, and one for the whole.",
    "drift": "A row per plan, held against the last snapshot.",
    "overview": "A row per cluster, of its last snapshot.",
    "plans": "A row per snapshot and request.",
    "scenarios": "A row per snapshot and scenario.",
}


def page() -> str:
    """Return the part of docs/fleet-tables.md that is generated from the contracts."""
    return "\n".join(line for each in CONTRACTS.values() for line in _section(each))


def _section(contract: TableContract) -> Iterator[str]:
    name = contract.name
    yield f"## {name}\n"
    days = "; by day of `taken_at`" if contract.is_by_day else ""
    keys = ", ".join(f"`{key}`" for key in contract.keys)
    yield f"{ABOUT[name]} Key: {keys}{days}.\n"
    yield "| column | type | unit | meaning | null |"
    yield "|---|---|---|---|---|"
    for field in contract.schema:
        yield _row(contract, field)
    yield "\n```sql"
    for query in QUERIES[name]:
        yield f"{query};"
    yield "```\n"


def _row(contract: TableContract, field: Any) -> str:  # noqa: ANN401 - an Arrow field
    text, unit, null = contract.meaning(field.name)
    kind, plain = type_text(field.type), text.replace("|", r"\|")
    return f"| `{field.name}` | {kind} | {unit or '-'} | {plain} | {null or 'never'} |"


def type_text(kind: Any) -> str:  # noqa: ANN401 - an Arrow type
    """
    Return the name of a type in SQL.

    Examples
    --------
    >>> import pyarrow as pa
    >>> type_text(pa.map_(pa.string(), pa.list_(pa.int64())))
    'map<string, array<bigint>>'
    """
    if pa.types.is_map(kind):
        return f"map<{type_text(kind.key_type)}, {type_text(kind.item_type)}>"
    if pa.types.is_list(kind):
        return f"array<{type_text(kind.value_type)}>"
    if pa.types.is_struct(kind):
        fields = ", ".join(f"{each.name}: {type_text(each.type)}" for each in kind)
        return f"struct<{fields}>"
    plain = {"int32": "int", "int64": "bigint", "bool": "boolean"}
    text = "timestamp" if pa.types.is_timestamp(kind) else str(kind)
    return plain.get(text, text)
