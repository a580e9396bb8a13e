"""Partitions of a cluster added up: by the place of their replicas, and by topic."""

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from placement.cluster import ABSENT, ClusterState, IndexArray
from placement.load import RESOURCES, Resource, WeightArray, Weights, add_to
from placement.score.violations import partition_violations

Ints = npt.NDArray[np.int64]
LOADS = tuple(str(resource) for resource in RESOURCES)
HEAVIEST = ("max_disk", "max_in", "max_out", "max_cpu")
FIRSTS = ("first_disk", "first_in", "first_cpu", "first_replicas", "lead_cpu")
"""What weighs once per partition: for the most that a rack can hold."""
_TEXT = pa.string()


def place_sums(state: ClusterState, weights: Weights) -> dict[str, Any]:
    """
    Add replicas up by broker, log dir, log dir being copied to, and factor.

    Parameters
    ----------
    state, weights
        Partitions, and what they weigh.

    Returns
    -------
    Columns of one length: what each place is, `LOADS`, `HEAVIEST`, `FIRSTS`.
    """
    replicas = state.replicas
    of, broker = replicas.partition_idx, replicas.broker_idx
    code, keys = _place_codes(state)
    count = len(keys["factor"])
    leads = np.equal(broker, state.partitions.leader_idx[of])
    columns: dict[str, Any] = dict(keys)
    for r, name in enumerate(LOADS):
        each = _replica_weights(weights, r, of, leads)
        columns[name] = np.zeros(count, dtype=np.int64)
        add_to(columns[name], code, each)
        if f"max_{name}" in HEAVIEST:
            columns[f"max_{name}"] = np.zeros(count, dtype=np.int64)
            np.maximum.at(columns[f"max_{name}"], code, each)
    first = code[replicas.start[:-1]]
    for name, values in _first_weights(weights).items():
        columns[name] = np.zeros(count, dtype=np.int64)
        add_to(columns[name], first, values)
    return columns


def _replica_weights(
    weights: Weights, r: int, of: IndexArray, leads: npt.NDArray[np.bool_]
) -> WeightArray:
    """Return ``(N,)`` what each replica weighs of one resource, leading included."""
    if RESOURCES[r] is Resource.REPLICAS:
        return np.ones(len(of), dtype=np.int64)
    if RESOURCES[r] is Resource.LEADERS:
        return leads.astype(np.int64)
    each = weights.replica[:, r][of]
    extra = weights.leader[:, r]
    if extra.any():
        each += leads * extra[of]
    if r == 0 and len(weights.own):
        each += weights.own
    return each


def _first_weights(weights: Weights) -> dict[str, WeightArray]:
    names = {"first_disk": 0, "first_in": 1, "first_cpu": 3, "first_replicas": 4}
    firsts = {name: weights.replica[:, r] for name, r in names.items()}
    return {**firsts, "lead_cpu": weights.leader[:, 3]}


def _place_codes(state: ClusterState) -> tuple[IndexArray, dict[str, Any]]:
    """Return ``(N,)`` the place of each replica, and what each place is."""
    replicas, dirs = state.replicas, state.log_dirs
    here, future = replicas.log_dir_idx, replicas.future_log_dir_idx
    factors, factor_code = np.unique(state.replication_factor, return_inverse=True)
    num_dirs, num_factors = len(dirs), len(factors)
    # A place is a log dir, or where nobody says a broker.
    spot = np.where(here == ABSENT, num_dirs + replicas.broker_idx, here)
    code = spot.astype(np.int64) * num_factors + factor_code[replicas.partition_idx]
    code = code * (num_dirs + 1) + (future + 1) if (future != ABSENT).any() else code
    width = num_dirs + 1 if (future != ABSENT).any() else 1
    used, dense = _dense(code, (num_dirs + state.num_brokers) * num_factors * width)
    place, ahead = np.divmod(used, width)
    spot, factor = np.divmod(place, max(num_factors, 1))
    is_dir = spot < num_dirs
    paths = pa.array([*dirs.paths, None], _TEXT)
    owners = np.append(dirs.broker_idx, np.arange(state.num_brokers, dtype=np.int32))
    return dense.astype(np.int32), {
        "broker_id": state.brokers.ids[owners[spot]],
        "log_dir": paths.take(pa.array(np.where(is_dir, spot, num_dirs))),
        "future_log_dir": paths.take(
            pa.array(np.where(ahead > 0, ahead - 1, num_dirs))
        ),
        "factor": factors[factor].astype(np.int32),
    }


def _dense(code: Ints, width: int) -> tuple[Ints, Ints]:
    """Return the codes in use, and each code's place among them."""
    if width > _WIDE:
        return np.unique(code, return_inverse=True)
    is_used = np.zeros(width, dtype=np.bool_)
    is_used[code] = True
    place = np.cumsum(is_used) - 1
    return np.nonzero(is_used)[0], place[code]


_WIDE = 1 << 24


def topic_figures(state: ClusterState, weights: Weights) -> dict[str, Any]:
    """
    Add partitions up by topic.

    Parameters
    ----------
    state, weights
        Partitions, and what they weigh.

    Returns
    -------
    Columns of one length: sums, ends and spreads of loads, how many are known, and
    how many break each rule.
    """
    of, count = state.partitions.topic_idx, len(state.topics)
    leader = state.partitions.leader_idx
    is_led = np.not_equal(leader, ABSENT)
    broken = partition_violations(state, state.brokers.is_live, leader)
    figures: dict[str, Any] = {
        f"knows_{name}": np.bincount(of[weights.is_known[:, r]], minlength=count)
        for r, name in enumerate(LOADS[:4])
    }
    for rule, counts in broken.items():
        name = "rack_broken" if rule == "rack" else rule
        figures[name] = np.zeros(count, dtype=np.int64)
        add_to(figures[name], of, counts)
    for r, name in enumerate(LOADS):
        load = (
            weights.replica[:, r] * state.num_replicas + weights.leader[:, r] * is_led
        )
        if r == 0 and len(weights.own):
            add_to(load, state.replicas.partition_idx, weights.own)
        figures |= _spread(name, load, of, count)
    return figures


def _spread(name: str, load: WeightArray, of: Any, count: int) -> dict[str, Any]:  # noqa: ANN401 - (P,) ints
    """Return how the loads of each topic's partitions, which stand together, spread."""
    present, start = np.unique(of, return_index=True)
    whole = np.zeros(count)
    square = np.zeros(count)
    ends = {end: np.zeros(count, dtype=np.int64) for end in ("sum", "max", "min")}
    if len(present):
        real = load.astype(np.float64)
        counts = np.diff(np.append(start, len(load)))
        ends["sum"][present] = np.add.reduceat(load, start)
        ends["max"][present] = np.maximum.reduceat(load, start)
        ends["min"][present] = np.minimum.reduceat(load, start)
        whole[present] = np.add.reduceat(real, start)
        away = real - np.repeat(whole[present] / counts, counts)
        square[present] = np.add.reduceat(away * away, start)
    figures = {f"{end}_{name}": values for end, values in ends.items()}
    return {**figures, f"whole_{name}": whole, f"square_{name}": square}
