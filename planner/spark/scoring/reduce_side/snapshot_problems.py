"""
Problems of the snapshots of a fleet, and signs that one is loaded in part.

The checks are those of `planner.snapshot.checks.record_checks`. Checks of a part of a
snapshot run in the map-side task that reads the part. Checks of brokers and log dirs,
and of all topics or partitions at once, run here, the latter on the partial sums.
"""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from placement.array_types import IntArray
from placement.model.load import MOST_LOAD
from placement.score.incomplete_tables import (
    GAPS,
    NO_PARTITION,
    NO_PARTITIONS,
    missing_partitions,
)
from planner.fleet.contracts.result_schemas import PROBLEM, PROBLEMS
from planner.snapshot.checks.broker_checks import (
    BROKER_CHECKS,
    TOPIC_CHECKS,
    TOPIC_ONCE,
    overflow_findings,
)
from planner.snapshot.checks.partition_checks import PARTITION_ONCE
from planner.snapshot.checks.record_checks import findings
from planner.snapshot.tables.snapshot_columns import TOPICS, ArrowArray, ArrowTable
from planner.snapshot.tables.table_facts import Facts
from planner.snapshot.tables.table_rows import as_array
from planner.spark.common.problem_rows import (
    MOST_NAMED,
    WARNING,
    Row,
    more_rows,
    row_of,
    rows_of_findings,
)
from planner.spark.io.fleet_files import TIME
from planner.spark.io.snapshot_keys import NO_TIME, Key
from planner.spark.scoring.broadcast.broadcast_tables import Grounds
from planner.spark.scoring.shuffle.shuffle_rows import Unpacked
from planner.spark.scoring.sums.kernel_inputs import NO_NAME
from planner.spark.scoring.sums.partial_sums import TOTALS
from planner.spark.scoring.sums.replica_lists import place_keys
from planner.spark.scoring.sums.sum_arrays import LOADS


def problem_tables(parcels: Unpacked, grounds: Grounds) -> Iterator[ArrowTable]:
    """
    Yield the problems of one snapshot that this task can see.

    Parameters
    ----------
    parcels
        Shuffle rows of the snapshot: the kinds `number`, `count`, `found`, `place` and
        `listed`.
    grounds
        Broadcast data of its brokers.
    """
    flaws = grounds.flaws.get(parcels.key)
    # Missing rows would cause further problems in the rest.
    rows = _in_all(parcels, grounds) if flaws is None else flaws
    if rows and (flaws is None or parcels.has_first):
        yield table_of(parcels.key, rows)


def warning_rows(parcels: Unpacked) -> list[Row]:
    """
    Return the signs, visible to this task, that tables are still being loaded.

    Parameters
    ----------
    parcels
        Shuffle rows of a snapshot without errors: the kinds `number`, `count` and
        `listed`.
    """
    counted = parcels.table("count").column("partitions")
    if parcels.has_first and not pc.sum(counted).as_py():
        return [row_of("partitions", "", 0, NO_PARTITIONS, WARNING)]
    return [*_empty_topics(parcels), *_gaps(parcels)]


def _empty_topics(parcels: Unpacked) -> Iterator[Row]:
    listed = as_array(parcels.table("listed").column("topic"))
    has_some = as_array(parcels.table("number").column("topic"))
    empty = listed.filter(pc.invert(pc.is_in(listed, value_set=has_some)))
    for topic in empty[:MOST_NAMED].to_pylist():
        yield row_of("topics", topic, 0, NO_PARTITION, WARNING)
    yield from _more("topics", len(empty))


def _more(table: str, count: int) -> Iterator[Row]:
    for row in more_rows({(table, ""): count}):
        yield row | {"severity": WARNING}


def _gaps(parcels: Unpacked) -> Iterator[Row]:
    """Yield the topics with missing partition numbers; no number occurs twice."""
    names, count, last = _counted(parcels.table("number"))
    missing = missing_partitions(count, last)
    rows = np.flatnonzero(missing > 0)
    if not len(rows):
        return
    topics = names.take(pa.array(rows)).to_pylist()
    gaps = sorted(zip(topics, missing[rows].tolist(), last[rows].tolist(), strict=True))
    for topic, lost, end in gaps[:MOST_NAMED]:
        value = f"{lost} of 0 to {end} missing"
        yield row_of("partitions", topic, value, GAPS, WARNING)
    yield from _more("partitions", len(gaps))


