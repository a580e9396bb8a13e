"""
Plan small clusters of many shapes, and tell how far each is from what is proven.

``PYTHONPATH=tests python -m benchmarks.shapes [--count 70] [--effort normal]
[--write FILE]``

The shapes are drawn: 3 to 12 brokers, three racks or more, 20 to 300 partitions with
three replicas, topics of 1 to 64 partitions, all families of loads.
"""

import argparse
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from statistics import median

from benchmarks.run import cpu_s, where_measured, write_between_markers
from benchmarks.small import BAND, findings_of
from benchmarks.small_best import Best
from placement.core.model.search_budget import NORMAL
from placement.core.search.preload import search_compiled
from placement.draft.draft import Settings
from placement.model.load import RESOURCES
from placement.operations.descriptor import name_of
from placement.planning.plan import plan
from placement.synthetic import Size, make_instance

MARKERS = ("<!-- shapes: start -->", "<!-- shapes: end -->")
HEADER = (
    "| brokers | racks | partitions | family, seed | furthest, targets | GB "
    "| best bound, GB | gap | CPU, s |\n|---:|---:|---:|---|---:|---:|---:|---:|---:|"
)
SEED = 5
REPLICAS = 3
FAMILIES = "cccccdeabg"
"""Half of the clusters are skewed as most are."""


@dataclass(frozen=True, slots=True)
class Shape:
    """
    One drawn cluster.

    Parameters
    ----------
    size, partitions, family, seed
        Its size, and what its loads are drawn by.
    """

    size: Size
    partitions: int
    family: str
    seed: int

    def __str__(self) -> str:
        size = self.size
        return (
            f"{size.brokers} | {size.racks} | {self.partitions} "
            f"| {self.family} {self.seed}"
        )


def drawn(count: int) -> Iterator[Shape]:
    """Yield drawn clusters of at least as many racks as replicas."""
    rng = Random(SEED)
    for _ in range(count):
        brokers = rng.choice(range(3, 13))
        racks = min(rng.choice([1, 2, 3, 3, 3, 4, 5, brokers]), brokers)
        partitions = rng.choice([20, 30, 50, 60, 80, 100, 150, 200, 300])
        most, seed = rng.choice([1, 4, 16, 32, 64]), rng.randrange(1000)
        family = rng.choice(FAMILIES)
        if racks >= REPLICAS:
            size = Size(brokers, racks, REPLICAS * partitions, most)
            yield Shape(size, partitions, family, seed)


@dataclass(frozen=True, slots=True)
class Measured:
    """Best bounds of one plan, its CPU seconds, and findings of the checker."""

    best: Best
    cpu_s: float
    num_findings: int

    @property
    def gap(self) -> float:
        """Bytes over the best bound, as a part of it; infinite where there is none."""
        if self.best.is_proven:
            return 0.0
        least = self.best.bytes_bound
        return self.best.bytes / least - 1 if least else float("inf")


def measured(shape: Shape, effort: str) -> Measured:
    """Plan one cluster."""
    instance = make_instance(shape.family, shape.size, shape.seed, BAND)
    settings = Settings(bands=dict.fromkeys(RESOURCES, BAND), effort=effort)
    began, used = time.perf_counter(), cpu_s()
    found = plan(instance.state, instance.operation, settings)
    cpu, seconds = cpu_s() - used, time.perf_counter() - began
    best = Best.of(found.solution.certificate, seconds)
    return Measured(best, cpu, findings_of(name_of(instance.operation), found))


def summary(found: Sequence[Measured]) -> str:
    """Return one line on all plans."""
    proven = sum(one.best.is_proven for one in found)
    gaps = [one.gap for one in found]
    return (
        f"{len(found)} plans, {proven} proven, gap {median(gaps):.2%} in the median, "
        f"CPU {median(one.cpu_s for one in found):.1f} s in the median and "
        f"{max(one.cpu_s for one in found):.1f} s at most, "
        f"{sum(one.num_findings for one in found)} findings"
    )


def row_text(shape: Shape, one: Measured) -> str:
    """Return the row of a plan."""
    best = one.best
    return (
        f"| {shape} | {best.deviation:.4f} | {best.bytes / 1e9:.3f} "
        f"| {best.bytes_bound / 1e9:.3f} | {one.gap:.2%} | {one.cpu_s:.1f} |"
    )


def main() -> None:
    """Plan, print a row for each and a summary, and write the page if one is named."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=70, help="of draws")
    parser.add_argument("--effort", default="normal")
    parser.add_argument("--write", type=Path, metavar="FILE", help="page to update")
    given = parser.parse_args()
    search_compiled(NORMAL, with_rare=True)
    rows, found = [HEADER], []
    for shape in drawn(given.count):
        found.append(measured(shape, given.effort))
        rows.append(row_text(shape, found[-1]))
        print(rows[-1], file=sys.stderr, flush=True)  # noqa: T201 - progress
    said = f"{where_measured('python -m benchmarks.shapes')} {summary(found)}."
    text = "\n".join([said, "", *rows])
    print(text)  # noqa: T201 - output
    write_between_markers(given.write, text, MARKERS)


if __name__ == "__main__":
    main()
