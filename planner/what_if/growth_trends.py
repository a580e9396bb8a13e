"""Growth of topics by the trends that `fleet trends` measured."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from planner.errors import BadInputError
from planner.io.problems import problem
from planner.what_if.topic_growth import Rates

COLUMNS = ("cluster_id", "level", "topic", "resource", "value", "growth_per_day")


def read_trends(path: Path, cluster_id: str | None) -> dict[str, Rates]:
    """
    Return the growth of each topic of a cluster.

    Parameters
    ----------
    path
        The folder ``trends`` that `fleet trends` wrote, or its parent.
    cluster_id
        Id of the cluster; `None` for a cluster without an id.

    Raises
    ------
    BadInputError
        If the folder has no trends, or none for topics of this cluster.
    """
    import pyarrow as pa
    from pyarrow import dataset

    inner = path / "trends"
    folder = inner if inner.is_dir() else path
    try:
        table = dataset.dataset(folder, format="parquet").to_table(columns=[*COLUMNS])
    except (OSError, pa.ArrowInvalid) as error:
        rule = "must be the folder that 'fleet trends' wrote"
        raise _refusal(path, str(error).splitlines()[0], rule) from error
    rows = [
        row
        for row in table.to_pylist()
        if row["level"] == "topic" and row["cluster_id"] == cluster_id
    ]
    if not rows:
        rule = f"must have topics of cluster {cluster_id}"
        raise _refusal(path, None, rule)
    return _rates(rows)


def _rates(rows: Iterable[Mapping[str, Any]]) -> dict[str, Rates]:
    """Return the linear growth per day by topic, as fractions of today's loads."""
    parts: dict[str, dict[str, float]] = {}
    for row in rows:
        value, growth = row["value"], row["growth_per_day"]
        if value and growth is not None:
            parts.setdefault(row["topic"], {})[row["resource"]] = growth / value
    # Growth of traffic includes that of disks: only the difference is disk growth.
    return {
        topic: (
            0.0,
            found.get("in", 0.0),
            found.get("disk", 0.0) - found.get("in", 0.0),
        )
        for topic, found in parts.items()
    }


def _refusal(path: Path, value: object, rule: str) -> BadInputError:
    found = problem(str(path), "", value, rule, "run 'kafka-planner fleet trends'")
    return BadInputError(f"{path} has no growth of topics", [found])
