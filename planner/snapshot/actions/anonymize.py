"""Anonymised snapshots, for bug reports."""

import hashlib
import re
from collections.abc import Iterable, Mapping
from typing import Any

import pyarrow as pa

from planner.snapshot.formats.json_file import python_values
from planner.snapshot.snapshot_document import Snapshot
from planner.snapshot.tables.snapshot_columns import STRING_MAP, ArrowArray, ArrowTable
from planner.snapshot.tables.table_rows import Rows, as_array

INTERNAL_TOPICS = frozenset(
    {
        "__consumer_offsets",
        "__transaction_state",
        "__share_group_state",
        "__remote_log_metadata",
        "__cluster_metadata",
    }
)
"""Topics of Kafka itself, whose names do not identify a cluster."""

_DIGITS = 12
_NUMBER = re.compile(r"[+-]?\d+(\.\d+)?([eE][+-]?\d+)?|\d+(\.\d+)+(-IV\d+)?")
_THROTTLED = re.compile(r"\*|\d+:\d+(,\d+:\d+)*")
_PLAIN_VALUES = frozenset(
    [
        "true",
        "false",
        "all",
        "none",
        "delete",
        "compact",
        "compact,delete",
        "delete,compact",
        "producer",
        "uncompressed",
        "gzip",
        "snappy",
        "lz4",
        "zstd",
        "CreateTime",
        "LogAppendTime",
        "before",
        "after",
        "PLAINTEXT",
        "SSL",
        "SASL_PLAINTEXT",
        "SASL_SSL",
    ]
)
_PLAIN_RATES = frozenset(
    [
        "prometheus",
        "jmx",
        "kminion",
        "kafka-exporter",
        "msk",
        "strimzi",
        "live",
        "cruise-control",
        "synthetic",
        "high-watermark",
        "size-growth",
        "equal",
        "sampled",
        "end-offsets",
        "estimate",
    ]
)


def anonymous_names(
    prefix: str, names: Iterable[str | None], *, digits: int = _DIGITS
) -> dict[str | None, str | None]:
    """
    Return new names made from the SHA-256 of names.

    Parameters
    ----------
    prefix
        Prefix of the new names, also a part of the hashed text: a host and a rack with
        the same name get unrelated hashes.
    names
        The names. Equal names get equal new names, and different names different ones;
        `None` stays `None`.
    digits
        Number of hexadecimal digits; more are used if names would collide.
    """
    digests = {
        name: hashlib.sha256(f"{prefix}\0{name}".encode()).hexdigest()
        for name in names
        if name is not None
    }
    while len({digest[:digits] for digest in digests.values()}) < len(digests):
        digits += 1
    new: dict[str | None, str | None] = {None: None}
    new.update((name, prefix + digest[:digits]) for name, digest in digests.items())
    return new


def anonymize(snapshot: Snapshot) -> Snapshot:
    """
    Return a snapshot of the same shape whose names are hashes.

    Cluster, topics and their ids, hosts, racks, paths, broker sets, tags and config
    values that are neither numbers nor Kafka's own words are renamed. Kafka's internal
    topics keep their names, configs and features their keys.
    """
    words = anonymous_names("x-", _words(snapshot))
    controllers = [dict(controller) for controller in snapshot.controllers]
    racks = anonymous_names(
        "rack-",
        [*_distinct(snapshot.brokers, "rack"), *(c.get("rack") for c in controllers)],
    )
    for controller in controllers:
        if "rack" in controller:
            controller["rack"] = racks[controller["rack"]]
    cluster = anonymous_names("cluster-", [snapshot.cluster_id])
    header = snapshot.header() | {
        "cluster_id": cluster[snapshot.cluster_id],
        "kafka_version": _plain(snapshot.kafka_version, words),
        "configs": {k: _plain(v, words) for k, v in snapshot.configs.items()},
        "rates": _rates(snapshot.rates, words),
        "controllers": controllers,
    }
    return Snapshot.from_tables(_tables(snapshot, racks, words), header)


