"""
Snapshots that several jobs write into tables of one catalog at the same time.

Each table is merged in a commit of its own, so that jobs that write different content
of one snapshot could leave some tables of the one and some of the other. A table of
markers therefore numbers the writes of each snapshot. A job claims the next number
before it writes, and its rows have the number; MERGE does not change rows of a later
write; and the marker lists the content last, unless another job has claimed the
snapshot since. The last claim counts. A write of the same content, after a kill or in
two jobs at once, has the same number and the same rows.
"""

import operator
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Protocol

import pyarrow as pa
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from planner.fleet.arrow_tables import EPOCH
from planner.fleet.contracts.table_contract import TableContract
from planner.spark.common.machine_failures import OtherJobError
from planner.spark.io.snapshot_writes import (
    NUMBER,
    WRITTEN,
    Micros,
    Write,
    by_number,
    is_one_of,
    writes_in,
)
from planner.spark.output.merged_rows import Guard

_COLUMNS = {NUMBER: pa.int64(), WRITTEN: pa.string()}
_MEANINGS = {
    NUMBER: ("Number of the write of the snapshot.", "", "written by something else"),
    WRITTEN: ("Hash of the content that is written.", "", "written by something else"),
}


class Merge(Protocol):
    """Function that merges rows into a table of the catalog."""

    def __call__(
        self,
        contract: TableContract,
        rows: DataFrame,
        replaced: Column | None,
        guard: Guard | None = None,
    ) -> None:
        """Merge rows, as `planner.spark.output.merged_rows.merge_rows` does."""
        ...


def numbered(contract: TableContract, *columns: str) -> TableContract:
    """Return the contract of a table in a catalog, with columns of its writes."""
    more = [(name, _COLUMNS[name]) for name in columns]
    meanings = {name: _MEANINGS[name] for name in columns}
    return replace(
        contract,
        columns=pa.schema([*contract.columns, *more]),
        meanings={**contract.meanings, **meanings},
    )


class SnapshotClaims:
    """
    Claims of a job to write snapshots.

    Parameters
    ----------
    spark
        The session.
    schema
        Schema of a catalog.
    marker
        Contract of the table of markers: the key of snapshots, and `content`.
    merge
        Merges rows into a table.
    contents
        Content hash of each snapshot that the job writes. Empty: it is not known, and
        the rows have the numbers of the last writes.

    Attributes
    ----------
    numbers
        Number of the write of each snapshot that no other job has claimed since.
    """

    def __init__(
        self,
        spark: SparkSession,
        schema: str,
        marker: TableContract,
        merge: Merge,
        contents: Mapping[Micros, str],
    ) -> None:
        self._spark, self._schema, self._merge = spark, schema, merge
        self._marker, self._contents = marker, dict(contents)
        self._claim()
        self.numbers = self._own() if contents else self._last()

    @property
    def lost(self) -> set[Micros]:
        """Snapshots that another job has claimed since."""
        return {*self._contents} - {*self.numbers}

    def merge(self, contract: TableContract, rows: DataFrame, replaced: Column) -> None:
        """
        Merge rows, with the numbers of their snapshots' writes.

        Rows of later writes, and of snapshots that are lost, stay as they are.
        """
        number, was = F.lit(None), F.coalesce(F.col(NUMBER), F.lit(0))
        for each, keys in by_number(self.numbers).items():
            is_its = is_one_of(keys)
            number = F.when(is_its, F.lit(each)).otherwise(number)
            replaced &= ~(is_its & (was > each))
        if self.lost:
            replaced &= ~is_one_of(self.lost)
            rows = rows.where(~is_one_of(self.lost))
        stamped = rows.withColumn(NUMBER, number.cast("bigint"))
        self._merge(numbered(contract, NUMBER), stamped, replaced, operator.le)

    def list(self) -> None:
        """List the snapshots, all of whose rows are written, unless they are lost."""
        if not self._contents:
            return
        writes = [
            (key, Write(content=content, number=number, written=content))
            for key, number in self.numbers.items()
            for content in [self._contents[key]]
        ]
        self._mark(writes, operator.eq)
        now = self._now()
        self.numbers = {
            key: number
            for key, number in self.numbers.items()
            if key in now and now[key].content == self._contents[key]
        }

    def check(self) -> None:
        """
        Check that no snapshot is lost.

        Raises
        ------
        OtherJobError
            If another job has claimed a snapshot of this job.
        """
        if self.lost:
            name, micros = min(self.lost)
            moment = f"{EPOCH + timedelta(microseconds=micros):%Y-%m-%dT%H:%M:%SZ}"
            msg = (
                f"another job wrote {len(self.lost)} of the same snapshots with other "
                f"content meanwhile: {name} at {moment}, for one"
            )
            raise OtherJobError(msg)

    def _claim(self) -> None:
        """Claim the snapshots of which the last write is of other content."""
        now = self._now()
        writes = [
            (key, Write(content=None, number=now[key].number + 1, written=content))
            if key in now
            else (key, Write(content=None, number=1, written=content))
            for key, content in self._contents.items()
            if key not in now or content not in {now[key].written, now[key].content}
        ]
        self._mark(writes, operator.lt)

    def _own(self) -> dict[Micros, int]:
        """Return the number of each snapshot of which the last write is the job's."""
        now = self._now()
        return {
            key: now[key].number
            for key, content in self._contents.items()
            if key in now and content in {now[key].written, now[key].content}
        }

    def _last(self) -> dict[Micros, int]:
        """Return the number of the last write of each snapshot."""
        return {key: write.number for key, write in self._now().items()}

    def _now(self) -> dict[Micros, Write]:
        return writes_in(self._spark, self._schema, self._marker.name)

    def _mark(self, writes: Sequence[tuple[Micros, Write]], guard: Guard) -> None:
        rows = [
            {
                "cluster_id": name,
                "taken_at": EPOCH + timedelta(microseconds=micros),
                "content": write.content,
                NUMBER: write.number,
                WRITTEN: write.written,
            }
            for (name, micros), write in writes
        ]
        if rows:
            contract = numbered(self._marker, NUMBER, WRITTEN)
            table = pa.Table.from_pylist(rows, schema=contract.columns)
            keys = [key for key, _ in writes]
            frame = self._spark.createDataFrame(table)
            self._merge(contract, frame, is_one_of(keys), guard)
