"""
Plan small clusters of every family, and write their table in docs/benchmarks.md.

``PYTHONPATH=tests python -m benchmarks.small [--size 6x60] [--families ag]
[--seeds 1-10] [--write FILE]``

Each plan is held against the best that is known of its cluster (``tests/data/
small-best.json``). ``--improve SECONDS`` looks for better ones with effort *exact*, and
keeps these.
"""

import argparse
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from statistics import median

from benchmarks.run import cpu_s, where_measured, write_between_markers
from benchmarks.small_best import Best, better, read_best, write_best
from placement.core.model.search_budget import NORMAL
from placement.core.search.preload import search_compiled
from placement.draft.draft import Settings
from placement.model.load import RESOURCES
from placement.operations.descriptor import name_of
from placement.planning.outcome.result import PlannedPlacement
from placement.planning.plan import plan
from placement.synthetic import FAMILIES, Size, make_instance
from planner.options.cluster_options import read_request
from planner.options.plan_request import PlanRequest
from planner.plan.documents.scored_plan import make_plan
from planner.plan.run.make_plan import check_plan

MARKERS = ("<!-- small: start -->", "<!-- small: end -->")
BAND = 0.05
SMALL = {
    "6x60": Size(6, 3, 180, 16),
    "12x300": Size(12, 3, 900, 64),
    "30x1000": Size(30, 5, 3_000, 64),
    "100x20000": Size(100, 5, 60_000),
}
"""By brokers and partitions."""
NEAR = 1.005
"""Times the bytes of the best known: as good as these."""
LEAST_SAME = 1e-6
"""Distances from the bands that differ by less are the same."""
SMOKE = "6x60"


@dataclass(frozen=True, slots=True)
class Small:
    """
    One plan of a small cluster.

    Parameters
    ----------
    name
        Of the cluster: size, family and seed.
    cpu_s
        Seconds of CPU of the whole plan, bounds and log dirs included.
    copied_bytes, deviation
        What it copies, and how far the furthest broker is outside its bands.
    checked_gap
        Bytes over what is proven and re-checked, as a part of them; `None`: nothing is.
    is_proven
        Whether nothing is better, by a checked bound or by what the solver says.
    num_findings
        What the independent checker holds against the plan.
    """

    name: str
    cpu_s: float
    copied_bytes: int
    deviation: float
    checked_gap: float | None
    is_proven: bool
    num_findings: int

    def ratio(self, best: Best) -> float | None:
        """Bytes / those of the best known; `None` where bands are reached unalike."""
        if abs(self.deviation - best.deviation) > LEAST_SAME:
            return None
        return self.copied_bytes / best.bytes if best.bytes else 1.0

    def is_near(self, best: Best) -> bool:
        """Tell whether it is as near to the bands, and copies hardly more."""
        if self.deviation > best.deviation + LEAST_SAME:
            return False
        ratio = self.ratio(best)
        return ratio is None or ratio <= NEAR


def planned(
    size: str, family: str, seed: int, effort: str, deadline_s: float | None = None
) -> tuple[Small, Best]:
    """Plan one cluster; return what was measured, and what is to be kept of it."""
    instance = make_instance(family, SMALL[size], seed, BAND)
    bands = dict.fromkeys(RESOURCES, BAND)
    settings = Settings(bands=bands, effort=effort, deadline_s=deadline_s)
    began, used = time.perf_counter(), cpu_s()
    found = plan(instance.state, instance.operation, settings)
    seconds, cpu = time.perf_counter() - began, cpu_s() - used
    certificate = found.solution.certificate
    small = Small(
        name=f"{size} {family} {seed}",
        cpu_s=cpu,
        copied_bytes=int(certificate.cost.value),
        deviation=float(certificate.deviation.value),
        checked_gap=certificate.cost.gap,
        is_proven=Best.of(certificate, seconds).is_proven,
        num_findings=findings_of(name_of(instance.operation), found),
    )
    return small, Best.of(certificate, seconds)


def findings_of(goal: str, found: PlannedPlacement) -> int:
    """Return what the independent checker holds against a plan."""
    made = make_plan(goal, found, taken_at=None, settings={})
    chosen = read_request(PlanRequest(goal=goal, band=(str(BAND),)), found.draft.state)
    return sum(not finding.existing for finding in check_plan(made, chosen))


@dataclass(frozen=True, slots=True)
class Must:
    """
    What the clusters of a size must keep to.

    Parameters
    ----------
    seconds
        Of CPU, the median of all.
    proven, near
        Parts of the clusters that are proven best, and that are near to the best known.
    gap
        The median of what is checked again.
    """

    seconds: float
    proven: float = 0.0
    near: float = 0.0
    gap: float = float("inf")

    def is_met(self, found: Sequence[Small], best: Sequence[Best]) -> bool:
        """Tell whether plans keep to it."""
        return (
            median(one.cpu_s for one in found) <= self.seconds
            and proven_part(found) >= self.proven
            and near_part(found, best) >= self.near
            and _median_gap(found) <= self.gap
            and not any(one.num_findings for one in found)
        )

    def __str__(self) -> str:
        said = [f"{self.seconds:g} s"]
        said += [f"{self.proven:.0%} proven"] if self.proven else []
        said += [f"{self.near:.0%} near"] if self.near else []
        said += [f"gap {100 * self.gap:g}%"] if self.gap < float("inf") else []
        return ", ".join(said)