def _counted(numbers: ArrowTable) -> tuple[ArrowArray, IntArray, IntArray]:
    """Return the topics, the count of partition numbers of each, and the largest."""
    first, last = (numbers.column(name).to_numpy() for name in ("first", "last"))
    own, end = last - first + 1, last.copy()
    listed = numbers.column("numbers").combine_chunks()
    if listed.null_count < len(listed):
        for row in np.flatnonzero(listed.is_valid().to_numpy(zero_copy_only=False)):
            values = listed[int(row)].values.to_numpy()
            own[row], end[row] = len(values), values.max(initial=-1)
    coded = numbers.column("topic").combine_chunks().dictionary_encode()
    code = coded.indices.to_numpy()
    count = np.zeros(len(coded.dictionary), dtype=np.int64)
    largest = np.full(len(count), -1, dtype=np.int64)
    np.add.at(count, code, own)
    np.maximum.at(largest, code, end)
    return coded.dictionary, count, largest


def _in_all(parcels: Unpacked, grounds: Grounds) -> list[Row]:
    rows = [*_in_topics(parcels)]
    if parcels.has_first:
        rows += _once_each(parcels.table("found"))
        rows += _in_sums(parcels.table("count"))
        rows += _in_grounds(parcels.key, grounds)
        rows += _in_places(
            parcels.table("place"), grounds.part("log_dirs", parcels.key)
        )
    return rows


def table_of(key: Key, rows: Sequence[Row]) -> ArrowTable:
    """Return rows of one snapshot in the columns of `PROBLEMS`."""
    count = len(rows)
    every = [row_of(**row) for row in rows]
    columns = [pa.array([row[name] for row in every], pa.string()) for name in PROBLEM]
    cluster_id = pa.repeat(pa.scalar(key[0], pa.string()), count)
    micros = None if key[1] == NO_TIME else key[1]
    taken_at = pa.repeat(pa.scalar(micros, pa.int64()).cast(TIME), count)
    return pa.Table.from_arrays([cluster_id, taken_at, *columns], schema=PROBLEMS)


def _once_each(found: ArrowTable) -> list[Row]:
    rows: list[Row] = found.to_pylist()
    return list({tuple(row.values()): row for row in rows}.values())


def _in_sums(counts: ArrowTable) -> Iterator[Row]:
    for name in LOADS:
        whole = _whole(counts, f"whole_{name}")
        if whole >= MOST_LOAD:
            rule = f"{name} is too much to add up"
            yield row_of("partitions", name, f"{whole:.3g}", rule)
    for name in TOTALS:
        found = overflow_findings("partitions", name, _whole(counts, f"total_{name}"))
        yield from rows_of_findings(found, {})


def _whole(counts: ArrowTable, name: str) -> float:
    return float(counts.column(name).to_numpy().sum())


def _in_grounds(key: Key, grounds: Grounds) -> Iterator[Row]:
    if key[1] == NO_TIME:
        yield row_of("", "taken_at", "", "a row must say when its snapshot was taken")
    count = len(grounds.part("clusters", key))
    if count != 1:
        rule = "a snapshot must have one row in clusters"
        yield row_of("clusters", "", count, rule)
    yield from grounds.problems.get(key, ())
    brokers, dirs = grounds.part("brokers", key), grounds.part("log_dirs", key)
    # A row without an id is reported as a cell.
    tables = {
        "brokers": brokers.filter(pc.is_valid(brokers.column("id"))),
        "log_dirs": dirs.filter(
            pc.and_(
                pc.is_valid(dirs.column("broker_id")), dirs.column("path").is_valid()
            )
        ),
    }
    found = findings(Facts({}, (), tables), BROKER_CHECKS)
    yield from rows_of_findings(found, tables)


