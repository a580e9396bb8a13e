"""Cluster as the settings of a plan define it: mapped racks, estimated loads."""

import difflib
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from placement.array_types import RateArray
from placement.model.cluster import ClusterState
from planner.options.option_reader import OptionReader

LEADER_IN, LEADER_OUT, FOLLOWER_IN = "leader_in", "leader_out", "follower_in"
WEIGHTS = (LEADER_IN, LEADER_OUT, FOLLOWER_IN)
MEGABYTE = 1e6


def read_cpu_weights(reader: OptionReader, texts: Sequence[str]) -> dict[str, float]:
    """
    Parse ``NAME=CORES`` texts: cores for each MB/s.

    Parameters
    ----------
    reader
        Keeps the problems.
    texts
        Texts as given.
    """
    found: dict[str, float] = {}
    for text in texts:
        name, _, number = text.partition("=")
        name = name.strip().replace("-", "_")
        cores = _cores(number)
        if name in WEIGHTS and cores is not None:
            found[name] = cores
            continue
        near = difflib.get_close_matches(name, WEIGHTS, n=1)
        remedy = f"did you mean {near[0]}?" if near and name not in WEIGHTS else ""
        rule = f"must be NAME=CORES per MB/s, of {', '.join(WEIGHTS)}"
        reader.refuse("--cpu-weight", text, rule, remedy or "write leader_in=0.02")
    return dict(sorted(found.items()))


def _cores(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) and value >= 0 else None


def with_cpu_weights(state: ClusterState, weights: Mapping[str, float]) -> ClusterState:
    """
    Estimate the CPU cores of replicas whose load was not measured.

    A leader uses cores in proportion to the bytes written to it, and to the bytes that
    it sends to consumers and followers; a follower in proportion to the bytes that it
    fetches. Measured values are kept. If a rate is unknown, so is the estimate.

    Parameters
    ----------
    state
        The cluster.
    weights
        Cores per MB/s by name; absent: 0. Empty: nothing is estimated.
    """
    if not weights:
        return state
    partitions, factor = state.partitions, state.replication_factor
    inbound = partitions.in_bytes_per_s / MEGABYTE
    outbound = partitions.out_bytes_per_s / MEGABYTE
    sent = outbound + np.where(factor > 1, (factor - 1) * inbound, 0.0)
    leader = _part(weights, LEADER_IN, inbound) + _part(weights, LEADER_OUT, sent)
    follower = _part(weights, FOLLOWER_IN, inbound)
    return replace(
        state,
        partitions=replace(
            partitions,
            leader_cpu_cores=_filled(partitions.leader_cpu_cores, leader),
            follower_cpu_cores=_filled(partitions.follower_cpu_cores, follower),
        ),
    )


def _part(weights: Mapping[str, float], name: str, rate: RateArray) -> RateArray:
    weight = weights.get(name, 0.0)
    return weight * rate if weight else np.zeros_like(rate)


def _filled(measured: RateArray, estimate: RateArray) -> RateArray:
    return np.where(np.isfinite(measured), measured, estimate)


def read_rack_map(reader: OptionReader, texts: Sequence[str]) -> dict[str, str]:
    """Return the mapping of racks, from pairs and from files of pairs."""
    found: dict[str, str] = {}
    for text in texts:
        for pair in _lines_of(reader, text):
            old, has_both, new = (part.strip() for part in pair.partition("="))
            if not (has_both and old and new):
                rule = "must be FROM=TO, or a file of such lines"
                reader.refuse("--rack-map", pair, rule, "write us-east-1a=a")
            elif found.setdefault(old, new) != new:
                rule = f"rack {old} stands for {found[old]} already"
                reader.refuse("--rack-map", pair, rule, "map it once")
    return dict(sorted(found.items()))


def _lines_of(reader: OptionReader, text: str) -> list[str]:
    if "=" in text:
        return [text]
    try:
        lines = Path(text).read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        rule = f"the file cannot be read: {error}"
        reader.refuse("--rack-map", text, rule, "write FROM=TO, or name a file")
        return []
    kept = [line.partition("#")[0].strip() for line in lines]
    return [line for line in kept if line]


def with_rack_map(state: ClusterState, racks: Mapping[str, str]) -> ClusterState:
    """Return a cluster with mapped racks merged into their targets."""
    if not racks:
        return state
    brokers = state.brokers
    named = [None if rack is None else racks.get(rack, rack) for rack in brokers.racks]
    names: list[str | None] = []
    row_of: dict[str, int] = {}
    rows = np.zeros(len(named), dtype=np.int32)
    for old, name in enumerate(named):
        if name is not None and name in row_of:
            rows[old] = row_of[name]
            continue
        rows[old] = len(names)
        if name is not None:
            row_of[name] = len(names)
        names.append(name)
    mapped = replace(
        brokers,
        rack_idx=rows[brokers.rack_idx] if len(rows) else brokers.rack_idx,
        racks=tuple(names),
    )
    return replace(state, brokers=mapped)


def seen_as(
    state: ClusterState, racks: Mapping[str, str], weights: Mapping[str, float]
) -> ClusterState:
    """
    Return a cluster as a plan uses it, with mapped racks and estimated loads.

    Parameters
    ----------
    state
        The cluster of the snapshot.
    racks
        Mapping of racks.
    weights
        Cores per MB/s.
    """
    return with_cpu_weights(with_rack_map(state, racks), weights)
