"""
Ingestion of dumps into a fleet: read in any process, made visible by one writer.

The reader of a dump writes its rows and its rejects, under names that depend only on
the dump. Then one writer, for many dumps at a time, writes the commit markers and last
the receipts. If a run is killed, the next run repeats the dumps without a receipt, and
writes the same files.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from hashlib import sha256
from typing import Self

import pyarrow as pa

from planner.errors import BadInputError, InputProblem
from planner.fleet.append import stage
from planner.fleet.commit_markers import Commit
from planner.fleet.dumps.dump_claims import Claims, dump_refused
from planner.fleet.dumps.dump_finder import Dump, FoundFile, find_dumps
from planner.fleet.dumps.dump_reader import Reading, read_dump
from planner.fleet.dumps.dump_receipts import Receipt, read_receipts, write_receipts
from planner.fleet.dumps.dump_rejects import FOLDER, Reject, reject_table
from planner.fleet.fleet_store import FileSink, Store
from planner.io.problems import refusal
from planner.snapshot.tables.snapshot_columns import ArrowTable


@dataclass(frozen=True, slots=True, kw_only=True)
class IngestedDump:
    """
    A dump that was read, its rows written and not yet visible.

    Parameters
    ----------
    receipt
        Receipt of the dump.
    files
        Files of the dump's rows by table; empty if the dump was rejected.
    name
        Name of the marker that makes the rows visible.
    """

    receipt: Receipt
    files: Mapping[str, Sequence[str]]
    name: str

    def to_text(self) -> str:
        """Return the ingested dump as JSON."""
        return json.dumps(asdict(self))

    @classmethod
    def from_text(cls, text: str) -> Self:
        """Parse the JSON that `to_text` returned."""
        found = json.loads(text)
        return cls(**{**found, "receipt": Receipt(**found["receipt"])})

    @property
    def commit(self) -> Commit | None:
        """Commit that makes the rows visible; `None` if there are no rows."""
        key, content = self.receipt.key, self.receipt.content
        if key is None or content is None:
            return None
        return Commit(name=self.name, snapshots={key: content}, files=self.files)


def dumps_in(source: Store) -> list[Dump]:
    """
    Return the dumps in a folder.

    Raises
    ------
    BadInputError
        If the folder cannot be listed, or is empty.
    """
    try:
        infos = source.infos("")
    except OSError as error:
        raise _refusal(
            source.folder, getattr(error, "strerror", None) or str(error)
        ) from error
    if not infos:
        raise _refusal(source.folder, "there are no files")
    return find_dumps(
        FoundFile(name, int(info.size or 0), int(info.mtime_ns or 0))
        for name, info in infos
    )


def _refusal(folder: str, reason: str) -> BadInputError:
    rule = f"must be a folder of dumps: {reason}"
    remedy = "give the folder that contains CLUSTER/TIME/files"
    return refusal(f"{folder} has no dumps", folder, rule, remedy)


def ingest_dump(
    dump: Dump, source: Store, target: FileSink, *, allow_partial: bool = False
) -> IngestedDump:
    """
    Read one dump, and write its rows and its rejects; any error becomes a reject.

    Parameters
    ----------
    dump
        The dump.
    source
        The folder of all dumps.
    target
        The fleet's folder, or files in memory.
    allow_partial
        Whether to continue if files show only a part of the cluster.
    """
    reading, is_final = _read(dump, source, allow_partial=allow_partial)
    snapshot = reading.snapshot
    commit = None if snapshot is None else stage(snapshot, target)
    key = dump if snapshot is None else snapshot
    _write_rejects(target, dump.name, reading.rejects, key.cluster_id, key.taken_at)
    receipt = Receipt(
        dump=dump.name,
        signature=dump.signature if is_final else "",
        cluster_id=None,
        taken_at=None,
        content=None,
        rejects=len(reading.rejects),
    )
    if commit is None:
        return IngestedDump(receipt=receipt, files={}, name="")
    ((name, content),) = commit.snapshots.items()
    named = replace(receipt, cluster_id=name[0], taken_at=name[1], content=content)
    return IngestedDump(receipt=named, files=commit.files, name=commit.name)


def _read(dump: Dump, source: Store, *, allow_partial: bool) -> tuple[Reading, bool]:
    """Read a dump; return the result, and whether a second try would give the same."""
    try:
        contents = {file.name: source.read(file.name) for file in dump.files}
    except OSError as error:
        rule = f"the files must be readable: {error.strerror or error}"
        reject = dump_refused(dump.name, rule, "run fleet ingest again")
        return Reading(snapshot=None, rejects=(reject,)), False
    try:
        return read_dump(dump, contents, allow_partial=allow_partial), True
    except Exception as error:  # one dump must not stop the others
        rule = f"the dump could not be read: {type(error).__name__}: {error}"
        reject = dump_refused(dump.name, rule, "correct the dump, or remove it")
        return Reading(snapshot=None, rejects=(reject,)), True


def rejects_file(dump: str) -> str:
    """Return the name of the file with the rejects of a dump."""
    return f"{FOLDER}/{sha256(dump.encode()).hexdigest()[:32]}.parquet"


def first_rejects(
    target: Store, receipts: Iterable[Receipt], most: int
) -> list[InputProblem]:
    """Return problems in the table of rejects, one per dump, of refused dumps first."""
    from pyarrow import parquet

    having = [receipt for receipt in receipts if receipt.rejects]
    having.sort(key=lambda one: (one.content is not None, one.dump))
    tables = (
        parquet.read_table(pa.BufferReader(target.read(rejects_file(receipt.dump))))
        for receipt in having[:most]
    )
    rows = (table.slice(0, 1).to_pylist()[0] for table in tables)
    return [
        InputProblem(
            file=row["file"],
            place=row["place"],
            value=row["value"],
            rule=row["reason"],
            remedy=row["remedy"],
        )
        for row in rows
    ]


def _write_rejects(
    target: FileSink,
    dump: str,
    rejects: Sequence[Reject],
    cluster_id: str | None,
    taken_at: str | None,
) -> None:
    """Write the rejects of a dump, in place of those of an earlier run."""
    name = rejects_file(dump)
    if not rejects:
        target.remove([name])
        return
    moment = None if taken_at is None else datetime.fromisoformat(taken_at)
    table = reject_table(rejects, dump=dump, cluster_id=cluster_id, taken_at=moment)
    _write_table(target, name, table)


def _write_table(target: FileSink, name: str, table: ArrowTable) -> None:
    from pyarrow import parquet

    sink = pa.BufferOutputStream()
    parquet.write_table(table, sink, compression="zstd")
    target.write(name, sink.getvalue().to_pybytes())


class Intake:
    """
    Single writer of a fleet folder, which makes the rows of new dumps visible.

    Parameters
    ----------
    target
        The fleet's folder.

    Raises
    ------
    BadInputError
        If markers or receipts of the fleet cannot be read.
    """

    def __init__(self, target: Store) -> None:
        self._target = target
        self._claims = Claims(read_receipts(target), target.visible().snapshots)

    def new(self, dumps: Iterable[Dump]) -> list[Dump]:
        """Return the dumps that are new, or that changed since they were ingested."""
        return self._claims.new(dumps)

    def settle(self, taken: Iterable[IngestedDump]) -> list[Receipt]:
        """
        Make the rows of dumps visible, and write their receipts.

        If two dumps claim the same cluster and time, the one ingested first is kept, or
        the first by name; the other is rejected.
        """
        by_dump = {each.receipt.dump: each for each in taken}
        settled = self._claims.settle(each.receipt for each in by_dump.values())
        for each in settled:
            commit = by_dump[each.receipt.dump].commit
            if each.is_new and commit is not None:
                self._target.commit(commit)
            if each.reject is not None:
                self._add_reject(each.receipt, each.reject)
        receipts = [each.receipt for each in settled]
        if receipts:
            write_receipts(self._target, receipts)
        return receipts

    def _add_reject(self, receipt: Receipt, table: ArrowTable) -> None:
        """Add a row to the rejects that a dump already has."""
        from pyarrow import parquet

        name = rejects_file(receipt.dump)
        if receipt.rejects > len(table):
            before = parquet.read_table(pa.BufferReader(self._target.read(name)))
            table = pa.concat_tables([before, table])
        _write_table(self._target, name, table)
