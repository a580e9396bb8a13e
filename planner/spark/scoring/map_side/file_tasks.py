"""
Distribution of a fleet's files to tasks that read them without Spark.

A task that has all files of a snapshot also scores it, and passes on its scores. Other
snapshots are scored on the reduce side, after their sums have been shuffled.
"""

import pickle
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain

import pyarrow as pa

from planner.errors import UnreadableFileError
from planner.snapshot.tables.snapshot_columns import TOPICS, ArrowTable
from planner.spark.common.problem_rows import found_table
from planner.spark.common.python_workers import settle
from planner.spark.common.task_packing import pack
from planner.spark.io.fleet_files import (
    BY_TASKS,
    FleetFiles,
    TableFile,
    keyed,
    read_batches,
)
from planner.spark.io.snapshot_keys import Key, by_key
from planner.spark.scoring.broadcast.broadcast_tables import Grounds, flaws_of
from planner.spark.scoring.broadcast.topic_settings import SaidInFiles
from planner.spark.scoring.map_side.row_sums import (
    CHUNK_ROWS,
    TOPICS_KEPT,
    Adding,
    listed,
)
from planner.spark.scoring.shuffle.shuffle_rows import (
    Batches,
    Parcel,
    Parcels,
    packed,
    seeds,
    sent,
)
from planner.spark.scoring.sums.partial_sums import READ

