"""Throttle of a wave: its copy rate, and the in-sync traffic that counts against it."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from placement.model.cluster import ABSENT
from placement.waves.wave_files import Step
from planner.plan.waves.wave_files import PlannedWaves, pace_of


def wave_throttle(waves: PlannedWaves, step: Step, least_bytes_per_s: float) -> int:
    """
    Return the throttle of a wave, in bytes/s: copies and in-sync traffic together.

    Parameters
    ----------
    waves, step
        The wave.
    least_bytes_per_s
        Rate that in-sync traffic uses up, from `least_throttle`.
    """
    return round(pace_of(waves, step) + least_bytes_per_s)


def least_throttle(
    waves: PlannedWaves, step: Step, wildcards: Sequence[int] = ()
) -> float:
    """
    Return the rate of a throttle, in bytes/s, that in-sync traffic uses up.

    Bytes that producers write meanwhile are sent to in-sync followers, which are listed
    with the leader, and to the new copies; all of them count against the quota.

    Parameters
    ----------
    waves, step
        The wave.
    wildcards
        Rows of topics throttled by ``*``: all their leaders and followers are
        throttled, whether their partitions move or not.
    """
    if not step.has_copies:
        return 0.0
    state, copies = waves.state, waves.found.copies
    rate = np.nan_to_num(state.partitions.in_bytes_per_s)
    rows = step.copies[copies.passes[step.copies]]
    need = np.zeros((2, state.num_brokers))
    written = rate[copies.partition_idx[rows]]
    source = copies.source_idx[rows]
    np.add.at(need[0], source[source >= 0], written[source >= 0])
    np.add.at(need[1], copies.target_idx[rows], written)
    _add_in_sync(need, waves, step, rate)
    _add_wildcards(need, waves, step, rate, wildcards)
    return float(np.ceil(need.max(initial=0.0)))


def _add_in_sync(
    need: npt.NDArray[np.float64],
    waves: PlannedWaves,
    step: Step,
    rate: npt.NDArray[np.float64],
) -> None:
    """Add the traffic of the wave's leaders to their existing followers."""
    moving, followers = step.before.partition_idx, step.before.counts - 1
    leader = waves.state.partitions.leader_idx[moving]
    is_led = leader != ABSENT
    np.add.at(need[0], leader[is_led], (rate[moving] * followers)[is_led])


def _add_wildcards(
    need: npt.NDArray[np.float64],
    waves: PlannedWaves,
    step: Step,
    rate: npt.NDArray[np.float64],
    wildcards: Sequence[int],
) -> None:
    """Add the traffic that only ``*`` throttles: replicas that no list names."""
    if not len(wildcards):
        return
    state, replicas = waves.state, waves.state.replicas
    is_wild = np.isin(state.partitions.topic_idx, wildcards)
    leader = state.partitions.leader_idx
    is_led = is_wild & np.not_equal(leader, ABSENT)
    is_led[step.before.partition_idx] = False
    others = np.nonzero(is_led)[0]
    followers = state.replication_factor[others] - 1
    np.add.at(need[0], leader[others], rate[others] * followers)
    of = replicas.partition_idx
    follows = is_wild[of] & np.not_equal(replicas.broker_idx, leader[of])
    np.add.at(need[1], replicas.broker_idx[follows], rate[of[follows]])
