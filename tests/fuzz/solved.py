"""
Plans of CP-SAT's on many small clusters, each held against the checker.

``PYTHONPATH=tests python -m fuzz.solved [--cases 10000] [--seed 1]``

A case is a plan for which CP-SAT was asked; clusters on which the search alone proves
its answer are drawn over and do not count. The search is that of `quick` effort, so
that there is something left to do, and CP-SAT gets a tenth of what `normal` allows it.
Two processes draw.
"""

import argparse
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from itertools import count
from unittest.mock import patch

import numpy as np

from fuzz.drawn import Drawn
from fuzz.judging import (
    GIVES_WAY,
    MET,
    SHAPE,
    judge_certificate,
    judge_copies,
    newly_wrong,
)
from fuzz.run import PROCESSES, ROUND, solves_counted
from placement.core.model.search_budget import EFFORTS, NORMAL, QUICK
from placement.core.search import compilation
from placement.operations.add_brokers import AddBrokers
from placement.operations.remove_brokers import RemoveBrokers
from placement.synthetic import FAMILIES, Instance, Size, make_instance
from planner.options.plan_request import PlanRequest
from planner.plan.run.make_plan import make

BANDS = ("0.02", "0.05", "0.1", "0.3")
RESOURCES = (None, None, "disk", "replicas,leaders", "disk,leaders", "cpu,in,out")
THRESHOLDS = ((), (), ("disk=0.7",), ("disk=0.6", "in=0.6"))
PART = 0.1
"""Of the work that `normal` effort allows CP-SAT."""
EFFORT = replace(
    QUICK,
    exact_cells=NORMAL.exact_cells,
    exact_work=PART * NORMAL.exact_work,
    role_work=PART * NORMAL.role_work,
    near_cells=1,
)
NO_REASONS = patch("planner.plan.run.make_plan.explain_impossible", return_value=None)
"""Reasons are found by further plans, which take most of the time."""


def look(cases: int, seed: int) -> Counter[str]:
    """
    Judge so many plans for which CP-SAT was asked; return how often they came out how.

    Raises
    ------
    AssertionError
        With what is wrong, and the numbers of the case.
    """
    told: Counter[str] = Counter()
    for number in count():
        if told.total() >= cases:
            return told
        case = drawn(seed, number)
        with solves_counted() as solves, patch.dict(EFFORTS, quick=EFFORT), NO_REASONS:
            status = judged(case, (seed, number))
        if solves:
            told[f"{case.request.goal} {status}"] += 1
            if told.total() % ROUND == 0:
                print(f"seed {seed}: {told.total():,} cases", flush=True)  # noqa: T201 - progress
    raise AssertionError


def drawn(seed: int, number: int) -> Drawn:
    """Draw a cluster of three to five brokers, and a request for it."""
    rng = np.random.default_rng([seed, number])
    racks = 3
    brokers, partitions = int(rng.integers(racks, 6)), int(rng.integers(3, 8))
    size = Size(brokers, racks, 3 * partitions, most_partitions=6)
    family = str(rng.choice(sorted(FAMILIES)))
    instance = make_instance(family, size, int(rng.integers(2**31)))
    return Drawn(instance.state, _wish(rng, instance, partitions))


def _wish(rng: np.random.Generator, instance: Instance, partitions: int) -> PlanRequest:
    goal, ids = "rebalance", None
    if isinstance(instance.operation, AddBrokers):
        goal = "add-brokers"
    if isinstance(instance.operation, RemoveBrokers):
        goal = "remove-brokers"
        ids = ",".join(map(str, instance.operation.broker_ids))
    is_capped = rng.random() < 0.15
    return PlanRequest(
        goal=goal,
        broker_list=ids,
        band=(str(rng.choice(BANDS)),),
        resources=RESOURCES[rng.integers(len(RESOURCES))],
        capacity_threshold=THRESHOLDS[rng.integers(len(THRESHOLDS))],
        rebalance=goal == "remove-brokers" and bool(rng.integers(2)),
        max_moves=int(rng.integers(1, partitions + 1)) if is_capped else None,
        prefer="moves" if rng.random() < 0.2 else "bytes",
        transient_disk=bool(rng.random() < 0.2),
        effort="quick",
    )


def judged(case: Drawn, where: tuple[int, int]) -> str:
    """Plan a case and hold it against the checker; return the status of the plan."""
    made = make(case.state, case.request)
    status = made.plan.status
    caused = {key for key in newly_wrong(case, made) if key[0] not in GIVES_WAY}
    shape = {key for key in caused if key[0] in SHAPE}
    assert not shape, (where, case, shape)
    assert status not in MET or not caused, (where, case, caused)
    judge_certificate(made)
    judge_copies(made)
    return str(status)


def _commands(cases: int, seed: int) -> Iterator[list[str]]:
    share = -(-cases // PROCESSES)
    for process in range(PROCESSES):
        yield [
            *(sys.executable, "-m", "fuzz.solved", "--alone"),
            *("--cases", str(share), "--seed", str(seed + process)),
        ]


def main() -> int:
    """Look in both processes; return the worse exit code."""
    parser = argparse.ArgumentParser(description="Hold CP-SAT's plans to the checker.")
    parser.add_argument("--cases", type=int, default=10_000, help="in all")
    parser.add_argument("--seed", type=int, default=1, help="of what is drawn")
    parser.add_argument("--alone", action="store_true", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if not asked.alone:
        running = [subprocess.Popen(c) for c in _commands(asked.cases, asked.seed)]
        return max(abs(process.wait()) for process in running)
    # Compiled first, which takes a third off the time of hundreds of plans.
    compilation.PLAIN_ITEMS = -1
    told = look(asked.cases, asked.seed)
    for name, times in sorted(told.items()):
        print(f"{times:8,}  {name}")  # noqa: T201 - output
    return 0


if __name__ == "__main__":
    sys.exit(main())
