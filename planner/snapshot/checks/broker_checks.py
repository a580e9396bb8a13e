"""Consistency checks of controllers, brokers, log dirs and topics."""

import re
from collections.abc import Iterator
from string import ascii_letters, digits

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from planner.snapshot.tables.snapshot_columns import MAX_INT32, MAX_TOTAL, ArrowArray
from planner.snapshot.tables.snapshot_problems import Finding
from planner.snapshot.tables.table_facts import (
    MIN_ISR,
    Facts,
    codes_of,
    config_values,
    dir_totals,
    repeated_rows,
)

TOPIC_ONCE = "a topic must be listed once"
_LONGEST_NAME = 249
_IN_NAMES = np.zeros(256, dtype=np.bool_)
_IN_NAMES[list((ascii_letters + digits + "._-").encode())] = True
_TOPIC_NAME = r"^[a-zA-Z0-9._-]{1,249}$"


def _duplicate_controllers(facts: Facts) -> Iterator[Finding]:
    ids = [controller["id"] for controller in facts.controllers]
    for row in repeated_rows(np.array(ids, dtype=np.int64)):
        yield Finding(
            table="",
            row=row,
            column=f"controllers[{row}].id",
            value=ids[row],
            rule="a controller id must be listed once",
            remedy="remove or merge the second record",
        )


def _duplicate_brokers(facts: Facts) -> Iterator[Finding]:
    for row in repeated_rows(facts.broker_ids):
        yield Finding(
            table="brokers",
            row=row,
            column="id",
            value=int(facts.broker_ids[row]),
            rule="a broker id must be listed once",
            remedy="remove or merge the second record",
        )


def _log_dir_owners(facts: Facts) -> Iterator[Finding]:
    owners = facts.numbers("log_dirs", "broker_id")
    for row in np.flatnonzero(~np.isin(owners, facts.broker_ids)).tolist():
        yield Finding(
            table="log_dirs",
            row=row,
            column="broker_id",
            value=int(owners[row]),
            rule="a log dir must belong to a broker of the snapshot",
            remedy="add the broker, or remove the log dir",
        )


def _duplicate_log_dirs(facts: Facts) -> Iterator[Finding]:
    path = facts.column("log_dirs", "path")
    codes = codes_of(path)
    key = facts.numbers("log_dirs", "broker_id") * np.int64(len(codes) + 1) + codes
    for row in repeated_rows(key):
        yield Finding(
            table="log_dirs",
            row=row,
            column="path",
            value=path[row].as_py(),
            rule="a broker must list a log dir once",
            remedy="remove or merge the second record",
        )


def _empty_paths(facts: Facts) -> Iterator[Finding]:
    path = facts.column("log_dirs", "path")
    is_empty = pc.equal(path, "").fill_null(False)
    for row in np.flatnonzero(is_empty.to_numpy(zero_copy_only=False)).tolist():
        yield Finding(
            table="log_dirs",
            row=row,
            column="path",
            value='""',
            rule="a log dir must have a path",
            remedy="write the absolute path",
        )


def _more_usable_than_size(facts: Facts) -> Iterator[Finding]:
    size = facts.numbers("log_dirs", "size_bytes")
    usable = facts.numbers("log_dirs", "usable_bytes")
    for row in np.flatnonzero((size >= 0) & (usable > size)).tolist():
        yield Finding(
            table="log_dirs",
            row=row,
            column="usable_bytes",
            value=int(usable[row]),
            rule=f"usable_bytes must not exceed size_bytes, {size[row]}",
            remedy="size_bytes is the file system's size, usable_bytes its free part",
        )


def _disk_is_sum_of_dirs(facts: Facts) -> Iterator[Finding]:
    given = facts.numbers("brokers", "disk_bytes")
    total = dir_totals(facts, facts.broker_ids)
    for row in np.flatnonzero((given >= 0) & (total >= 0) & (given != total)).tolist():
        yield Finding(
            table="brokers",
            row=row,
            column="disk_bytes",
            value=int(given[row]),
            rule=f"disk_bytes must be the sum of the online log dirs, {total[row]}",
            remedy="leave disk_bytes out, or correct the size_bytes of the log dirs",
        )


