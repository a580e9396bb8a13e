"""
Copies to partitions that nothing leads, for all their brokers are dead.

Nothing sends the first of them. What comes first leads from then on, and sends those of
later waves; which one that is turns out once waves are cut. Where a cap is exceeded by
that the copies of such a partition run in further waves: as many as may be in the
first one, which none of them sends, and the others one by one.
"""

from collections import Counter, defaultdict
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from placement.model.copies import Copies

RowArray = npt.NDArray[np.int64]
Place = tuple[int, int]
"""A wave, and a broker."""


def led_by_copies(
    copies: Copies, wave: RowArray, caps: tuple[int, int, int], most: int
) -> RowArray:
    """
    Return waves in which what leads partitions of dead brokers sends no more than caps.

    Parameters
    ----------
    copies
        The copies.
    wave
        ``(E,)`` wave of each, below 0 where it has none.
    caps
        Copies that a broker may send, get, and both together, in one wave.
    most
        Replicas that a partition may get in one wave.

    Returns
    -------
    ``(E,)`` waves. Copies are put into further ones, at the end, where nothing else
    helps.
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
    """A partition that nothing leads, with copies in several waves."""

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
        """Return the first wave from `number` on with room for copies, and take it."""
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
    """Put the copies of each of some partitions into further waves."""
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
