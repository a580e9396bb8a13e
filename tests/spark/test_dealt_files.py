"""Row groups of a fleet's files, dealt to tasks."""

from collections import Counter

import pytest

from planner.spark.io.fleet_files import FleetFiles, TableFile
from planner.spark.scoring.map_side.file_tasks import MOST_ROWS, dealt_files, read_tasks

CORES = 4


def dealt(*row_groups):
    """Deal files of partitions, each of a snapshot of its own."""
    files = [
        TableFile(root="/f", name=f"{n}", row_groups=groups, snapshots=((f"c{n}", 0),))
        for n, groups in enumerate(row_groups)
    ]
    tasks = dealt_files(FleetFiles(tables={"partitions": tuple(files)}), CORES)
    every = Counter(piece for task in tasks for piece in task)
    assert every == Counter(
        ("partitions", place, group)
        for place, groups in enumerate(row_groups)
        for group in range(len(groups))
    )
    return tasks


def test_many_small_snapshots_are_more_than_one_task():
    tasks = dealt(*[(100,)] * 600)

    assert len(tasks) == CORES
    assert max(map(len, tasks)) == 600 / CORES


def test_few_small_snapshots_are_one_task():
    assert len(dealt(*[(100,)] * 5)) == 1


def test_large_row_groups_are_tasks_of_their_own():
    tasks = dealt((1_000_000, 1_000_000), (100,))

    assert sorted(map(len, tasks)) == [1, 1, 1]


def test_a_fleet_without_files_has_a_task():
    assert dealt() == [[]]


def test_a_large_snapshot_is_a_task_for_each_core():
    assert [*map(len, dealt((400_000,) * 16))] == [4] * CORES


@pytest.mark.parametrize(
    ("groups", "each"),
    [((400_000,) * 96, 8), ((1_666_667,) * 23 + (1_666_666,), 2)],
)
def test_all_cores_have_equally_many_tasks_of_one_size(groups, each):
    tasks = dealt(groups)

    assert [*map(len, tasks)] == [each] * (len(groups) // each)
    assert len(tasks) % CORES == 0
    assert each * groups[0] <= MOST_ROWS


def small(table, name, *keys):
    """A file without a look at its row groups."""
    snapshots = tuple((key, 0) for key in keys)
    return TableFile(root="/f", name=f"{table}-{name}", size=999, snapshots=snapshots)


def test_all_of_a_small_snapshot_is_one_task_s():
    names = [f"c{n}" for n in range(50)]
    tables = {
        table: tuple(small(table, name, name) for name in names)
        for table in ("topics", "partitions")
    }

    tasks = read_tasks(FleetFiles(tables=tables), CORES)

    assert len(tasks) > 1
    for task in tasks:
        of_tables = {"topics": set(), "partitions": set()}
        for table, file, _ in task.pieces:
            of_tables[table] |= {*file.snapshots}
        assert of_tables["topics"] == of_tables["partitions"] == task.whole
    assert {key for task in tasks for key in task.whole} == {(n, 0) for n in names}


def test_what_shares_a_file_is_judged_once_it_has_come_together():
    shared = [small("partitions", "day", "a", "b")]
    own = [small("partitions", "more", "b"), small("partitions", "c", "c")]

    (task,) = read_tasks(FleetFiles(tables={"partitions": (*shared, *own)}), CORES)

    assert task.whole == {("c", 0)}
