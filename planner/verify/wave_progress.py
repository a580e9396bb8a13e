"""Progress of the waves of a plan."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from planner.kafka_files.reassignment_file import ReassignmentFile
from planner.text.format import ids_text
from planner.verify.partition_status import Overall, Status, status_of
from planner.verify.state_rows import Brokers, ClusterRows, Entry, Key, entries_of


@dataclass(frozen=True, slots=True, kw_only=True)
class WaveProgress:
    """
    Status of one wave.

    Parameters
    ----------
    number
        Number of the wave, from 1.
    status
        Status of the wave; ``completed`` also if a later wave has changed its lists.
    """

    number: int
    status: Overall


class WaveLists:
    """Lists of each partition in the waves that change it, in order."""

    def __init__(self, waves: Sequence[ReassignmentFile]) -> None:
        self.num_waves = len(waves)
        self._of: dict[Key, list[tuple[int, Entry]]] = {}
        for wave, file in enumerate(waves):
            for entry in entries_of(file):
                self._of.setdefault(entry.key, []).append((wave, entry))

    def lists(self, key: Key) -> list[Brokers]:
        """Return the lists of a partition in the waves, in order."""
        return [entry.replicas for entry in self.entries(key)]

    def entries(self, key: Key) -> list[Entry]:
        """Return the entries of a partition in the waves, in order."""
        return [entry for _, entry in self._of.get(key, ())]

    def progress(
        self, rows: ClusterRows, statuses: Mapping[Key, Status]
    ) -> list[WaveProgress]:
        """
        Return the status of each wave.

        Parameters
        ----------
        rows
            The cluster now.
        statuses
            Status of each partition of the plan.
        """
        found: list[set[Status]] = [set() for _ in range(self.num_waves)]
        for key, steps in self._of.items():
            row = rows.row_of.get(key)
            of_steps = _of_steps(rows, row, [entry for _, entry in steps])
            is_lost = statuses.get(key) in {Status.DIFFERS, Status.SUPERSEDED}
            for (wave, _), status in zip(steps, of_steps, strict=True):
                is_open = status is Status.NOT_STARTED
                found[wave].add(Status.DIFFERS if is_lost and is_open else status)
        return [
            WaveProgress(number=number, status=_overall(statuses))
            for number, statuses in enumerate(found, start=1)
        ]


def _of_steps(
    rows: ClusterRows, row: int | None, entries: Sequence[Entry]
) -> list[Status]:
    """Return the status of each wave of one partition."""
    own = [status_of(rows, row, entry) for entry in entries]
    done = [step for step, status in enumerate(own) if status is Status.COMPLETED]
    moving = [step for step, status in enumerate(own) if status is Status.IN_PROGRESS]
    reached = max([*done, *(step - 1 for step in moving)], default=-1)
    return [
        Status.COMPLETED
        if step <= reached
        else Status.IN_PROGRESS
        if step in moving
        else Status.NOT_STARTED
        for step in range(len(entries))
    ]


def _overall(statuses: set[Status]) -> Overall:
    if statuses <= {Status.COMPLETED}:
        return Overall.COMPLETED
    if Status.DIFFERS in statuses:
        return Overall.DIFFERS
    return (
        Overall.NOT_STARTED if statuses == {Status.NOT_STARTED} else Overall.IN_PROGRESS
    )


def waves_text(waves: Sequence[WaveProgress]) -> str:
    """Return the numbers of the waves by status, as text."""
    done = [wave.number for wave in waves if wave.status is Overall.COMPLETED]
    if not done:
        text = f"none of {len(waves)} complete"
    else:
        text = f"{ids_text(done)} of {len(waves)} complete"
    for status, words in (
        (Overall.IN_PROGRESS, "under way"),
        (Overall.DIFFERS, "not as planned"),
    ):
        if some := [wave.number for wave in waves if wave.status is status]:
            text += f"; {ids_text(some)} {words}"
    return text
