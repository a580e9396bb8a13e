"""Answers of Cruise Control's partition_load."""

from typing import Annotated, Any, NotRequired

from pydantic import Field, TypeAdapter
from typing_extensions import TypedDict

from planner.snapshot.importers.cruise_control.capacity_files import KB, MB
from planner.snapshot.importers.cruise_control.rest_answers import (
    FOREIGN,
    Amount,
    Topic,
    Version,
)
from planner.snapshot.importers.inputs.import_source import (
    PartitionColumns,
    Source,
)
from planner.snapshot.importers.inputs.input_text import Refusal
from planner.snapshot.importers.inputs.json_input import read_document, validate
from planner.snapshot.tables.snapshot_columns import MAX_INT64
from planner.snapshot.tables.snapshot_records import Id

PARTITION_LOAD_KIND = "Cruise Control's partition_load"


@FOREIGN
class _PartitionRecord(TypedDict):
    topic: Topic
    partition: Id
    leader: Id
    followers: list[Id]
    cpu: Amount
    disk: Amount
    networkInbound: Amount
    networkOutbound: Amount


@FOREIGN
class _PartitionLoad(TypedDict):
    version: NotRequired[Version]
    records: Annotated[list[_PartitionRecord], Field(min_length=1)]


_PARTITION_LOAD: TypeAdapter[Any] = TypeAdapter(_PartitionLoad)


def read_partition_load(data: bytes, *, file: str, has_cores: bool = False) -> Source:
    """
    Read the answer of ``partition_load?json=true``.

    Its numbers are loads of the leader. `networkOutbound` includes the bytes sent to
    followers, which are subtracted.

    Parameters
    ----------
    data
        The whole answer, gzipped or not.
    file
        Name of the file in problems.
    has_cores
        Whether Cruise Control knows the cores of brokers: `cpu` is then in percent of a
        core. Otherwise the unit of `cpu` is unknown.

    Returns
    -------
    Source
        Sizes and rates of partitions, and cores of leaders.

    Raises
    ------
    BadInputError
        If it is another answer.
    """
    refusal = Refusal(file, PARTITION_LOAD_KIND, "cruise_control")
    document = read_document(data, refusal)
    rows = validate(_PARTITION_LOAD, document, refusal)["records"]
    values: dict[str, list[Any]] = {
        "in_bytes_per_s": [row["networkInbound"] * KB for row in rows],
        "out_bytes_per_s": [_consumed(row) * KB for row in rows],
        "size_bytes": [round(row["disk"] * MB) for row in rows],
    }
    if any(size > MAX_INT64 for size in values["size_bytes"]):
        rule = "disk must be in MB, and fit 64 bits in bytes"
        refusal.stop("records", rule, "query Cruise Control again")
    if has_cores:
        values["leader_cpu_cores"] = [row["cpu"] / 100 for row in rows]
    return Source(
        file=file,
        kind=PARTITION_LOAD_KIND,
        notes=refusal.notes(),
        header={"rates": {"source": "cruise-control", "split": "equal"}},
        partitions=PartitionColumns(
            topics=[row["topic"] for row in rows],
            partitions=[row["partition"] for row in rows],
            values=values,
            places=range(len(rows)),
            place_format="records[{}]",
        ),
    )


def _consumed(row: dict[str, Any]) -> float:
    """Return KB/s that consumers read: each follower fetches all inbound bytes."""
    fetched = len(row["followers"]) * row["networkInbound"]
    return max(0.0, float(row["networkOutbound"] - fetched))