def _topic_names(facts: Facts) -> Iterator[Finding]:
    names = facts.column("topics", "topic")
    if _are_plain(names):
        return
    is_fine = pc.and_(
        pc.match_substring_regex(names, _TOPIC_NAME),
        pc.invert(pc.is_in(names, value_set=pa.array([".", ".."]))),
    ).fill_null(False)
    for row in np.flatnonzero(~is_fine.to_numpy(zero_copy_only=False)).tolist():
        yield Finding(
            table="topics",
            row=row,
            column="topic",
            value=names[row].as_py() or '""',
            rule="a topic name must be 1 to 249 of a-z, A-Z, 0-9, '.', '_', '-', "
            "and neither '.' nor '..'",
            remedy="correct the name: Kafka allows no such topic",
        )


def _are_plain(names: ArrowArray) -> bool:
    """
    Return whether all names are surely valid, from their joined bytes.

    A regular expression takes ten times as long, and nearly all names are valid.
    `False` does not mean an invalid name: with a name of one or two characters, any dot
    in the names gives `False`.
    """
    if names.null_count or not len(names):
        return False
    _, ends, data = names.cast(pa.binary()).buffers()
    first, stop = names.offset, names.offset + len(names) + 1
    start = np.frombuffer(ends, np.int32)[first:stop]
    length = np.diff(start)
    if length.min() < 1 or length.max() > _LONGEST_NAME:
        return False
    text = np.frombuffer(data, np.uint8)[start[0] : start[-1]]
    has_dots = bool((length <= len("..")).any()) and bool((text == ord(".")).any())
    return bool(_IN_NAMES[text].all()) and not has_dots


def _duplicate_topics(facts: Facts) -> Iterator[Finding]:
    names = facts.column("topics", "topic")
    for row in repeated_rows(codes_of(names)):
        yield Finding(
            table="topics",
            row=row,
            column="topic",
            value=names[row].as_py(),
            rule=TOPIC_ONCE,
            remedy="merge the records",
        )


def _min_isr_of_cluster(facts: Facts) -> Iterator[Finding]:
    if not _is_min_isr(facts.configs.get(MIN_ISR, "1")):
        yield _min_isr_finding("", 0, facts.configs[MIN_ISR])


def _min_isr_of_topics(facts: Facts) -> Iterator[Finding]:
    row, value = config_values(facts.column("topics", "configs"), MIN_ISR)
    for topic, text in zip(row.tolist(), value, strict=True):
        if not _is_min_isr(text):
            yield _min_isr_finding("topics", topic, text)


def _min_isr_finding(table: str, row: int, value: str) -> Finding:
    return Finding(
        table=table,
        row=row,
        column=f"configs.{MIN_ISR}",
        value=value or '""',
        rule=f"{MIN_ISR} must be an integer from 1 to {MAX_INT32}",
        remedy="write the number, or leave the key out",
    )


def _is_min_isr(text: str) -> bool:
    is_number = re.fullmatch(r"\+?[0-9]{1,10}", text, re.ASCII) is not None
    return is_number and 1 <= int(text) <= MAX_INT32


def _broker_totals(facts: Facts) -> Iterator[Finding]:
    for table, name in _SUMMED:
        yield from overflow_findings(table, name, total_of(facts.column(table, name)))


_SUMMED = (
    ("brokers", "disk_bytes"),
    ("brokers", "max_replicas"),
    ("log_dirs", "size_bytes"),
)


def total_of(column: ArrowArray) -> float:
    """Return the sum of a column in floats, which do not overflow."""
    if column.null_count == len(column):
        return 0.0
    total = pc.sum(column.cast(pa.float64(), safe=False)).as_py()
    return total or 0.0


def overflow_findings(table: str, name: str, total: float) -> Iterator[Finding]:
    """Yield a finding if the sum of amounts does not fit 64 bits."""
    if total >= MAX_TOTAL:
        yield Finding(
            table="",
            row=0,
            column=f"{table}, {name}",
            value=f"{total:.3g}",
            rule="the sum over all rows must stay below 2^62",
            remedy="sizes are in bytes: correct the largest",
        )


HEADER_CHECKS = (_duplicate_controllers, _min_isr_of_cluster)
"""Checks of the header of a snapshot."""
BROKER_CHECKS = (
    _duplicate_brokers,
    _log_dir_owners,
    _duplicate_log_dirs,
    _empty_paths,
    _more_usable_than_size,
    _disk_is_sum_of_dirs,
    _broker_totals,
)
"""Checks of all brokers and log dirs at once."""
TOPIC_CHECKS = (_topic_names, _min_isr_of_topics)
"""Checks of each topic by itself."""
ALL_TOPIC_CHECKS = (_duplicate_topics,)
"""Checks of all topics at once."""
