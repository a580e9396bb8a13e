"""Ingestion of raw dumps into the tables of a catalog: Delta Lake, Iceberg."""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from typing import Any

import pyarrow as pa
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from planner.fleet.arrow_tables import EPOCH
from planner.fleet.commit_markers import time_text
from planner.fleet.contracts.fleet_contracts import FLEETS, ROWS
from planner.fleet.contracts.table_contract import TableContract
from planner.fleet.dumps.dump_claims import Claims, Decision
from planner.fleet.dumps.dump_finder import Dump
from planner.fleet.dumps.dump_intake import IngestedDump, ingest_dump
from planner.fleet.dumps.dump_receipts import Receipt
from planner.fleet.dumps.dump_rejects import FOLDER as REJECTS
from planner.fleet.fleet_store import MemoryFiles, Store
from planner.spark.common.contract_columns import columns_of
from planner.spark.io.catalog_tables import table_now
from planner.spark.io.fleet_layout import micros_of
from planner.spark.io.pinned_tables import COMMITS, contents_in, is_one_of
from planner.spark.output.destination import CatalogSchema
from planner.spark.scoring.fleet_scores import kept
from planner.spark.scoring.shuffle.shuffle_rows import Batches

INGESTED = "ingested"
HELD = "dump string, name string, content binary"
"""Columns of files in transit; a row without a name has the receipt of the dump."""


class TableIntake:
    """
    The single writer of a fleet in a catalog: keeps receipts, and merges new dumps.

    Parameters
    ----------
    spark
        The session.
    folder
        The folder of all dumps.
    schema
        Schema of a catalog.
    allow_partial
        Whether to continue if the files of a dump do not show everything to each other.

    Raises
    ------
    BadInputError
        If the tables cannot be read.
    """

    def __init__(
        self, spark: SparkSession, folder: str, schema: str, *, allow_partial: bool
    ) -> None:
        self._spark, self._work = spark, _worker(folder, allow_partial=allow_partial)
        self._target = CatalogSchema(spark, schema)
        contents = contents_in(spark, schema)
        self._claims = Claims(
            _receipts(spark, schema),
            {(name, _time(micros)): v for (name, micros), v in contents.items()},
        )

    def new(self, dumps: Iterable[Dump]) -> list[Dump]:
        """Return the dumps that are new, or have changed since they were ingested."""
        return self._claims.new(dumps)

    def settle(self, dealt: DataFrame) -> list[Receipt]:
        """
        Merge the rows of dumps, list their snapshots, and keep their receipts last.

        Parameters
        ----------
        dealt
            The dumps, assigned to tasks.
        """
        held = kept(dealt.mapInArrow(self._work, HELD))
        try:
            return self._settle(held)
        finally:
            held.unpersist()

    def _settle(self, held: DataFrame) -> list[Receipt]:
        rows = held.where("name = ''").select("content").collect()
        taken = [IngestedDump.from_text(bytes(row["content"]).decode()) for row in rows]
        replaced = {each.receipt.key for each in taken if each.receipt.key is not None}
        withdrawn = {key for key in replaced if self._claims.has(key)}
        had_rejects = self._claims.had_rejects(each.receipt.dump for each in taken)
        settled = self._claims.settle(each.receipt for each in taken)
        new = [each.receipt for each in settled if each.is_new]
        if new:
            self._merge_snapshots(held, new, withdrawn & {r.key for r in new})
        receipts = [each.receipt for each in settled]
        if had_rejects or any(receipt.rejects for receipt in receipts):
            self._merge_rejects(held, settled)
        self._merge(INGESTED, self._table(INGESTED, map(_receipt_row, receipts)))
        return receipts

    def _merge_snapshots(
        self,
        held: DataFrame,
        new: Sequence[Receipt],
        withdrawn: Collection[Any],
    ) -> None:
        """Merge the rows of snapshots, which `commits` does not list meanwhile."""
        listed = self._table(COMMITS, [_commit_row(receipt) for receipt in new])
        if withdrawn:
            gone = is_one_of({(name, micros_of(at)) for name, at in withdrawn})
            self._merge(COMMITS, listed.limit(0), gone)
        dumps = [receipt.dump for receipt in new]
        keys = {(str(r.cluster_id), micros_of(str(r.taken_at))) for r in new}
        for name in (*ROWS, "clusters"):
            rows = _rows_of(held.where(F.col("dump").isin(*dumps)), FLEETS[name])
            self._merge(name, rows, is_one_of(keys))
        self._merge(COMMITS, listed)

    def _merge_rejects(self, held: DataFrame, settled: Sequence[Decision]) -> None:
        """Merge the rejects of dumps in place of their earlier rejects."""
        rows = _rows_of(held, FLEETS[REJECTS])
        doubled = [each.reject for each in settled if each.reject is not None]
        if doubled:
            table = pa.concat_tables(doubled).combine_chunks()
            rows = rows.unionByName(self._spark.createDataFrame(table))
        dumps = [each.receipt.dump for each in settled]
        self._merge(REJECTS, rows, F.col("dump").isin(*dumps))

    def _merge(
        self, name: str, rows: DataFrame, replaced: Column | None = None
    ) -> None:
        self._target.merge(FLEETS[name], rows, replaced)

    def _table(self, name: str, rows: Iterable[dict[str, Any]]) -> DataFrame:
        table = pa.Table.from_pylist(list(rows), schema=FLEETS[name].columns)
        return self._spark.createDataFrame(table)


