"""Hard bands of log dirs inside their brokers, computed from their definition."""

from collections.abc import Iterator

import numpy as np

from placement.array_types import BoolArray, IntArray, RateArray
from placement.check.case.broker_loads import replica_bytes
from placement.check.case.check_settings import HardGoals
from placement.check.case.finding import Finding, Missed, Where
from placement.check.case.plan_case import Case
from placement.check.rules.log_dir_capacity import ends_in, log_dir_loads
from placement.model.cluster import ABSENT, UNKNOWN, LogDirState

SLACK = 1e-6


def log_dir_bands(case: Case, goals: HardGoals) -> Iterator[Missed]:
    """
    Yield the log dirs outside the band around their share of their broker's bytes.

    Shares are proportional to the file system sizes where all of a broker's are known,
    else equal. The target of a log dir with a replica larger than its band is the bytes
    that the log dir holds; the other log dirs share the rest.
    """
    dirs, (_, load) = case.state.log_dirs, log_dir_loads(case)
    heavy, width = _heaviest(case), goals.bands.get("disk", 0.10)
    is_member = _is_member(case, goals)
    for row in np.unique(dirs.broker_idx[is_member]).tolist():
        rows = np.flatnonzero(is_member & np.equal(dirs.broker_idx, row))
        target = _shares(dirs.size_bytes[rows], load[rows], heavy[rows], width)
        lower = (1 - width) * target
        upper = np.maximum(target, heavy[rows]) + width * target
        off = np.maximum(load[rows] - upper, lower - load[rows])
        is_off = (off > SLACK * np.maximum(target, 1.0)) & (target > 0)
        for at in np.flatnonzero(is_off).tolist():
            broker, path = case.broker_id(row), dirs.paths[rows[at]]
            finding = Finding(
                rule="band-disk",
                where=Where(broker=broker, log_dir=path, resource="disk"),
                message=f"log dir {path} of broker {broker}: {load[rows[at]]} bytes "
                f"are outside its band {lower[at]:.6g} to {upper[at]:.6g}, which is "
                "hard",
            )
            yield Missed(finding, float(off[at] / target[at]))


def _is_member(case: Case, goals: HardGoals) -> BoolArray:
    """Return ``(D,)`` true for log dirs with a share of their broker's bytes."""
    dirs, brokers = case.state.log_dirs, case.state.brokers
    ids = brokers.ids[dirs.broker_idx].tolist()
    emptied = [key in goals.emptied for key in zip(ids, dirs.paths, strict=True)]
    found = np.equal(dirs.state, LogDirState.ONLINE) & brokers.is_live[dirs.broker_idx]
    is_member: BoolArray = found & ~np.array(emptied, dtype=np.bool_)
    return is_member


def _heaviest(case: Case) -> IntArray:
    """Return ``(D,)`` bytes of the largest replica in each log dir."""
    place, size = ends_in(case, case.after), replica_bytes(case.state, case.after)
    found = np.zeros(len(case.state.log_dirs), dtype=np.int64)
    is_known = np.not_equal(place, ABSENT)
    np.maximum.at(found, place[is_known], size[is_known])
    return found


def _shares(
    sizes: IntArray, load: IntArray, heavy: IntArray, width: float
) -> RateArray:
    """Return the share of each log dir of one broker in the broker's bytes."""
    parts = np.maximum(sizes, 1).astype(np.float64)
    if (sizes == UNKNOWN).any():
        parts = np.ones(len(sizes))
    aside = np.zeros(len(sizes), dtype=np.bool_)
    while True:
        left = float(load[~aside].sum())
        whole = float(parts[~aside].sum())
        share = np.where(aside, load, left * parts / max(whole, 1.0))
        too_heavy = ~aside & (load > 0) & (heavy > (1 + width) * share * (1 + 1e-12))
        if not too_heavy.any():
            return share
        aside |= too_heavy
