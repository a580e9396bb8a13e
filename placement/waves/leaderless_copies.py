"""
Copies of partitions without a leader, all of whose brokers are dead.

The first copy has no sender. Its target leads from then on and sends the copies of
later waves, so the sender is known only after the waves are assigned. Where these sends
exceed a cap, the copies of such a partition move to further waves: as many as allowed
in the first one, which has no sender, and the others one by one.
"""

from collections import Counter, defaultdict
from dataclasses import dataclass, field

import numpy as np

from placement.array_types import RowArray
from placement.model.copies import Copies

Place = tuple[int, int]
"""Wave number and broker row."""


def led_by_copies(
    copies: Copies, wave: RowArray, caps: tuple[int, int, int], most: int
) -> RowArray:
    """
    Return waves in which new leaders of dead partitions stay within the caps.

    Parameters
    ----------
    copies
        Copies of the reassignment.
    wave
        ``(E,)`` wave of each copy, below 0: none.
    caps
        Maximum number of copies that a broker sends, receives, and both together, in
        one wave.
    most
        Maximum number of new replicas of a partition in one wave.

    Returns
    -------
    ``(E,)`` waves. Copies that would exceed a cap get further waves at the end.
    """
    late = _late(copies, wave)
    if not late:
        return wave
    traffic = _traffic(copies, wave)
    for one in late:
        for place in one.sends:
            traffic.sent[place] += 1
    over = [one for one in late if traffic.exceeds(one.sends, caps)]
    return _afterwards(copies, wave, over, caps, most) if over else wave


@dataclass(frozen=True, slots=True)
class _Late:
    """Partition without a leader, with copies in several waves."""

    rows: RowArray
    sends: list[Place]


@dataclass(slots=True)
class _Traffic:
    sent: Counter[Place] = field(default_factory=Counter)
    received: Counter[Place] = field(default_factory=Counter)

    def exceeds(self, places: list[Place], caps: tuple[int, int, int]) -> bool:
        most_out, most_in, most = caps
        return any(
            self.sent[place] > most_out
            or self.received[place] > most_in
            or self.sent[place] + self.received[place] > most
            for place in places
        )

    def find_room(
        self,
        number: int,
        targets: list[int],
        sender: int | None,
        caps: tuple[int, int, int],
    ) -> int:
        """Return the first wave from `number` on with room for copies, and use it."""
        while True:
            places = [(number, target) for target in targets]
            sends = [] if sender is None else [(number, sender)] * len(targets)
            tried = _Traffic(Counter(self.sent), Counter(self.received))
            tried.received.update(places)
            tried.sent.update(sends)
            if not tried.exceeds([*places, *sends], caps):
                self.sent, self.received = tried.sent, tried.received
                return number
            number += 1


def _late(copies: Copies, wave: RowArray) -> list[_Late]:
    unsent = (copies.source_idx < 0) & copies.passes & (wave >= 0)
    of: dict[int, list[int]] = defaultdict(list)
    for row in np.nonzero(unsent)[0].tolist():
        of[int(copies.partition_idx[row])].append(row)
    late = []
    for rows in (np.array(each) for each in of.values()):
        first = int(wave[rows].min())
        leader = int(copies.target_idx[rows[wave[rows] == first][0]])
        sends = [(int(w), leader) for w in wave[rows] if w > first]
        if sends:
            late.append(_Late(rows, sends))
    return late


def _traffic(copies: Copies, wave: RowArray) -> _Traffic:
    traffic = _Traffic()
    rows = np.nonzero(~copies.is_drop & (wave >= 0))[0]
    waves = wave[rows].tolist()
    sent = zip(waves, copies.source_idx[rows].tolist(), strict=True)
    traffic.sent.update(place for place in sent if place[1] >= 0)
    traffic.received.update(zip(waves, copies.target_idx[rows].tolist(), strict=True))
    return traffic


def _afterwards(
    copies: Copies,
    wave: RowArray,
    over: list[_Late],
    caps: tuple[int, int, int],
    most: int,
) -> RowArray:
    """Move the copies of some partitions to further waves at the end."""
    found, end = wave.copy(), int(wave.max()) + 1
    traffic = _Traffic()
    for one in over:
        number, leader = end, int(copies.target_idx[one.rows[0]])
        rest = one.rows[most:].tolist()
        turns = [one.rows[:most].tolist(), *([row] for row in rest)]
        for turn, rows in enumerate(turns):
            targets = copies.target_idx[rows].tolist()
            number = traffic.find_room(number, targets, leader if turn else None, caps)
            found[rows] = number
            number += 1
    return found
