"""
Cut reassignments into waves, and write the table of docs/benchmarks.md.

``PYTHONPATH=tests python -m benchmarks.waving [--case 'L, caps 5 and 5']
[--seeds 1,2,3] [--write FILE]``

Each row runs in a process of its own, once untimed. The waves of every row but the
largest go through the independent checker, untimed.
"""

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from statistics import median

import numpy as np
import numpy.typing as npt

from benchmarks.run import cpu_s, where_measured, write_between_markers
from placement.check.waves.throttle_lists import WaveProperties
from placement.check.waves.wave_checker import check_waves
from placement.draft.draft import DEFAULT_THRESHOLDS
from placement.model.cluster import ClusterState
from placement.model.load import Resource, weigh
from placement.model.reassignment import Reassignment
from placement.synthetic import SIZES, Size, make_instance
from placement.waves.broker_lists import changed_lists
from placement.waves.copy_timeline import schedule_bound, schedule_copies
from placement.waves.wave_cut import Cut, cut
from placement.waves.wave_files import Step, steps_of
from placement.waves.wave_settings import WaveSettings
from planner.plan.waves.wave_files import by_name, limits_of

MARKERS = ("<!-- waving: start -->", "<!-- waving: end -->")
MOST_CHECKED = 20_000
"""Copies that the checker, plain Python, follows in seconds."""


@dataclass(frozen=True, slots=True)
class Waving:
    """
    One row: what is cut, by which caps, and what that may cost.

    Parameters
    ----------
    size
        Of the cluster.
    settings
        Caps, bandwidth and order.
    must_s
        Seconds for waves and their lists.
    must_waves
        Waves / the least there can be.
    must_time
        Seconds of copies that wait for no wave / the least there can be.
    """

    size: str
    settings: WaveSettings = field(
        default_factory=lambda: WaveSettings(thresholds={Resource.DISK: 1.0})
    )
    must_s: float = 0.2
    must_waves: float = 1.0
    must_time: float = 1.02

    @property
    def name(self) -> str:
        """As it stands in the table."""
        given = self.settings
        disk = given.thresholds[Resource.DISK]
        ending = "" if disk == 1.0 else f", disks under {disk:g}"
        if given.max_shared is not None:
            return f"{self.size}, shared cap {given.max_shared}{ending}"
        return f"{self.size}, caps {given.max_in} and {given.max_out}{ending}"


def _shared(size: str, cap: int) -> Waving:
    open_caps = {"max_in": cap, "max_out": cap, "thresholds": {Resource.DISK: 1.0}}
    settings = WaveSettings(**open_caps, max_shared=cap)
    return Waving(size, settings, must_waves=1.12)


def _apart(size: str, into: int, out: int) -> Waving:
    thresholds = {Resource.DISK: 1.0}
    return Waving(size, WaveSettings(max_in=into, max_out=out, thresholds=thresholds))


def _by_default(size: str) -> Waving:
    """Return a row with the settings of the command."""
    return Waving(size, WaveSettings(thresholds=DEFAULT_THRESHOLDS))


