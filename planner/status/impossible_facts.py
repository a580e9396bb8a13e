"""Sentences on impossible facts and the input that is probably wrong."""

from collections.abc import Iterator, Sequence
from itertools import groupby

import numpy as np

from placement.model.cluster import ABSENT, ClusterState
from placement.model.load import Resource
from placement.status import Impossible
from planner.text.format import brokers_text, bytes_text

LABEL = "Impossible"


def impossible_texts(state: ClusterState, found: Sequence[Impossible]) -> Iterator[str]:
    """Yield a sentence per resource: the impossible fact and the suspected input."""
    for _, group in groupby(found, key=lambda one: one.resource):
        facts = list(group)
        yield f"{fact_text(state, facts)}; {suspect_text(state, facts)}"


def fact_text(state: ClusterState, facts: Sequence[Impossible]) -> str:
    """
    Return the impossible facts of one resource, as text.

    Parameters
    ----------
    state
        The cluster.
    facts
        Facts about one resource.
    """
    ids = sorted({int(state.brokers.ids[one.broker_idx]) for one in facts})
    is_one = len(ids) == 1
    who = brokers_text(ids)
    worst = max(facts, key=lambda one: one.load / max(one.capacity, 1))
    of_worst = f"broker {state.brokers.ids[worst.broker_idx]}"
    if worst.resource is Resource.DISK:
        place = "a disk"
        if worst.log_dir_idx != ABSENT:
            place = f"log dir {state.log_dirs.paths[worst.log_dir_idx]}"
        holds = "holds" if is_one else "hold"
        return (
            f"{who} {holds} more than {'its' if is_one else 'their'} disks can: "
            f"{bytes_text(worst.load, 4)} of replicas lie on {place} of {of_worst} "
            f"that is said to have {bytes_text(worst.capacity, 4)}"
        )
    way = "receive" if worst.resource is Resource.IN else "send"
    return (
        f"{who} {way}{'s' if is_one else ''} more than "
        f"{'its link' if is_one else 'their links'} can: "
        f"{bytes_text(worst.load, 4)}/s on a link of {of_worst} that is said to carry "
        f"{bytes_text(worst.capacity, 4)}/s"
    )


def suspect_text(state: ClusterState, facts: Sequence[Impossible]) -> str:
    """Return the input that is probably wrong, as text."""
    is_disk = facts[0].resource is Resource.DISK
    capacity = "the size of the disks" if is_disk else "the capacity of the links"
    alike = _number_alike(state, facts)
    if alike > 1 and len(facts) > 1:
        return (
            f"likely wrong is {capacity}, the same for all {alike} brokers, as a "
            "default is"
        )
    if is_disk:
        return (
            f"likely wrong is {capacity}, which people write down, and not the bytes "
            "of replicas, which brokers measure"
        )
    return f"wrong is {capacity}, or a rate that counts something twice"


def _number_alike(state: ClusterState, facts: Sequence[Impossible]) -> int:
    """Return the number of live brokers if all have the same capacity, or else 0."""
    brokers = state.brokers
    given = {
        Resource.DISK: brokers.disk_bytes,
        Resource.IN: brokers.in_bytes_per_s,
        Resource.OUT: brokers.out_bytes_per_s,
    }[facts[0].resource]
    live = given[brokers.is_live]
    return len(live) if len(live) and bool(np.all(live == live[0])) else 0