def _in_places(places: ArrowTable, dirs: ArrowTable) -> Iterator[Row]:
    """Yield the log dirs of replicas that their brokers do not list."""
    named = places.select(["broker_id", "log_dir"])
    named = named.filter(pc.is_valid(named.column("log_dir")))
    known = dirs.select(["broker_id", "path"])
    wanted, listed = place_keys(named, known.rename_columns(named.column_names))
    owners = as_array(known.column("broker_id"))
    has_dirs = pc.is_in(named.column("broker_id"), value_set=owners).to_numpy()
    is_empty = pc.equal(named.column("log_dir"), "").to_numpy()
    stray = (has_dirs & ~np.isin(wanted, listed)) | is_empty
    for place in named.filter(pa.array(stray)).to_pylist():
        broker, path = place["broker_id"], place["log_dir"] or '""'
        rule = f"broker {broker} must list the log dir"
        yield row_of("partitions", f"log_dirs: broker {broker}, {path}", path, rule)


def _in_topics(parcels: Unpacked) -> Iterator[Row]:
    listed, numbers = parcels.table("listed").column("topic"), parcels.table("number")
    counted = listed.value_counts()
    for row in counted.filter(pc.greater(counted.field("counts"), 1)).to_pylist():
        yield row_of("topics", row["values"], row["counts"], TOPIC_ONCE)
    yield from _unlisted_names(as_array(numbers.column("topic")), as_array(listed))
    for (topic, number), times in twice_numbered(numbers).items():
        yield row_of("partitions", f"{topic}-{number}", times, PARTITION_ONCE)


def _unlisted_names(topics: ArrowTable, listed: ArrowTable) -> Iterator[Row]:
    """Check the topics that only partitions name."""
    # A row without a name is reported as a cell.
    known = pa.concat_arrays([listed, pa.array([NO_NAME], pa.string())])
    names = topics.filter(pc.invert(pc.is_in(topics, value_set=known))).unique()
    if len(names):
        nothing = [pa.nulls(len(names), column.type) for column in TOPICS.columns[1:]]
        arrays = [names, *nothing]
        tables = {"topics": pa.Table.from_arrays(arrays, schema=TOPICS.schema)}
        found = findings(Facts({}, (), tables), TOPIC_CHECKS)
        yield from rows_of_findings(found, tables)


def twice_numbered(numbers: ArrowTable) -> Mapping[tuple[str, int], int]:
    """
    Return the partitions that occur more than once, and how often.

    Parameters
    ----------
    numbers
        The columns of `planner.spark.scoring.sums.partial_sums.NUMBERS`: one or more
        rows per topic.

    Notes
    -----
    Partition numbers are compared one by one only in topics whose pieces overlap, or
    are not consecutive.
    """
    names = numbers.column("topic").combine_chunks().dictionary_encode()
    topic = names.indices.to_numpy(zero_copy_only=False).astype(np.int64)
    first = numbers.column("first").to_numpy()
    last = numbers.column("last").to_numpy()
    is_listed = numbers.column("numbers").is_valid().to_numpy()
    suspects = np.union1d(topic[is_listed], _overlapping(topic, first, last))
    found: dict[tuple[str, int], int] = {}
    for suspect in suspects.tolist():
        rows = numbers.filter(pa.array(topic == suspect))
        values, counts = np.unique(_all_numbers(rows), return_counts=True)
        name = names.dictionary[suspect].as_py()
        twice = (counts > 1) & (values >= 0)
        pairs = zip(values[twice].tolist(), counts[twice].tolist(), strict=True)
        found |= {(name, number): times for number, times in pairs}
    return found


def _overlapping(
    topic: npt.NDArray[np.int64],
    first: npt.NDArray[np.int64],
    last: npt.NDArray[np.int64],
) -> npt.NDArray[np.int64]:
    """Return the topics with two pieces that overlap."""
    order = np.lexsort((first, topic))
    same = topic[order][1:] == topic[order][:-1]
    is_over = same & (first[order][1:] <= last[order][:-1])
    overlapping: npt.NDArray[np.int64] = topic[order][1:][is_over]
    return overlapping


def _all_numbers(rows: ArrowTable) -> npt.NDArray[np.int64]:
    """Return every partition number of a topic."""
    pieces = [
        np.asarray(row["numbers"], dtype=np.int64)
        if row["numbers"] is not None
        else np.arange(row["first"], row["last"] + 1)
        for row in rows.select(["first", "last", "numbers"]).to_pylist()
    ]
    return np.concatenate(pieces)
