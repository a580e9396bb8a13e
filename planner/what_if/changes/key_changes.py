"""Changes of the keys of a topic: its load spread as a sample of its keys says."""

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path

import numpy as np

from assignment.partitioners import NAMES, find_partitioner
from placement.array_types import RateArray
from placement.cluster_changes.key_spread import spread_by_shares
from placement.cluster_changes.variant import Variant
from placement.model.cluster import ClusterState
from planner.errors import BadInputError
from planner.keys.formats.read_sample import read_sample
from planner.keys.key_sample import PlacedSample, place_sample
from planner.keys.sample_options import SampleOptions
from planner.text.suggest import near
from planner.what_if.changes import scenario_records as r
from planner.what_if.changes.change_context import Changer, Maker
from planner.what_if.changes.topic_changes import has_brokers_for

MOST_SAMPLES = 32
"""Placed samples that are kept: a scenario is built several times."""


def _keys(
    changer: Changer, variant: Variant, change: r.KeysRecord, place: str
) -> Variant:
    topics = variant.state.topics.names
    partitioner = change.partitioner.replace("_", "-")
    if change.topic not in topics:
        rule = "there must be such a topic at this point"
        changer.refuse(f"{place}.topic", change.topic, rule, near(change.topic, topics))
        return variant
    if partitioner not in NAMES:
        rule = f"must be one of {', '.join(NAMES)}"
        remedy = near(partitioner, NAMES)
        changer.refuse(f"{place}.partitioner", change.partitioner, rule, remedy)
        return variant
    if not has_brokers_for(changer, variant, 1, place):
        return variant
    topic = topics.index(change.topic)
    now = int(np.equal(variant.state.partitions.topic_idx, topic).sum())
    if change.count is not None and change.count < now:
        rule = f"partitions only grow: {change.topic} has {now}"
        changer.refuse(f"{place}.count", change.count, rule, "name more")
        return variant
    shares = _shares(changer, change, partitioner, change.count or now, place)
    if shares is None:
        return variant
    spread = spread_by_shares(variant, topic, shares)
    return spread.noting(_note(change, variant.state, topic, shares))


def _shares(
    changer: Changer, change: r.KeysRecord, partitioner: str, count: int, place: str
) -> RateArray | None:
    """Return the share of each partition; `None`, with problems, without a sample."""
    path = Path(change.sample)
    options = SampleOptions(
        sample_format=change.sample_format,
        key_column=change.key_column,
        key_type=change.key_type,
        encoding=change.key_encoding,
        schema_id=change.schema_id,
        topic=change.topic,
    )
    try:
        written = path.stat().st_mtime_ns if path.exists() else 0
        placed = _placed(path, written, options, partitioner, count)
    except BadInputError as error:
        for each in error.problems:
            source = ": ".join(filter(None, (each.file, each.place)))
            found = f" (found {each.value})" if each.value else ""
            remedy = each.remedy or "name a sample that 'keys skew' reads"
            changer.refuse(
                f"{place}.sample", None, f"{source}: {each.rule}{found}", remedy
            )
        return None
    loads = placed.sizes if placed.sizes.any() else placed.records
    shares: RateArray = loads / loads.sum()
    return shares


@lru_cache(MOST_SAMPLES)
def _placed(
    path: Path, written: int, options: SampleOptions, partitioner: str, count: int
) -> PlacedSample:
    """Return a sample on partitions; `written` tells versions of the file apart."""
    del written
    sample = read_sample(path, options)
    named = find_partitioner(partitioner)
    placed = place_sample(sample, named, named.partitions_for(sample.keys), count, 1)
    # Keys are no load: without sizes of records each record counts as much.
    sizes = placed.sizes if sample.has_sizes else placed.records
    return PlacedSample(placed.records, sizes, placed.key_partitions)


def _note(
    change: r.KeysRecord, state: ClusterState, topic: int, shares: RateArray
) -> str:
    rows = np.equal(state.partitions.topic_idx, topic)
    rates = state.partitions.in_bytes_per_s[rows]
    today = f"; today {rates.max() / rates.mean():.2f} x" if rates.sum() > 0 else ""
    return (
        f"{change.topic}: by the keys of {change.sample} the busiest of {len(shares)} "
        f"partitions, {int(shares.argmax())}, has {shares.max() * len(shares):.2f} x "
        f"the mean rate{today}"
    )


KEY_CHANGES: Mapping[type, Maker] = {r.KeysRecord: _keys}