def _tables(
    snapshot: Snapshot,
    racks: Mapping[str | None, str | None],
    words: Mapping[str | None, str | None],
) -> dict[str, ArrowTable]:
    topics = anonymous_names("topic-", _distinct(snapshot.topics, "topic"))
    topics.update({name: name for name in INTERNAL_TOPICS})
    lists = [snapshot.partitions.select([n]) for n in ("log_dirs", "future_log_dirs")]
    named = [name for table in lists for name in _distinct_elements(table)]
    paths = anonymous_names("/dir-", [*_distinct(snapshot.log_dirs, "path"), *named])
    new_names: dict[str, dict[str, Mapping[str | None, str | None]]] = {
        "brokers": {
            "rack": racks,
            "host": _own(snapshot.brokers, "host", "host-"),
            "broker_set": _own(snapshot.brokers, "broker_set", "set-"),
            "configs": words,
            "tags": words,
        },
        "log_dirs": {"path": paths},
        "topics": {
            "topic": topics,
            "topic_id": _own(snapshot.topics, "topic_id", "id-"),
            "configs": words,
            "tags": words,
        },
        "partitions": {"topic": topics, "log_dirs": paths, "future_log_dirs": paths},
    }
    return {
        name: _renamed(table, new_names[name])
        for name, table in snapshot.tables().items()
    }


def _own(table: ArrowTable, column: str, prefix: str) -> dict[str | None, str | None]:
    return anonymous_names(prefix, _distinct(table, column))


def _distinct(table: ArrowTable, column: str) -> list[str | None]:
    return table.column(column).unique().to_pylist()  # type: ignore[no-any-return]


def _distinct_elements(table: ArrowTable) -> list[str | None]:
    elements = Rows.from_arrow(table.column(0)).values
    return elements.unique().to_pylist()  # type: ignore[no-any-return]


def _words(snapshot: Snapshot) -> set[str | None]:
    """Return all config values, tags, and sources of rates."""
    found: set[str | None] = {*snapshot.configs.values(), snapshot.kafka_version}
    found.update(v for v in (snapshot.rates or {}).values() if isinstance(v, str))
    for table in (snapshot.brokers, snapshot.topics):
        for tags in python_values(table.column("tags")):
            found.update([*(tags or {}), *(tags or {}).values()])
        for configs in python_values(table.column("configs")):
            found.update((configs or {}).values())
    return found


def _plain(value: str | None, words: Mapping[str | None, str | None]) -> str | None:
    """Return a value unchanged if it is a number or a word of Kafka, else its hash."""
    if value is None or not value or value in _PLAIN_VALUES:
        return value
    is_number = _NUMBER.fullmatch(value) or _THROTTLED.fullmatch(value)
    return value if is_number else words[value]


def _rates(
    rates: Mapping[str, Any] | None, words: Mapping[str | None, str | None]
) -> dict[str, Any] | None:
    if rates is None:
        return None
    return {
        key: words[value]
        if isinstance(value, str) and value not in _PLAIN_RATES
        else value
        for key, value in rates.items()
    }


def _renamed(
    table: ArrowTable, new_names: Mapping[str, Mapping[str | None, str | None]]
) -> ArrowTable:
    for name, new in new_names.items():
        column = as_array(table.column(name))
        at = table.schema.get_field_index(name)
        table = table.set_column(at, name, _rename(name, column, new))
    return table


def _rename(
    name: str, column: ArrowArray, new: Mapping[str | None, str | None]
) -> ArrowArray:
    if pa.types.is_map(column.type):
        maps = python_values(column)
        pairs = [None if m is None else _rename_map(name, m, new) for m in maps]
        return pa.array(pairs, STRING_MAP)
    if not pa.types.is_list(column.type):
        return _rename_texts(column, new)
    rows = Rows.from_arrow(column)
    return pa.ListArray.from_arrays(
        pa.array(rows.start, pa.int32()),
        _rename_texts(rows.values, new),
        mask=pa.array(rows.is_absent),
    )


def _rename_texts(
    column: ArrowArray, new: Mapping[str | None, str | None]
) -> ArrowArray:
    encoded = column.dictionary_encode()
    names = pa.array([new[n] for n in encoded.dictionary.to_pylist()], pa.string())
    return names.take(encoded.indices)


def _rename_map(
    name: str, texts: Mapping[str, str], new: Mapping[str | None, str | None]
) -> list[tuple[str | None, str | None]]:
    if name == "configs":
        return [(key, _plain(value, new)) for key, value in texts.items()]
    return [(new[key], new[value]) for key, value in texts.items()]
