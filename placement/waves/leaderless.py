"""
Copies to partitions that nothing leads, for all their brokers are dead.

Nothing sends the first of them. What comes first leads from then on, and sends those of
later waves; which one that is turns out once waves are cut. Where a cap is exceeded by
that the copies of such a partition all run in one wave, which none of them sends.
"""

from collections import Counter, defaultdict
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from placement.waves.copies import Copies

RowArray = npt.NDArray[np.int64]
Place = tuple[int, int]
"""A wave, and a broker."""


def led_by_copies(
    copies: Copies, wave: RowArray, caps: tuple[int, int, int]
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
    return _together(copies, wave, over, caps) if over else wave


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


def _together(
    copies: Copies, wave: RowArray, over: list[_Late], caps: tuple[int, int, int]
) -> RowArray:
    """Put the copies of each of some partitions into one further wave."""
    found, end = wave.copy(), int(wave.max()) + 1
    traffic = _Traffic()
    for one in over:
        targets = copies.target_idx[one.rows].tolist()
        number = end
        while True:
            places = [(number, target) for target in targets]
            taken = Counter(traffic.received)
            taken.update(places)
            if not _Traffic(received=taken).exceeds(places, caps):
                break
            number += 1
        traffic.received = taken
        found[one.rows] = number
    return found
