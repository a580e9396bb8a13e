"""Row groups of a fleet's files, dealt to tasks."""

from collections import Counter

from planner.spark.files import FleetFiles, TableFile
from planner.spark.partial import dealt_files

MOST = 4


def dealt(*row_groups):
    """Deal files of partitions, each of a snapshot of its own."""
    files = [
        TableFile(root="/f", name=f"{n}", row_groups=groups, snapshots=((f"c{n}", 0),))
        for n, groups in enumerate(row_groups)
    ]
    tasks = dealt_files(FleetFiles(tables={"partitions": tuple(files)}), MOST)
    every = Counter(piece for task in tasks for piece in task)
    assert every == Counter(
        ("partitions", place, group)
        for place, groups in enumerate(row_groups)
        for group in range(len(groups))
    )
    return tasks


def test_many_small_snapshots_are_more_than_one_task():
    tasks = dealt(*[(100,)] * 600)

    assert len(tasks) == MOST
    assert max(map(len, tasks)) == 600 / MOST


def test_few_small_snapshots_are_one_task():
    assert len(dealt(*[(100,)] * 5)) == 1


def test_large_row_groups_are_tasks_of_their_own():
    tasks = dealt((1_000_000, 1_000_000), (100,))

    assert sorted(map(len, tasks)) == [1, 1, 1]


def test_a_fleet_without_files_has_a_task():
    assert dealt() == [[]]
