"""Screens of `keys skew` and `keys grow`, from their documents."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from planner.text.format import bytes_text, counted, labelled, percent_text
from planner.text.table import Column, table_lines

MOST_ROWS = 60
BAR = 30
NO_KEY = "(no key)"
EMPTY_KEY = "(empty key)"


def skew_screen(document: Mapping[str, Any]) -> list[str]:
    """Return the lines of `keys skew`."""
    return [
        *_sample_lines(document["sample"], document["partitioner"]),
        *labelled("Skew", _skew_text(document)),
        *(line for note in document["notes"] for line in labelled("Note", note)),
        "",
        *_partition_lines(document["partitions"]),
        "",
        *_hot_key_lines(document["hot_keys"]),
        *_sweep_lines(document["sweep"]),
        *_compared_lines(document["compared"], document["partitioner"]),
    ]


def _sample_lines(sample: Mapping[str, Any], partitioner: str) -> Iterator[str]:
    records, keys = sample["records"], sample["keys"]
    counts = f"{counted(records, 'record')}, {counted(keys, 'key')}"
    yield from labelled("Sample", f"{sample['source']}: {counts}")
    if sample["null_keys"]:
        keyless = counted(sample["null_keys"], "record")
        yield from labelled("", f"{keyless} without a key")
    yield from labelled("Placed by", partitioner)


def _skew_text(document: Mapping[str, Any]) -> str:
    causes, expected = document["causes"], document["expected_max_over_mean"]
    text = (
        f"the busiest partition has {document['max_over_mean']:.3f} x the mean"
        f"{_range_text(document, 'max_over_mean')}"
    )
    if document["partitions"][0]["bytes_share"] is not None:
        times = f"{document['bytes_max_over_mean']:.3f} x"
        text += f", by bytes {times}{_range_text(document, 'bytes_max_over_mean')}"
    if expected is None:
        return text
    return (
        f"{text}; {expected:.3f} x is to be expected of as many equally hot keys. "
        f"Of the excess, {causes['hot_keys']:.3f} is due to hot keys (the hottest "
        f"enforces {document['least_max_over_mean'] - 1:.3f}), "
        f"{causes['hashing']:.3f} to hashing"
    )


def _range_text(document: Mapping[str, Any], name: str) -> str:
    """Return the bounds of a skew in brackets; empty unless it is an estimate."""
    low, high = document[f"{name}_low"], document[f"{name}_high"]
    return "" if low is None else f" ({low:.3f} to {high:.3f})"


def _partition_lines(partitions: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    has_sizes = partitions[0]["bytes_share"] is not None
    headings = ("PARTITION", "RECORDS", "SHARE", "BYTES", "OF BYTES")
    columns = _numbers(*headings if has_sizes else headings[:-1])
    most = max(each["share"] for each in partitions)
    rows = [
        (
            str(each["partition"]),
            f"{each['records']:,}",
            _share_text(each),
            bytes_text(each["bytes"]),
            *([_share_text(each, "bytes_")] if has_sizes else []),
            _bar(each["share"], most),
        )
        for each in partitions[:MOST_ROWS]
    ]
    yield from table_lines([*columns, Column("")], rows)
    yield from _more(len(partitions) - MOST_ROWS)


def _numbers(*headings: str) -> list[Column]:
    return [Column(heading, align="right") for heading in headings]


def _records_text(key: Mapping[str, Any]) -> str:
    """Return the records of a key, or their bounds: the error is one-sided."""
    records, error = key["records"], key["error"]
    return f"{records - error:,} to {records:,}" if error else f"{records:,}"


def _share_text(row: Mapping[str, Any], prefix: str = "") -> str:
    low, high = row[f"{prefix}low"], row[f"{prefix}high"]
    if low is None:
        return percent_text(row[f"{prefix}share"])
    return f"{percent_text(low)} to {percent_text(high)}"


def _bar(value: float, most: float) -> str:
    return "█" * round(BAR * value / most) if most else ""


def _more(rest: int) -> Iterator[str]:
    if rest > 0:
        yield f"… and {rest} more; --format json lists all"


def _key(key: str | None) -> str:
    return NO_KEY if key is None else key or EMPTY_KEY


def _partition(partition: int | None) -> str:
    return "any" if partition is None else str(partition)


def _hot_key_lines(keys: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    columns = [
        Column("HOTTEST KEY", most=40, cut="middle", is_flexible=True),
        *_numbers("RECORDS", "SHARE", "PARTITION"),
    ]
    rows = [
        (
            _key(each["key"]),
            _records_text(each),
            _share_text(each),
            _partition(each["partition"]),
        )
        for each in keys
    ]
    yield from table_lines(columns, rows)


def _sweep_lines(sweep: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    if not sweep:
        return
    most = max(each["max_over_mean"] for each in sweep)
    rows = [
        (
            str(each["partitions"]),
            f"{each['max_over_mean']:.3f}",
            _ratio(each["expected_max_over_mean"]),
            f"{each['least_max_over_mean']:.3f}",
            _bar(each["max_over_mean"], most),
        )
        for each in sweep
    ]
    columns = _numbers("PARTITIONS", "MAX/MEAN", "EXPECTED", "AT LEAST")
    yield ""
    yield from table_lines([*columns, Column("")], rows)


def _ratio(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"


def _compared_lines(
    compared: Sequence[Mapping[str, Any]], partitioner: str
) -> Iterator[str]:
    for other in compared:
        name = other["partitioner"]
        yield ""
        yield from labelled("Compared", f"{partitioner} with {name}")
        yield from labelled("Apart", _apart_text(other))
        rows = [
            (
                _key(each["key"]),
                f"{each['records']:,}",
                _partition(each["partition"]),
                _partition(each["other"]),
            )
            for each in other["examples"]
        ]
        columns = [Column("KEY", most=40, cut="middle", is_flexible=True)]
        headings = ("RECORDS", partitioner.upper(), name.upper())
        if rows:
            yield from table_lines([*columns, *_numbers(*headings)], rows)
            rest = other["keys_apart"] - len(rows)
            yield from [f"… and {rest:,} more; --top lists them"] if rest > 0 else []


def _apart_text(other: Mapping[str, Any]) -> str:
    if not other["keys_apart"]:
        return "no key: clients of both write each key to the same partition"
    return (
        f"{counted(other['keys_apart'], 'key')}, "
        f"{counted(other['records_apart'], 'record')} "
        f"({percent_text(other['share_apart'])}): their order is lost if clients of "
        "both write to the topic"
    )


def growth_screen(document: Mapping[str, Any]) -> list[str]:
    """Return the lines of `keys grow`."""
    return [
        *_sample_lines(document["sample"], document["partitioner"]),
        *labelled("Growth", f"{document['before']} to {document['after']} partitions"),
        *labelled("Moved", _moved_text(document)),
        *labelled("Skew", _growth_skew_text(document)),
        *(line for note in document["notes"] for line in labelled("Note", note)),
        *labelled("Compacted", document["compacted"]["message"]),
        *labelled("Serves", _serves_text(document)),
        "",
        *_count_lines(document["counts"]),
        "",
        *_moved_lines(document["examples"], document["keys_moved"]),
        *(
            line
            for each in document["ways_around"]
            for line in ("", *labelled(each["way"].capitalize(), each["message"]))
        ),
    ]


def _moved_text(document: Mapping[str, Any]) -> str:
    share = document["moved_share"]
    if share is None:
        return "no key decides a partition"
    return (
        f"{counted(document['keys_moved'], 'key')} ({percent_text(share)}; by theory "
        f"{percent_text(document['expected_moved_share'])}), with "
        f"{counted(document['records_moved'], 'record')} "
        f"({percent_text(document['records_moved_share'])})"
    )


def _serves_text(document: Mapping[str, Any]) -> str:
    if not document["keys_moved"]:
        return f"{document['after']} partitions: no key of the sample moves"
    return f"{document['smallest_multiple']} partitions, a multiple"


def _growth_skew_text(document: Mapping[str, Any]) -> str:
    before, after = document["max_over_mean_before"], document["max_over_mean_after"]
    return (
        f"the busiest partition has {before:.3f} x the mean before, {after:.3f} x after"
    )


def _count_lines(counts: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    rows = [
        (
            str(each["partitions"]),
            "-" if each["moved_share"] is None else percent_text(each["moved_share"]),
            percent_text(each["expected_moved_share"]),
            f"{each['max_over_mean']:.3f}",
        )
        for each in counts
    ]
    headings = ("PARTITIONS", "KEYS MOVED", "BY THEORY", "MAX/MEAN")
    yield from table_lines(_numbers(*headings), rows)


def _moved_lines(examples: Sequence[Mapping[str, Any]], moved: int) -> Iterator[str]:
    rows = [
        (_key(e["key"]), f"{e['records']:,}", str(e["before"]), _partition(e["after"]))
        for e in examples
    ]
    if not rows:
        return
    columns = [Column("MOVED KEY", most=40, cut="middle", is_flexible=True)]
    headings = _numbers("RECORDS", "BEFORE", "AFTER")
    yield from table_lines([*columns, *headings], rows)
    if moved > len(rows):
        yield f"… and {moved - len(rows):,} more; --top lists them"