def _worker(
    folder: str, *, allow_partial: bool
) -> Callable[[Batches], Iterator[pa.RecordBatch]]:
    """Return a function that reads dumps in a task and yields the resulting files."""

    def work(batches: Batches) -> Iterator[pa.RecordBatch]:
        source = Store(folder)
        for batch in batches:
            for text in batch.column("dump").to_pylist():
                yield _held(Dump.from_text(text), source, allow_partial=allow_partial)

    return work


def _held(dump: Dump, source: Store, *, allow_partial: bool) -> pa.RecordBatch:
    files = MemoryFiles()
    done = ingest_dump(dump, source, files, allow_partial=allow_partial)
    contents = {"": done.to_text().encode(), **files.contents}
    columns = {
        "dump": [dump.name] * len(contents),
        "name": list(contents),
        "content": pa.array(contents.values(), pa.binary()),
    }
    return pa.RecordBatch.from_pydict(columns)


def _rows_of(held: DataFrame, contract: TableContract) -> DataFrame:
    """Return the rows of one table from files in transit."""
    schema = contract.columns

    def rows(batches: Batches) -> Iterator[pa.RecordBatch]:
        from pyarrow import parquet

        for batch in batches:
            for content in batch.column("content"):
                table = parquet.read_table(pa.BufferReader(content.as_buffer()))
                yield from table.cast(schema).to_batches()

    own = held.where(F.col("name").startswith(f"{contract.name}/")).select("content")
    return own.mapInArrow(rows, columns_of(contract, is_versioned=False))


def _receipts(spark: SparkSession, schema: str) -> dict[str, Receipt]:
    table = table_now(spark, schema, INGESTED)
    if table is None:
        return {}
    rows = table.withColumn("micros", F.unix_micros("taken_at")).collect()
    return {row["dump"]: _receipt(row) for row in rows}


def _receipt(row: Any) -> Receipt:  # noqa: ANN401 - a row
    micros = row["micros"]
    return Receipt(
        dump=row["dump"],
        signature=row["signature"],
        cluster_id=row["cluster_id"],
        taken_at=None if micros is None else _time(micros),
        content=row["content"],
        rejects=row["rejects"],
    )


def _receipt_row(receipt: Receipt) -> dict[str, Any]:
    own = {name: getattr(receipt, name) for name in FLEETS[INGESTED].columns.names}
    return own | {"taken_at": _moment(receipt.taken_at)}


def _commit_row(receipt: Receipt) -> dict[str, Any]:
    return {
        "cluster_id": receipt.cluster_id,
        "taken_at": _moment(receipt.taken_at),
        "content": receipt.content,
    }


def _moment(taken_at: str | None) -> datetime | None:
    return None if taken_at is None else datetime.fromisoformat(taken_at)


def _time(micros: int) -> str:
    """Return a time as receipts and markers write it."""
    return time_text(EPOCH + timedelta(microseconds=micros))
