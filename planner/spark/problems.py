"""What is wrong with the tables of a fleet: rows that stand twice, or fit nowhere."""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from placement.load import MOST_LOAD
from planner.snapshot.columns import ArrowTable
from planner.snapshot.rows import as_array
from planner.spark.arrays import LOADS
from planner.spark.chunk import WRONG
from planner.spark.files import TIME
from planner.spark.grounds import Grounds
from planner.spark.parcels import Key, Unpacked

PROBLEM = ("table", "place", "value", "rule")
"""Which table, where in it, what stands there, what must hold."""
SCHEMA = pa.schema(
    [
        ("cluster_id", pa.string()),
        ("taken_at", TIME),
        *((name, pa.string()) for name in PROBLEM),
    ]
)
ONCE = "a row must stand once"
_RULES = {
    "lacks_replicas": "a partition must have replicas",
    "is_twice": "replicas of a partition must be on distinct brokers",
    "unnumbered": "a partition must have its topic and its number",
    "unlike": "lists of a partition must be as long as its replicas",
}
Row = dict[str, str]


def problem_tables(parcels: Unpacked, grounds: Grounds) -> Iterator[ArrowTable]:
    """
    Yield a row per thing that is wrong with one snapshot, as far as this task knows.

    Parameters
    ----------
    parcels
        Of the snapshot: the kinds `number`, `count`, `found` and `listed`.
    grounds
        What is known of its brokers.
    """
    flaws = grounds.flaws.get(parcels.key)
    # What is not there makes the rest look wrong as well.
    rows = _in_all(parcels, grounds) if flaws is None else flaws
    if rows and (flaws is None or parcels.has_first):
        yield _table(parcels.key, rows)


def _in_all(parcels: Unpacked, grounds: Grounds) -> list[Row]:
    rows = [*_in_topics(parcels)]
    if parcels.has_first:
        rows += _once_each(parcels.table("found"))
        rows += _too_much(parcels.table("count"))
        rows += _in_grounds(parcels.key, grounds)
    return rows


def _table(key: Key, rows: Sequence[Row]) -> ArrowTable:
    count = len(rows)
    columns = [pa.array([row[name] for row in rows], pa.string()) for name in PROBLEM]
    cluster_id = pa.repeat(pa.scalar(key[0], pa.string()), count)
    taken_at = pa.repeat(pa.scalar(key[1], pa.int64()).cast(TIME), count)
    return pa.Table.from_arrays([cluster_id, taken_at, *columns], schema=SCHEMA)


def _row(table: str, place: str, value: object, rule: str) -> Row:
    return {"table": table, "place": place, "value": str(value), "rule": rule}


def _once_each(found: ArrowTable) -> list[Row]:
    rows: list[Row] = found.to_pylist()
    return list({tuple(row.values()): row for row in rows}.values())


def _too_much(counts: ArrowTable) -> Iterator[Row]:
    for name in LOADS:
        whole = float(pc.sum(counts.column(f"whole_{name}")).as_py() or 0.0)
        if whole >= MOST_LOAD:
            rule = f"{name} is too much to add up"
            yield _row("partitions", name, f"{whole:.3g}", rule)


def _in_grounds(key: Key, grounds: Grounds) -> Iterator[Row]:
    count = len(grounds.part("clusters", key))
    if count != 1:
        rule = "a snapshot must have one row in clusters"
        yield _row("clusters", "", count, rule)
    brokers = grounds.part("brokers", key).select(["id"])
    dirs = grounds.part("log_dirs", key).select(["broker_id", "path"])
    yield from _twice("brokers", brokers)
    yield from _twice("log_dirs", dirs)
    ids, owners = as_array(brokers.column("id")), dirs.column("broker_id")
    if ids.null_count:
        yield _row("brokers", "id", "", "a broker must have its id")
    rule = "log dirs must be of brokers that are listed"
    known = pc.is_in(owners, value_set=ids)
    for owner in sorted(owners.filter(pc.invert(known)).unique().to_pylist(), key=str):
        yield _row("log_dirs", f"broker_id: {owner}", owner, rule)
    if dirs.column("path").null_count:
        yield _row("log_dirs", "path", "", "a log dir must have its path")


def _twice(name: str, table: ArrowTable) -> Iterator[Row]:
    grouped = table.group_by(table.column_names, use_threads=False)
    found = grouped.aggregate([([], "count_all")])
    often = found.filter(pc.greater(found.column("count_all"), 1))
    for *key, times in zip(*often.to_pydict().values(), strict=True):
        yield _row(name, " ".join(map(str, key)), times, ONCE)


def _in_topics(parcels: Unpacked) -> Iterator[Row]:
    numbers = parcels.table("number")
    for name in WRONG:
        is_wrong = pc.greater(numbers.column(name), 0)
        # Mostly nothing is, and to group nothing takes as long as to group a little.
        if not pc.any(is_wrong).as_py():
            continue
        wrong = numbers.select(["topic", name]).filter(is_wrong).group_by("topic")
        for row in wrong.aggregate([(name, "sum")]).sort_by("topic").to_pylist():
            yield _row("partitions", row["topic"], row[f"{name}_sum"], _RULES[name])
    counted = parcels.table("listed").column("topic").value_counts()
    for row in counted.filter(pc.greater(counted.field("counts"), 1)).to_pylist():
        yield _row("topics", row["values"], row["counts"], ONCE)
    for (topic, number), times in twice_numbered(numbers).items():
        yield _row("partitions", f"{topic}-{number}", times, ONCE)


def twice_numbered(numbers: ArrowTable) -> Mapping[tuple[str, int], int]:
    """
    Return the partitions that stand more than once, and how often they do.

    Parameters
    ----------
    numbers
        The columns of `planner.spark.chunk.NUMBERS`: of each topic one row or more.

    Notes
    -----
    Partitions are looked at one by one only in topics of which the pieces overlap, or
    do not go up one by one.
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
    """Return the topics of which two pieces overlap."""
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
