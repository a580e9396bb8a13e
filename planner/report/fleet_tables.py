"""Tables of fleets for a page: read by pyarrow, without Spark, and without plans."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from planner.errors import BadInputError
from planner.io.problems import first_line, refusal

_OF_PLANS = ("plan", "files", "certificate", "solve_s", "bound_s", "total_s")
LEFT_OUT: Mapping[str, Sequence[str]] = {
    "overview": ("data_age_s",),
    "scores": (),
    "problems": (),
    "plans": _OF_PLANS,
    "scenarios": (*_OF_PLANS, "answer"),
    "trends": (),
    "balance": (),
    "changes": ("partition", "from_brokers", "to_brokers"),
    "drift": ("loads", "plan_fingerprint"),
}
"""
Tables of a page, and their columns that it leaves out: those of megabytes, and those
that were measured.
"""
NEEDED: Mapping[str, Sequence[str]] = {
    "overview": ("status", "max_disk_use", "brokers_over_threshold"),
    "scores": ("level", "resource", "max_use", "mean_use", "violations"),
    "problems": ("severity",),
    "plans": ("request", "status", "moved_bytes"),
    "scenarios": ("request", "status", "moved_bytes", "holds"),
    "trends": ("level", "resource", "days_until_threshold", "days_until_full"),
    "balance": ("resource", "max_use", "max_use_change"),
    "changes": ("topic", "bytes", "reason"),
    "drift": ("request", "status"),
}
"""Columns of each table without which there is no page, besides `KEY`."""
KEY = ("cluster_id", "taken_at")
OVER = ("log_dir", "is_over_threshold")
"""Columns of scores that name what is over the disk threshold."""
Row = Mapping[str, Any]


def has_fleet_tables(folder: Path) -> bool:
    """Return whether a folder has a table of a fleet that a page shows."""
    return any((folder / name).is_dir() for name in LEFT_OUT)


def read_fleet_tables(folders: Sequence[Path]) -> dict[str, list[Row]]:
    """
    Read the tables of folders that commands of fleets wrote.

    Parameters
    ----------
    folders
        Folders of this machine.

    Returns
    -------
    The rows of each table that is there: the last snapshot of each cluster; of scores
    those of clusters, and of what is over the disk threshold; of trends also what
    reaches a limit, of changes the totals.

    Raises
    ------
    BadInputError
        If a table cannot be read, or two folders have the same.
    """
    found: dict[str, list[Row]] = {}
    for folder in folders:
        for name in LEFT_OUT:
            if not (folder / name).is_dir():
                continue
            if name in found:
                rule = f"the table {name} is in another folder already"
                summary = "the report cannot be made"
                raise refusal(summary, str(folder), rule, "make a report of each")
            found[name] = _last(_rows(folder / name, name))
    if "scores" in found and "problems" in found:
        found["problems"] = _not_before(found["problems"], found["scores"])
    return found


def _rows(folder: Path, name: str) -> list[Row]:
    import pyarrow as pa
    from pyarrow import dataset

    try:
        table = dataset.dataset(folder, format="parquet", partitioning="hive")
        if not table.files:
            # A table that is partitioned by day has no file before its first row.
            return []
        if missing := {*KEY, *NEEDED[name]} - set(table.schema.names):
            raise _refusal(
                folder, f"must have the columns {', '.join(sorted(missing))}"
            )
        names = [each for each in table.schema.names if each not in LEFT_OUT[name]]
        only = _filter(name, table.schema.names)
        rows: list[Row] = table.to_table(columns=names, filter=only).to_pylist()
    except (OSError, pa.ArrowInvalid) as error:
        rule = f"must be a table of a fleet, in Parquet: {first_line(error)}"
        raise _refusal(folder, rule) from error
    return rows


def _filter(name: str, names: Sequence[str]) -> Any:  # noqa: ANN401 - pyarrow has no types
    """Return the condition on the rows of a table that are read; `None` for all."""
    from pyarrow.dataset import field

    if name == "changes":
        return field("topic").is_null()
    if name not in {"scores", "trends"}:
        return None
    of_cluster = field("level") == "cluster"
    if name == "scores":
        if not {*OVER} <= {*names}:
            return of_cluster
        is_full = field(OVER[1]) & (field("resource") == "disk")
        return of_cluster | is_full
    days = [field(column) for column in ("days_until_threshold", "days_until_full")]
    return of_cluster | days[0].is_valid() | days[1].is_valid()


def _refusal(folder: Path, rule: str) -> BadInputError:
    remedy = "name a folder that a command of fleets wrote, such as 'fleet score'"
    return refusal("the report cannot be made", str(folder), rule, remedy)


def _not_before(problems: Sequence[Row], scores: Sequence[Row]) -> list[Row]:
    """Return the problems that the last score of their cluster has not outlived."""
    scored = {row["cluster_id"]: row["taken_at"] for row in scores}
    return [
        row
        for row in problems
        if row["cluster_id"] not in scored
        or scored[row["cluster_id"]] <= row["taken_at"]
    ]


def _last(rows: list[Row]) -> list[Row]:
    """Return the rows of the last snapshot of each cluster, in the order of ids."""
    last: dict[Any, Any] = {}
    for row in rows:
        key, taken_at = row["cluster_id"], row["taken_at"]
        if key not in last or last[key] < taken_at:
            last[key] = taken_at
    kept = [row for row in rows if row["taken_at"] == last[row["cluster_id"]]]
    return sorted(kept, key=lambda row: str(row["cluster_id"]))