TASK_ROWS, MOST_ROWS = 150_000, 4_000_000
"""
Smallest and approximate largest number of rows of a task. In between, each core has one
task; above, all cores have equally many. A task costs Spark as much as 100,000 rows.
"""
SNAPSHOT_ROWS = 20_000
"""Fixed cost of a snapshot, in rows."""
CODED = ("topic", "log_dirs", "future_log_dirs")
"""Columns of partitions that are read dictionary-encoded."""
_WANTED = {
    "partitions": dict.fromkeys(READ),
    "topics": dict.fromkeys(TOPICS.schema.names),
}
Piece = tuple[str, int, int | None]
"""
A row group: its table, the index of its file in the table, its number; `None`: all of
the file.
"""
Judge = Callable[[Mapping[Key, Sequence[Parcel]]], Parcels]
"""Function from all shuffle rows of snapshots to their scores or problems."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadTask:
    """
    Input of one task.

    Parameters
    ----------
    pieces
        Tables, files, and numbers of row groups: topics first.
    whole
        Snapshots whose topics and partitions are all in this task.
    topics
        Files with the topics of all its snapshots.
    """

    pieces: Sequence[tuple[str, TableFile, int | None]]
    whole: frozenset[Key]
    topics: FleetFiles


def read_tasks(files: FleetFiles, cores: int) -> list[ReadTask]:
    """
    Distribute files to tasks.

    Parameters
    ----------
    files
        The files.
    cores
        Approximate number of tasks that run at once.

    Returns
    -------
    At least one task.
    """
    topics = replace(files, tables={"topics": files.tables.get("topics", ())})
    own, whole = topics.by_snapshot(), frozenset(_whole(files))
    tasks = []
    for task in dealt_files(files, cores):
        pieces = [(table, files.tables[table][n], group) for table, n, group in task]
        keys = {key for _, file, _ in pieces for key in file.snapshots}
        tasks.append(
            ReadTask(pieces=pieces, whole=whole & keys, topics=own(sorted(keys)))
        )
    return tasks


def dealt_files(files: FleetFiles, cores: int) -> list[list[Piece]]:
    """
    Distribute row groups to tasks: small ones, and those of a small snapshot, together.

    Parameters
    ----------
    files
        The files.
    cores
        Approximate number of tasks that run at once.

    Returns
    -------
    Pieces by task, at least one task.
    """
    whole = _whole(files)
    rest = [piece for piece in _pieces(files) if _owner(files, piece) not in whole]
    units = [*whole.values(), *([piece] for piece in rest)]
    sizes = [_rows_worth(files, unit) for unit in units]
    rounds = max(-(-sum(sizes) // (cores * MOST_ROWS)), 1)
    share = -(-sum(sizes) // (cores * rounds))
    tasks = pack(sizes, least=max(TASK_ROWS, share))
    order = {piece: n for n, piece in enumerate(_pieces(files))}
    return [
        sorted(chain.from_iterable(units[n] for n in task), key=order.__getitem__)
        for task in tasks
    ] or [[]]


def _pieces(files: FleetFiles) -> list[Piece]:
    return [
        (table, place, group)
        for table in BY_TASKS
        for place, file in enumerate(files.tables.get(table, ()))
        for group in (range(len(file.row_groups)) if file.row_groups else (None,))
    ]


def _owner(files: FleetFiles, piece: Piece) -> Key | None:
    """Return the snapshot of a small file if it has only one; else `None`."""
    table, place, group = piece
    file = files.tables[table][place]
    is_alone = group is None and len(file.snapshots) == 1 and not file.hidden
    return file.snapshots[0] if is_alone else None


def _whole(files: FleetFiles) -> dict[Key, list[Piece]]:
    """Return the pieces of snapshots that consist of small files of their own."""
    owned: dict[Key, list[Piece]] = defaultdict(list)
    shared: set[Key] = set()
    for piece in _pieces(files):
        owner = _owner(files, piece)
        if owner is None:
            shared.update(files.tables[piece[0]][piece[1]].snapshots)
        else:
            owned[owner].append(piece)
    return {key: pieces for key, pieces in owned.items() if key not in shared}


def _rows_worth(files: FleetFiles, unit: Sequence[Piece]) -> int:
    """Return the cost of pieces of one task, in rows."""
    rows = snapshots = 0
    for table, place, group in unit:
        file = files.tables[table][place]
        rows += file.rows if group is None else file.row_groups[group]
        each = len(file.snapshots) // max(len(file.row_groups), 1)
        snapshots = max(snapshots, each, 1)
    return rows + SNAPSHOT_ROWS * snapshots


def reader(
    grounds: Grounds, tasks: Sequence[ReadTask], judge: Judge
) -> Callable[[Batches], Batches]:
    """
    Return the function that reads tasks by their numbers.

    Parameters
    ----------
    grounds
        Brokers and log dirs of the snapshots.
    tasks
        Result of `read_tasks`.
    judge
        Scores the snapshots that are entirely in one task.
    """
    whole = frozenset(chain.from_iterable(task.whole for task in tasks))
    # Pickled, since every task receives all of them and unpickles only its own.
    dealt = [pickle.dumps(task) for task in tasks]
    sown = [key for key in grounds.keys if key not in whole]

    def read(batches: Batches) -> Batches:
        for batch in batches:
            for number in batch.column("id").to_pylist():
                if number == 0:
                    yield from sent(seeds(sown))
                task = pickle.loads(dealt[number])  # noqa: S301 - our own
                yield from sent(_judged(task, _of_task(task, grounds), judge))
        settle("read")

    return read


def _judged(task: ReadTask, parcels: Iterable[Parcel], judge: Judge) -> Parcels:
    """Score the snapshots that are entirely in the task; pass on the rows of others."""
    kept: dict[Key, list[Parcel]] = {key: [] for key in sorted(task.whole)}
    for parcel in parcels:
        if parcel[0] in kept:
            kept[parcel[0]].append(parcel)
        else:
            yield parcel
    yield from judge({key: [*seeds([key]), *own] for key, own in kept.items()})


def _of_task(task: ReadTask, grounds: Grounds) -> Parcels:
    """Sum the partitions of a task; its topics come first."""
    said = SaidInFiles(task.topics)
    topics, adding = Listing(grounds, said), Adding(grounds, said)
    for table, file, group in task.pieces:
        if table != "topics":
            yield from topics.end()
        try:
            yield from _of_piece(table, file, group, adding, topics)
        except UnreadableFileError as error:
            yield from _unreadable(table, file, str(error))
    yield from topics.end()
    yield from adding.end()


class Listing:
    """
    Topics of a task that are waiting to be listed together.

    Parameters
    ----------
    grounds
        Brokers of the snapshots.
    said
        Receives the settings of topics.
    """

    def __init__(self, grounds: Grounds, said: SaidInFiles) -> None:
        self._grounds = grounds
        self._said = said
        self._waiting: dict[pa.Schema, list[ArrowTable]] = {}
        self._whole: set[Key] = set()
        self._rows = 0

    def take(self, topics: ArrowTable, whole: Key | None) -> Parcels:
        """Add topics; `whole` is their snapshot if they are all of its topics."""
        self._waiting.setdefault(topics.schema, []).append(topics)
        self._whole |= {whole} if whole is not None else set()
        self._rows += len(topics)
        if self._rows >= TOPICS_KEPT:
            yield from self.end()

    def end(self) -> Parcels:
        """List the topics that wait."""
        hears = partial(self._said.hear, keys=frozenset(self._whole))
        for tables in self._waiting.values():
            together = pa.concat_tables(tables).combine_chunks()
            yield from listed(together, self._grounds, hears)
        self._waiting, self._whole, self._rows = {}, set(), 0


def _of_piece(
    table: str, file: TableFile, group: int | None, adding: Adding, topics: Listing
) -> Parcels:
    file = file.alone
    coded = CODED if table == "partitions" else ()
    # A small file has all topic settings of its snapshot.
    whole = file.key if group is None else None
    for rows in read_batches(file, group, _WANTED[table], coded, CHUNK_ROWS):
        if table == "topics":
            yield from topics.take(keyed(rows, file), whole)
        elif file.key is not None:
            yield from adding.take(file.key, rows)
        else:
            for key, of_key in by_key(rows):
                yield from adding.take(key, of_key)


def _unreadable(table: str, file: TableFile, reason: str) -> Parcels:
    """Yield the problem of a file for each of its snapshots."""
    for key, flaw in flaws_of(table, file, reason):
        yield from packed(key, "found", found_table([flaw]))
