"""
Dumps taken into a fleet: read one by one anywhere, made visible by one writer.

Whoever reads a dump writes its rows and its rejects, under names that the dump alone
decides. Then one writer, for many dumps at a time, writes the commit markers and last
the receipts. Killed anywhere, the next run does again what has no receipt, and comes to
the same files.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from hashlib import sha256
from typing import Self

import pyarrow as pa

from planner.errors import BadInputError
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
class Taken:
    """
    A dump that was read, its rows written and not yet visible.

    Parameters
    ----------
    receipt
        What became of it.
    files
        Files of its rows by table; none where it was refused.
    name
        Of the marker that makes them visible.
    """

    receipt: Receipt
    files: Mapping[str, Sequence[str]]
    name: str

    def to_text(self) -> str:
        """Return it as JSON."""
        return json.dumps(asdict(self))

    @classmethod
    def from_text(cls, text: str) -> Self:
        """Return what `to_text` wrote."""
        found = json.loads(text)
        return cls(**{**found, "receipt": Receipt(**found["receipt"])})

    @property
    def commit(self) -> Commit | None:
        """What makes its rows visible; `None` where there are none."""
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
        If it cannot be listed, or is empty.
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
    remedy = "name the folder that holds CLUSTER/TIME/files"
    return refusal(f"{folder} holds no dumps", folder, rule, remedy)


def take(
    dump: Dump, source: Store, target: FileSink, *, allow_partial: bool = False
) -> Taken:
    """
    Read one dump; write its rows and its rejects. Whatever is wrong becomes a reject.

    Parameters
    ----------
    dump
        The dump.
    source
        The folder of all dumps.
    target
        The fleet's folder, or where its files are held.
    allow_partial
        Whether to go on where files hide something from each other.
    """
    reading, is_final = _read(dump, source, allow_partial=allow_partial)
    snapshot = reading.snapshot
    commit = None if snapshot is None else stage(snapshot, target)
    said = dump if snapshot is None else snapshot
    _write_rejects(target, dump.name, reading.rejects, said.cluster_id, said.taken_at)
    receipt = Receipt(
        dump=dump.name,
        signature=dump.signature if is_final else "",
        cluster_id=None,
        taken_at=None,
        content=None,
        rejects=len(reading.rejects),
    )
    if commit is None:
        return Taken(receipt=receipt, files={}, name="")
    ((key, content),) = commit.snapshots.items()
    named = replace(receipt, cluster_id=key[0], taken_at=key[1], content=content)
    return Taken(receipt=named, files=commit.files, name=commit.name)


def _read(dump: Dump, source: Store, *, allow_partial: bool) -> tuple[Reading, bool]:
    """Read a dump; return what it came to, and whether another try would find it so."""
    try:
        contents = {file.name: source.read(file.name) for file in dump.files}
    except OSError as error:
        rule = f"the files must be readable: {error.strerror or error}"
        reject = dump_refused(dump.name, rule, "it is tried again by the next run")
        return Reading(snapshot=None, rejects=(reject,)), False
    try:
        return read_dump(dump, contents, allow_partial=allow_partial), True
    except Exception as error:  # one dump must not stop the others
        rule = f"the dump could not be read: {type(error).__name__}: {error}"
        reject = dump_refused(dump.name, rule, "see to the dump, or remove it")
        return Reading(snapshot=None, rejects=(reject,)), True


def rejects_file(dump: str) -> str:
    """Return the name of the file with the rejects of a dump."""
    return f"{FOLDER}/{sha256(dump.encode()).hexdigest()[:32]}.parquet"


def _write_rejects(
    target: FileSink,
    dump: str,
    rejects: Sequence[Reject],
    cluster_id: str | None,
    taken_at: str | None,
) -> None:
    """Write the rejects of a dump in the place of those it had before."""
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
    The one writer of a fleet folder: knows what was taken in, and makes new visible.

    Parameters
    ----------
    target
        The fleet.

    Raises
    ------
    BadInputError
        If markers or receipts of the fleet cannot be read.
    """

    def __init__(self, target: Store) -> None:
        self._target = target
        self._claims = Claims(read_receipts(target), target.visible().snapshots)

    def new(self, dumps: Iterable[Dump]) -> list[Dump]:
        """Return the dumps that are new, or have changed since they were taken in."""
        return self._claims.new(dumps)

    def settle(self, taken: Iterable[Taken]) -> list[Receipt]:
        """
        Make dumps visible that were read, and write their receipts.

        Of two dumps that claim the same cluster and time, the one taken in first stays,
        or the first by name; the other is refused.
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
        """Add to the rejects that a dump has already."""
        from pyarrow import parquet

        name = rejects_file(receipt.dump)
        if receipt.rejects > len(table):
            before = parquet.read_table(pa.BufferReader(self._target.read(name)))
            table = pa.concat_tables([before, table])
        _write_table(self._target, name, table)
