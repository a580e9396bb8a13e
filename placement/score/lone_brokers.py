"""Brokers that are alone in their rack, and carry the load of a whole rack."""

from collections.abc import Iterator

import numpy as np

from placement.array_types import BytesArray
from placement.draft.draft import Note
from placement.model.cluster import ClusterState

WHAT = "alone-in-rack"
MUCH = 1.5
"""Ratio to the mean of the other brokers above which a note is given."""


def lone_broker_notes(state: ClusterState) -> Iterator[Note]:
    """
    Yield a note for each broker that is alone in its rack and carries much more.

    Kafka's rack rule puts one replica of a partition in each rack as long as replicas
    remain, whatever the number of brokers: a rack of one broker gets as many replicas
    as a rack of three.
    """
    brokers = state.brokers
    live = brokers.is_live
    named = np.array([rack is not None for rack in brokers.racks], dtype=np.bool_)
    size = np.bincount(brokers.rack_idx[live], minlength=len(brokers.racks))
    used = np.nonzero(named & (size > 0))[0]
    if len(used) < 2 or size[used].max() < 2 or not live.any():
        return
    held = np.bincount(state.replicas.broker_idx, minlength=len(brokers))
    is_alone = named[brokers.rack_idx] & (size[brokers.rack_idx] == 1)
    for b in np.nonzero(live & is_alone)[0].tolist():
        others = held[live & (brokers.rack_idx != brokers.rack_idx[b])]
        if held[b] > MUCH * max(others.mean(), 1.0):
            yield _note(state, b, int(held[b]), float(others.mean()), size[used])


def _note(
    state: ClusterState, b: int, count: int, mean: float, sizes: BytesArray
) -> Note:
    brokers = state.brokers
    broker, rack = int(brokers.ids[b]), brokers.racks[brokers.rack_idx[b]]
    listed = ", ".join(map(str, sorted(sizes.tolist(), reverse=True)[:-1]))
    racks = f"{listed} and {min(sizes.tolist())} brokers"
    share = count / max(state.num_partitions, 1)
    return Note(
        what=WHAT,
        message=f"broker {broker} is alone in rack {rack} and carries the whole rack: "
        f"{count:,} replicas, one of {share:.0%} of the partitions, where the brokers "
        f"of other racks carry {mean:,.0f} each. Racks have {racks}, and the rack rule "
        f"gives each rack as many replicas; brokers in rack {rack}, or racks of one "
        "size, would even that out",
        where={"broker": broker, "rack": str(rack)},
        have=float(count),
    )
