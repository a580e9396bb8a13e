"""waves.json: copies, duration and certificate of each wave."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from placement.array_types import RowArray
from placement.draft.draft import Note
from placement.model.cluster import ABSENT, ClusterState
from placement.model.load import Resource, disk_loads
from placement.waves.copy_timeline import schedule_bound, schedule_copies
from placement.waves.stage_bound import StageBound
from placement.waves.temporary_hops import Hop, Stuck
from placement.waves.wave_files import Step
from planner.options.wave_options import wave_document
from planner.plan.waves.wave_files import (
    FOLDER,
    PlannedWaves,
    pace_of,
    part_names,
    wave_starts,
    wildcard_topics,
)
from planner.plan.waves.wave_throttles import least_throttle, wave_throttle
from planner.text.document_numbers import rounded
from planner.text.format import bytes_text

FORMAT = "kafka-planner/waves"
VERSION = 1


def to_document(waves: PlannedWaves) -> dict[str, Any]:
    """Return waves.json, which depends on the input alone."""
    found = waves.found
    disk = found.settings.thresholds.get(Resource.DISK, 1.0)
    inward, outward = found.settings.network_thresholds
    return {
        "format": FORMAT,
        "version": VERSION,
        "settings": wave_document(found.settings),
        "disk_threshold": disk,
        "in_threshold": inward,
        "out_threshold": outward,
        "is_limited_by_disk": found.is_limited_by_disk,
        "certificate": certificate(waves),
        "seconds_wave_by_wave": rounded(
            sum(wave_seconds(waves, s) for s in waves.steps)
        ),
        "waves": [_wave(waves, step, full) for step, full in _with_peaks(waves)],
        "hops": [_hop(waves.state, hop) for hop in found.hops],
        "stuck": None if found.stuck is None else _stuck(waves, found.stuck),
        "notes": notes(waves),
    }


def summary(waves: PlannedWaves | None) -> list[dict[str, Any]]:
    """Return the summary of the waves for plan.json."""
    if waves is None:
        return []
    return [
        {
            "number": step.number,
            "kind": kind_of(step),
            "file": f"{FOLDER}/wave-{step.number:03d}.json",
            "partitions": len(step.after),
            **_counts(waves, step),
            "seconds": rounded(wave_seconds(waves, step)),
        }
        for step in waves.steps
    ]


def kind_of(step: Step) -> str:
    """Return the kind of a wave: copies, drops alone, or leaders."""
    if not step.has_copies:
        return "leaders"
    return "copies" if len(step.copies) else "drops"


def passing(waves: PlannedWaves, step: Step) -> RowArray:
    """Return the rows of the copies of a wave between brokers."""
    return step.copies[~waves.found.copies.is_inside[step.copies]]


def moving_inside(waves: PlannedWaves, step: Step) -> RowArray:
    """Return the rows of the copies of a wave within brokers."""
    return step.copies[waves.found.copies.is_inside[step.copies]]


def _counts(waves: PlannedWaves, step: Step) -> dict[str, int]:
    """Return the number of copies of each kind in a wave, and their bytes."""
    size = waves.found.copies.size_bytes
    between, inside = passing(waves, step), moving_inside(waves, step)
    return {
        "copies": len(between),
        "bytes": int(size[between].sum()),
        "log_dirs": len(inside),
        "log_dir_bytes": int(size[inside].sum()),
        "drops": len(step.drops),
    }


def certificate(waves: PlannedWaves) -> dict[str, Any]:
    """Return the number of waves and their duration, each with bound and proof."""
    found = waves.found
    seconds, least = timeline(waves)
    return {
        "waves": {
            "value": found.num_copy_waves,
            "lower_bound": found.bound,
            "gap": _gap(found.num_copy_waves, found.bound),
            "proof": {
                "kind": "wave-degree",
                "stages": [_stage(stage, waves.state) for stage in found.bounds],
            },
        },
        "seconds": {
            "value": rounded(seconds),
            "lower_bound": rounded(least),
            "gap": _gap(seconds, least),
            "proof": {"kind": "wave-bytes", **_busiest_end(waves)},
        },
    }


def _gap(value: float, bound: float) -> float | None:
    if not bound:
        return 0.0 if not value else None
    # A schedule that meets its bound must not get a gap from float noise.
    return rounded(value / bound - 1) if value > bound * (1 + 1e-12) else 0.0


def _stage(stage: StageBound, state: ClusterState) -> dict[str, Any]:
    is_broker = stage.broker_idx != ABSENT
    document = {
        "waves": stage.waves,
        "broker": int(state.brokers.ids[stage.broker_idx]) if is_broker else None,
        "direction": stage.direction,
        "copies": stage.copies,
        "cap": stage.cap,
    }
    if is_broker:
        return document
    return document | state.place_of(stage.partition_idx)


def timeline(waves: PlannedWaves) -> tuple[float, float]:
    """
    Return the seconds of copies that do not wait for waves, and their lower bound.

    One copy at a time for each broker and direction, at its whole bandwidth: within any
    caps, and shorter than several copies in parallel.
    """
    copies, rate = waves.found.copies, waves.found.settings.bandwidth_bytes_per_s
    known = (copies.source_idx >= 0) & (waves.found.wave >= 0)
    source, target = copies.source_idx[known], copies.target_idx[known]
    size = copies.size_bytes[known]
    _, seconds = schedule_copies(source, target, size, (1, 1), rate)
    return seconds, schedule_bound(source, target, size, (1, 1), rate)


def _traffic(waves: PlannedWaves, rows: RowArray) -> tuple[RowArray, RowArray]:
    """Return ``(B,)`` bytes that each broker sends and receives from others."""
    rows = rows[waves.found.copies.passes[rows]]
    copies, count = waves.found.copies, waves.state.num_brokers
    sent, received = np.zeros(count, np.int64), np.zeros(count, np.int64)
    source, size = copies.source_idx[rows], copies.size_bytes[rows]
    np.add.at(sent, source[source >= 0], size[source >= 0])
    np.add.at(received, copies.target_idx[rows], size)
    return sent, received


def _busiest_end(waves: PlannedWaves) -> dict[str, Any]:
    rows = np.nonzero(waves.found.wave >= 0)[0]
    sent, received = _traffic(waves, rows)
    if not len(rows):
        return {"broker": None, "direction": None, "bytes": 0}
    is_in = int(received.max()) >= int(sent.max())
    busiest = received if is_in else sent
    return {
        "broker": int(waves.state.brokers.ids[busiest.argmax()]),
        "direction": "in" if is_in else "out",
        "bytes": int(busiest.max()),
    }


def wave_seconds(waves: PlannedWaves, step: Step) -> float:
    """
    Return the seconds until the busiest broker of a wave is done.

    Copies between log dirs run at the bandwidth, in parallel to copies between brokers.
    """
    return float(waves.found.paces.seconds[step.number - 1]) if step.has_copies else 0.0


def _inside_bytes(waves: PlannedWaves, step: Step) -> RowArray:
    """Return ``(B,)`` bytes that each broker copies between its log dirs."""
    copies, rows = waves.found.copies, moving_inside(waves, step)
    found = np.zeros(waves.state.num_brokers, dtype=np.int64)
    np.add.at(found, copies.target_idx[rows], copies.size_bytes[rows])
    return found


def _with_peaks(
    waves: PlannedWaves,
) -> Iterator[tuple[Step, npt.NDArray[np.float64] | None]]:
    """Yield each wave with ``(B,)`` use of disks while it runs, `None` if unknown."""
    state, copies, removals = waves.state, waves.found.copies, waves.found.removals
    capacity = state.brokers.disk_bytes
    load = disk_loads(state, waves.weights)
    is_known = bool((capacity > 0).any())
    for step in waves.steps:
        np.add.at(load, copies.target_idx[step.copies], copies.size_bytes[step.copies])
        use = np.where(capacity > 0, load / np.maximum(capacity, 1), 0.0)
        yield step, use if is_known else None
        ends = np.concatenate([step.copies, step.drops])
        ends = ends[np.not_equal(removals.broker_idx[ends], ABSENT)]
        np.subtract.at(load, removals.broker_idx[ends], removals.freed_bytes[ends])


def _wave(
    waves: PlannedWaves, step: Step, full: npt.NDArray[np.float64] | None
) -> dict[str, Any]:
    least = least_throttle(waves, step)
    wild = wildcard_topics(waves, step)
    wild_least = least_throttle(waves, step, wild)
    rate = pace_of(waves, step)
    whole = waves.found.settings.bandwidth_bytes_per_s
    number = f"{step.number:03d}"
    fullest = ABSENT if full is None else int(full.argmax())
    has_traffic = len(passing(waves, step)) > 0
    has_inside = len(moving_inside(waves, step)) > 0
    kind = kind_of(step)
    has_leaders = kind == "leaders"
    return {
        "number": step.number,
        "kind": kind,
        "file": f"{FOLDER}/wave-{number}.json",
        "rollback_file": f"{FOLDER}/rollback-{number}.json",
        "election_file": f"{FOLDER}/election-{number}.json" if has_leaders else None,
        "parts": part_names(f"{FOLDER}/wave-{number}", wave_starts(waves, step)),
        "partitions": len(step.after),
        **_counts(waves, step),
        "brokers": _brokers(waves, step),
        "bandwidth_bytes_per_s": rate if has_traffic else None,
        "network": _network(waves, step) if has_traffic else None,
        "throttle_bytes_per_s": wave_throttle(waves, step, least)
        if has_traffic
        else None,
        "least_throttle_bytes_per_s": round(least) if has_traffic else None,
        "wildcard_topics": [waves.state.topics.names[topic] for topic in wild],
        "wildcard_least_throttle_bytes_per_s": round(wild_least)
        if wild and has_traffic
        else None,
        "log_dir_throttle_bytes_per_s": round(whole) if has_inside else None,
        "seconds": rounded(wave_seconds(waves, step)),
        "fullest_disk": None
        if full is None
        else {
            "broker": int(waves.state.brokers.ids[fullest]),
            "use": rounded(float(full[fullest])),
        },
        "elections": len(step.elects),
    }


def _network(waves: PlannedWaves, step: Step) -> dict[str, Any] | None:
    """Return the broker whose network slows a wave, if any."""
    paces, wave = waves.found.paces, step.number - 1
    broker = int(paces.slowed_by[wave])
    if broker == ABSENT:
        return None
    return {
        "broker": int(waves.state.brokers.ids[broker]),
        "direction": "out" if paces.is_out[wave] else "in",
        "load_bytes_per_s": rounded(float(paces.load_bytes_per_s[wave])),
    }


def _brokers(waves: PlannedWaves, step: Step) -> list[dict[str, int]]:
    sent, received = _traffic(waves, step.copies)
    copies, count = waves.found.copies, waves.state.num_brokers
    rows, inside = passing(waves, step), moving_inside(waves, step)
    source = copies.source_idx[rows]
    out = np.bincount(source[source >= 0], minlength=count)
    into = np.bincount(copies.target_idx[rows], minlength=count)
    moved = np.bincount(copies.target_idx[inside], minlength=count)
    own = _inside_bytes(waves, step)
    return [
        {
            "broker": int(waves.state.brokers.ids[b]),
            "copies_in": int(into[b]),
            "copies_out": int(out[b]),
            "bytes_in": int(received[b]),
            "bytes_out": int(sent[b]),
            "log_dirs": int(moved[b]),
            "log_dir_bytes": int(own[b]),
        }
        for b in np.nonzero(out + into + moved)[0]
    ]


def _hop(state: ClusterState, hop: Hop) -> dict[str, Any]:
    ids = state.brokers.ids
    return {
        **state.place_of(hop.partition_idx),
        "from": int(ids[hop.from_idx]),
        "via": int(ids[hop.via_idx]),
        "to": int(ids[hop.to_idx]),
        "bytes": hop.size_bytes,
    }


def _stuck(waves: PlannedWaves, stuck: Stuck) -> dict[str, Any]:
    left = int((waves.found.wave < 0).sum())
    return {
        "brokers": list(stuck.brokers),
        "short_bytes": stuck.short_bytes,
        "copies_left": left,
        "message": stuck_text(stuck, left),
    }


def stuck_notes(waves: PlannedWaves | None) -> Iterator[Note]:
    """Yield the note that some copies are in no wave, and the reason."""
    if waves is None or waves.found.stuck is None:
        return
    found = _stuck(waves, waves.found.stuck)
    yield Note(
        what="waves-stuck",
        message=found["message"],
        have=0.0,
        need=float(found["short_bytes"]),
    )


def stuck_text(stuck: Stuck, left: int) -> str:
    """Return the reason why the remaining copies have no safe order."""
    if stuck.brokers:
        ring = " -> ".join(map(str, (*stuck.brokers, stuck.brokers[0])))
        who = f"disks of brokers {ring} wait for each other"
    else:
        who = "no disk has room for any of them"
    return (
        f"{left} copies are in no wave: {who}, short by {stuck.short_bytes} bytes, and "
        "no replica can be put aside on another broker"
    )


def notes(waves: PlannedWaves) -> list[str]:
    """Return notes on the waves."""
    found, state = waves.found, waves.state
    texts = [
        f"{_named(state, hop.partition_idx)} goes from broker "
        f"{state.brokers.ids[hop.from_idx]} to {state.brokers.ids[hop.to_idx]} by way "
        f"of {state.brokers.ids[hop.via_idx]}: disks wait for each other"
        for hop in found.hops
    ]
    if found.is_limited_by_disk:
        texts.append(
            "disks are too full, or fill up too fast, for the least number of waves"
        )
    texts += _network_notes(waves)
    passes = found.copies.passes
    moved = np.unique(found.copies.partition_idx[passes])
    if np.isnan(state.partitions.in_bytes_per_s[moved]).any():
        texts.append(
            "throttles leave out what is written to partitions of unknown rate"
        )
    if (found.copies.source_idx[passes] < 0).any():
        texts.append("partitions without a leader cannot be copied until they have one")
    return texts


def _network_notes(waves: PlannedWaves) -> Iterator[str]:
    """Yield notes on networks that slow waves, and on unknown capacities."""
    paces, brokers = waves.found.paces, waves.state.brokers
    slowed = np.nonzero(paces.slowed_by >= 0)[0]
    tight = sorted({int(brokers.ids[b]) for b in paces.slowed_by[slowed].tolist()})
    if tight:
        yield (
            f"{len(slowed)} waves copy at less than the bandwidth asked for, the "
            f"slowest at {bytes_text(paces.bytes_per_s.min())}/s: brokers "
            f"{', '.join(map(str, tight))} have no more of their network left"
        )
    known = np.isfinite(brokers.in_bytes_per_s) & np.isfinite(brokers.out_bytes_per_s)
    if waves.found.copies.passes.any() and not known[brokers.is_live].all():
        yield "networks of unknown capacity hold no copy back"


def _named(state: ClusterState, p: int) -> str:
    return state.name_of(p)
