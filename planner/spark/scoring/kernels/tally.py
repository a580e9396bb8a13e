"""Names and column numbers of the counts and sums of partitions."""

from typing import Any

from placement.model.load import MOST_LOAD, RESOURCES, UNITS, Resource

DISK, IN, OUT, CPU, REPLICAS, LEADERS = range(len(RESOURCES))
Table = Any
"""An array, or a named tuple of arrays; compiled code has no types of its own."""
MILLI = float(UNITS[Resource.IN])
NANO = float(UNITS[Resource.CPU])
MOST = float(MOST_LOAD)
NOBODY_SAYS = -(2**31)
"""Marks an unknown leader: the first live in-sync replica leads."""
HELD = ("disk", "in", "cpu", "replicas", "max_disk", "max_in", "max_cpu", "copied")
LED = ("out", "leaders", "max_out", "targets")
"""
Columns of `held` and `led`: sums over all replicas of a place, and over its leaders.

A row of `held` is one cache line: places are visited in random order, and fetching the
rows takes most of the time. `targets`: replicas that are being copied to the place.
"""
(
    HELD_DISK,
    HELD_IN,
    HELD_CPU,
    HELD_REPLICAS,
    HELD_MOST_DISK,
    HELD_MOST_IN,
    HELD_MOST_CPU,
    HELD_COPIED,
) = range(8)
(LED_OUT, LED_LEADERS, LED_MOST_OUT, LED_TARGETS) = range(4)
BLOCK = 512
"""
Partitions whose loads are computed before any is added to its places: a loop that only
adds has several cache lines in flight at once.
"""
COUNTED = (
    "partitions",
    "replicas",
    "knows_disk",
    "knows_in",
    "knows_out",
    "knows_cpu",
    "rack_broken",
    "offline_replicas",
    "offline_partitions",
    "under_replicated",
    "under_min_isr",
    "at_min_isr",
    "leader_not_preferred",
    "rf1",
    "rf_equals_min_isr",
    "lacks_replicas",
    "is_twice",
    "unnumbered",
    "unlike",
)
"""Counts per topic, in the order of the columns of `counts`."""
(NUM_PARTITIONS, NUM_LISTED, NUM_KNOWS_DISK, NUM_KNOWS_IN, NUM_KNOWS_OUT,
 NUM_KNOWS_CPU, NUM_RACK, NUM_OFFLINE, NUM_LEADERLESS, NUM_UNDER, NUM_UNDER_MIN,
 NUM_AT_MIN, NUM_NOT_PREFERRED, NUM_RF1, NUM_RF_MIN, NUM_LACKS, NUM_TWICE,
 NUM_UNNUMBERED, NUM_UNLIKE) = range(len(COUNTED))  # fmt: skip
FIRSTS = ("first_disk", "first_in", "first_cpu", "first_replicas", "lead_cpu")
"""Sums of one replica per partition, by factor: for the most that a rack can hold."""
