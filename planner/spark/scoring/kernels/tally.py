"""What is counted and added up of partitions: names, and their columns."""

from typing import Any

from placement.model.load import MOST_LOAD, RESOURCES, UNITS, Resource

DISK, IN, OUT, CPU, REPLICAS, LEADERS = range(len(RESOURCES))
Table = Any
"""An array, or a named tuple of them: what is compiled has no types of its own."""
MILLI = float(UNITS[Resource.IN])
NANO = float(UNITS[Resource.CPU])
MOST = float(MOST_LOAD)
NOBODY_SAYS = -(2**31)
"""A leader that is not told: the first live replica in sync leads."""
HELD = ("disk", "in", "cpu", "replicas", "max_disk", "max_in", "max_cpu", "copied")
LED = ("out", "leaders", "max_out", "targets")
"""
Columns of `held` and `led`: what every replica adds to its place, and only a leader.

A row of `held` is one line of the cache: places are met in no order, and to fetch them
is most of the work. `targets`: replicas that are being copied there.
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
Partitions that are weighed before any is put in its places: a loop that does nothing
else has several of them on their way at once.
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
"""What is counted per topic, in the order of the columns of `counts`."""
(NUM_PARTITIONS, NUM_LISTED, NUM_KNOWS_DISK, NUM_KNOWS_IN, NUM_KNOWS_OUT,
 NUM_KNOWS_CPU, NUM_RACK, NUM_OFFLINE, NUM_LEADERLESS, NUM_UNDER, NUM_UNDER_MIN,
 NUM_AT_MIN, NUM_NOT_PREFERRED, NUM_RF1, NUM_RF_MIN, NUM_LACKS, NUM_TWICE,
 NUM_UNNUMBERED, NUM_UNLIKE) = range(len(COUNTED))  # fmt: skip
FIRSTS = ("first_disk", "first_in", "first_cpu", "first_replicas", "lead_cpu")
"""What weighs once per partition, by factor: for the most that a rack can hold."""