MUSTS = {
    "6x60": Must(seconds=1.0, proven=0.98),
    "12x300": Must(seconds=4.0, proven=0.8, near=0.95),
    "30x1000": Must(seconds=5.0, gap=0.03),
    "100x20000": Must(seconds=1.0, gap=0.005),
}


def proven_part(found: Sequence[Small]) -> float:
    """Return the part of the plans that are proven best."""
    return sum(one.is_proven for one in found) / len(found)


def near_part(found: Sequence[Small], best: Sequence[Best]) -> float:
    """Return the part of the plans that are near to the best known."""
    pairs = zip(found, best, strict=True)
    return sum(one.is_near(known) for one, known in pairs) / len(found)


def _median_gap(found: Sequence[Small]) -> float:
    gaps = [
        float("inf") if one.checked_gap is None else one.checked_gap for one in found
    ]
    return median(gaps)


HEADER = (
    "| brokers x partitions, family | plans | CPU, s: median | most | proven "
    f"| within {NEAR} of the best | bytes / best: median | most | checked gap: median "
    "| findings |\n|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|"
)
MUST_HEADER = (
    "| brokers x partitions | must | skewed loads (c) | all families |\n"
    "|---|---|---|---|"
)
SKEWED = "c"
"""The family that the figures wanted are stated for."""


def row_text(name: str, found: Sequence[Small], best: Sequence[Best]) -> str:
    """Return the row of some plans."""
    pairs = zip(found, best, strict=True)
    ratios = [r for one, known in pairs if (r := one.ratio(known)) is not None]
    gap = _median_gap(found)
    return (
        f"| {name} | {len(found)} | {median(one.cpu_s for one in found):.2f} "
        f"| {max(one.cpu_s for one in found):.2f} | {proven_part(found):.0%} "
        f"| {near_part(found, best):.0%} | {_figure(ratios, median)} "
        f"| {_figure(ratios, max)} | {f'{gap:.2%}' if gap < float('inf') else '-'} "
        f"| {sum(one.num_findings for one in found)} |"
    )


def _figure(ratios: Sequence[float], of: Callable[[Sequence[float]], float]) -> str:
    return f"{of(ratios):.4f}" if ratios else "-"


def tables(sizes: Sequence[str], families: Sequence[str], seeds: Sequence[int]) -> str:
    """Plan clusters, and return their tables."""
    rows, musts, known = [HEADER], [MUST_HEADER], read_best()
    for size in sizes:
        pairs: list[tuple[Small, Best]] = []
        skewed = "not run"
        for family in families:
            some = [_held(size, family, seed, known) for seed in seeds]
            if family == SKEWED:
                skewed = _met(size, some)
            rows.append(row_text(f"{size}, {family}", *zip(*some, strict=True)))
            print(rows[-1], file=sys.stderr, flush=True)  # noqa: T201 - progress
            pairs += some
        rows.append(row_text(f"**{size}**", *zip(*pairs, strict=True)))
        musts.append(f"| {size} | {MUSTS[size]} | {skewed} | {_met(size, pairs)} |")
    return "\n".join([*rows, "", *musts])


def _met(size: str, pairs: Sequence[tuple[Small, Best]]) -> str:
    is_met = MUSTS[size].is_met(*zip(*pairs, strict=True))
    return "yes" if is_met else "**no**"


def _held(
    size: str, family: str, seed: int, known: Mapping[str, Best]
) -> tuple[Small, Best]:
    """Plan a cluster; return what was measured, and the best that is known."""
    small, own = planned(size, family, seed, "normal")
    return small, better(known.get(small.name), own)


def improve(clusters: Iterable[tuple[str, str, int]], seconds: float) -> None:
    """Look for better plans than those known, and keep them."""
    for size, family, seed in clusters:
        known = read_best()
        name = f"{size} {family} {seed}"
        if name in known and known[name].is_proven:
            continue
        small, own = planned(size, family, seed, "exact", seconds)
        if small.num_findings:
            print(f"{name}: refused by the checker")  # noqa: T201 - output
            continue
        # Others may have been kept in the meantime.
        known = read_best()
        known[name] = better(known.get(name), own)
        write_best(known)
        print(name, known[name], flush=True)  # noqa: T201 - output


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Plan small clusters.")
    parser.add_argument("--size", default=",".join(SMALL), help="brokers x partitions")
    parser.add_argument(
        "--families", default="".join(f for f in FAMILIES if len(f) == 1)
    )
    parser.add_argument("--seeds", default="1-10", help="first and last")
    parser.add_argument("--smoke", action="store_true", help="each family once, small")
    parser.add_argument("--improve", type=float, metavar="SECONDS")
    parser.add_argument("--write", type=Path, metavar="FILE", help="page to update")
    return parser.parse_args()


def main() -> None:
    """Measure, print, and write the page if one is named."""
    given = _arguments()
    # Small clusters run kernels that are compiled already, and compile none themselves.
    search_compiled(NORMAL, with_rare=True)
    sizes = [SMOKE] if given.smoke else given.size.split(",")
    first, _, last = ("1" if given.smoke else given.seeds).partition("-")
    seeds = range(int(first), int(last or first) + 1)
    if given.improve:
        improve(product(sizes, given.families, seeds), given.improve)
        return
    said = f"{where_measured('make bench')} Seeds {first} to {last or first}."
    text = f"{said}\n\n{tables(sizes, given.families, seeds)}"
    print(text)  # noqa: T201 - output
    write_between_markers(given.write, text, MARKERS)


if __name__ == "__main__":
    main()
