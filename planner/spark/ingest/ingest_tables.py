"""Ingestion of raw dumps into the tables of a catalog: Delta Lake, Iceberg."""

from collections.abc import Callable, Iterable, Iterator, Sequence
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
from planner.spark.io.pinned_tables import COMMITS
from planner.spark.io.snapshot_writes import Micros, contents_in, is_one_of
from planner.spark.output.destination import CatalogSchema
from planner.spark.output.snapshot_claims import SnapshotClaims
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
        contents = contents_in(spark, schema, COMMITS)
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
        had_rejects = self._claims.had_rejects(each.receipt.dump for each in taken)
        settled = self._claims.settle(each.receipt for each in taken)
        claims = self._write_snapshots(held, [d.receipt for d in settled if d.is_new])
        receipts = [each.receipt for each in settled]
        if had_rejects or any(receipt.rejects for receipt in receipts):
            self._merge_rejects(held, settled)
        # A dump without a receipt is read again by the next job.
        kept = [r for r in receipts if r.key is None or _key(r) not in claims.lost]
        self._merge(INGESTED, self._table(INGESTED, map(_receipt_row, kept)))
        claims.check()
        return receipts

    def _write_snapshots(
        self, held: DataFrame, new: Sequence[Receipt]
    ) -> SnapshotClaims:
        """Claim snapshots, merge their rows, and list them."""
        contents = {_key(receipt): str(receipt.content) for receipt in new}
        claims = self._target.claims(FLEETS[COMMITS], contents)
        dumps = [receipt.dump for receipt in new if _key(receipt) in claims.numbers]
        for name in (*ROWS, "clusters") if dumps else ():
            rows = _rows_of(held.where(F.col("dump").isin(*dumps)), FLEETS[name])
            claims.merge(FLEETS[name], rows, is_one_of(claims.numbers))
        claims.list()
        return claims

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


def _key(receipt: Receipt) -> Micros:
    return str(receipt.cluster_id), micros_of(str(receipt.taken_at))


def _moment(taken_at: str | None) -> datetime | None:
    return None if taken_at is None else datetime.fromisoformat(taken_at)


def _time(micros: int) -> str:
    """Return a time as receipts and markers write it."""
    return time_text(EPOCH + timedelta(microseconds=micros))