WAVINGS = (
    _apart("M", 5, 5),
    _apart("M", 2, 3),
    _shared("M", 5),
    _by_default("M"),
    _apart("L", 5, 5),
    _apart("L", 1, 1),
    _shared("L", 5),
    _by_default("L"),
)
SMOKE = (_apart("XS", 5, 5), _apart("XS", 1, 2), _shared("XS", 2), _by_default("XS"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Waved:
    """
    What one row took, and how good it is.

    Parameters
    ----------
    name, seed
        Of the row and of its cluster.
    cut_s, lists_s
        Seconds for the waves and for their lists, by wall or CPU whichever is less.
    copies, waves, least_waves
        Copies made, waves, and the proven least number of them.
    time_ratio
        Seconds of copies that wait for no wave / the least there can be.
    by_wave_ratio
        Seconds wave by wave, each until its last copy is done / the least there can be
        at the bandwidth; nothing is asked of it.
    num_findings
        What the independent checker holds against it; -1 where it was not asked.
    """

    name: str
    seed: int
    cut_s: float
    lists_s: float
    copies: int
    waves: int
    least_waves: int
    time_ratio: float
    by_wave_ratio: float
    num_findings: int

    @property
    def seconds(self) -> float:
        """What waves and lists take."""
        return self.cut_s + self.lists_s

    @property
    def waves_ratio(self) -> float:
        """Waves / the least there can be."""
        return self.waves / max(self.least_waves, 1)


def make_change(size: Size, seed: int) -> Reassignment:
    """
    Fill 10 % empty brokers with replicas drawn from all others.

    Racks stay as they are: each replica goes to a new broker of its own rack.
    """
    state = make_instance("a'", size, seed).state
    replicas, rack = state.replicas, state.brokers.rack_idx
    held = np.bincount(replicas.broker_idx, minlength=state.num_brokers)
    new = np.nonzero(held == 0)[0]
    rng = np.random.default_rng(seed)
    share = len(replicas.broker_idx) * len(new) // state.num_brokers
    drawn = np.sort(rng.choice(len(replicas.broker_idx), share, replace=False))
    target = replicas.broker_idx.copy()
    for r in np.unique(rack[new]).tolist():
        rows = drawn[rack[replicas.broker_idx[drawn]] == r]
        target[rows] = rng.choice(new[rack[new] == r], len(rows))
    target = _without_pairs(state, target)
    return Reassignment(before=state, broker_idx=target, origin=np.arange(len(target)))


def _without_pairs(
    state: ClusterState, target: npt.NDArray[np.int32]
) -> npt.NDArray[np.int32]:
    """Leave partitions alone of which two replicas were drawn for one broker."""
    of = state.replicas.partition_idx
    order = np.lexsort((target, of))
    same = np.zeros(len(order), dtype=np.bool_)
    same[1:] = np.diff(target[order]) == 0
    same[1:] &= np.diff(of[order]) == 0
    is_left = np.isin(of, of[order[same]])
    return np.where(is_left, state.replicas.broker_idx, target).astype(np.int32)


def measure(row: Waving, seed: int, size: Size | None = None) -> Waved:
    """Cut the reassignment of a row, once untimed and three times timed."""
    change = make_change(size or SIZES[row.size], seed)
    weights = weigh(change.before)
    cut_s, lists_s = [], []
    for _ in range(4):
        began = _clocks()
        found = cut(change, weights, row.settings)
        between = _clocks()
        steps = list(steps_of(found))
        ended = _clocks()
        cut_s.append(_lesser(began, between))
        lists_s.append(_lesser(between, ended))
    seconds, least = _timeline(found)
    return Waved(
        name=row.name,
        seed=seed,
        cut_s=median(cut_s[1:]),
        lists_s=median(lists_s[1:]),
        copies=len(found.copies),
        waves=found.num_waves,
        least_waves=found.bound,
        time_ratio=seconds / least if least else 1.0,
        by_wave_ratio=float(found.paces.seconds.sum()) / least if least else 1.0,
        num_findings=_num_findings(found, steps),
    )


def _clocks() -> tuple[float, float]:
    return time.perf_counter(), cpu_s()


def _lesser(began: tuple[float, float], ended: tuple[float, float]) -> float:
    return min(ended[0] - began[0], ended[1] - began[1])


def _timeline(found: Cut) -> tuple[float, float]:
    copies, rate = found.copies, found.settings.bandwidth_bytes_per_s
    known = copies.source_idx >= 0
    ends = copies.source_idx[known], copies.target_idx[known]
    size = copies.size_bytes[known]
    _, seconds = schedule_copies(*ends, size, (1, 1), rate)
    return seconds, schedule_bound(*ends, size, (1, 1), rate)


def _num_findings(found: Cut, steps: Sequence[Step]) -> int:
    if len(found.copies) > MOST_CHECKED:
        return -1
    state = found.reassignment.before
    waves = [by_name(state, step.after) for step in steps]
    final = by_name(state, changed_lists(found)[1])
    limits = limits_of(found.settings)
    told = [
        WaveProperties(bytes_per_s=pace) for pace in found.paces.bytes_per_s.tolist()
    ]
    told += [WaveProperties()] * (len(waves) - len(told))
    return len(check_waves(state, waves, final, limits, None, told))


def is_met(row: Waving, found: Sequence[Waved]) -> bool:
    """Tell whether the median time, and the worst of the rest, keep to the limits."""
    return (
        median(one.seconds for one in found) <= row.must_s
        and max(one.waves_ratio for one in found) <= row.must_waves
        and max(one.time_ratio for one in found) <= row.must_time
        and not any(one.num_findings > 0 for one in found)
    )


HEADER = (
    "| case | seeds | copies | cut, s | lists, s | waves | least | waves / least "
    "| time / least | wave by wave / least | findings | must | met? |\n"
    "|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---|---|---|"
)


def row_text(row: Waving, found: Sequence[Waved]) -> str:
    """Return one row: median times, the worst seed of everything else."""
    worst = max(found, key=lambda one: one.waves_ratio)
    asked = max(one.num_findings for one in found)
    return (
        f"| {row.name} | {len(found)} | {worst.copies:,} "
        f"| {median(one.cut_s for one in found):.3f} "
        f"| {median(one.lists_s for one in found):.3f} "
        f"| {worst.waves:,} | {worst.least_waves:,} | {worst.waves_ratio:.4f} "
        f"| {max(one.time_ratio for one in found):.4f} "
        f"| {max(one.by_wave_ratio for one in found):.2f} "
        f"| {'not asked' if asked < 0 else asked} "
        f"| {row.must_s:g} s, {row.must_waves:g}, {row.must_time:g} "
        f"| {'yes' if is_met(row, found) else '**no**'} |"
    )


def measure_apart(row: Waving, seed: int) -> Waved:
    """Measure a row in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.waving", "--json"]
    done = subprocess.run(
        [*command, "--case", row.name, "--seeds", str(seed)],
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    )
    return Waved(**json.loads(done.stdout))


def _table(rows: Sequence[Waving], seeds: Sequence[int]) -> str:
    lines = [HEADER]
    for row in rows:
        lines.append(row_text(row, [measure_apart(row, seed) for seed in seeds]))
        print(lines[-1], file=sys.stderr, flush=True)  # noqa: T201 - progress
    return "\n".join(lines)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Measure waves.")
    parser.add_argument("--case", action="append", help="only this row; repeatable")
    parser.add_argument("--seeds", default="1,2,3", help="of the clusters")
    parser.add_argument("--smoke", action="store_true", help="each kind once, small")
    parser.add_argument("--json", action="store_true", help="in this process, as JSON")
    parser.add_argument("--write", type=Path, metavar="FILE", help="page to update")
    return parser.parse_args()


def main() -> None:
    """Measure, print, and write the page if one is named."""
    given = _arguments()
    if given.smoke:
        for row in SMOKE:
            print(row_text(row, [measure(row, 1)]))  # noqa: T201 - output
        return
    rows = [row for row in WAVINGS if given.case is None or row.name in given.case]
    seeds = [int(seed) for seed in given.seeds.split(",")]
    if given.json:
        (row,) = rows
        print(json.dumps(asdict(measure(row, seeds[0]))))  # noqa: T201 - read by another
        return
    said = f"{where_measured('make bench')} Seeds {', '.join(map(str, seeds))}."
    table = f"{said}\n\n{_table(rows, seeds)}"
    print(table)  # noqa: T201 - output
    write_between_markers(given.write, table, MARKERS)


if __name__ == "__main__":
    main()
