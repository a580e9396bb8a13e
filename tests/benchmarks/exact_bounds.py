"""
Bounds of the exact model on small skewed clusters, found once and kept as data.

``PYTHONPATH=tests python -m benchmarks.exact_bounds [--seeds 1,2,3] [--seconds 300]``

HiGHS branches for so many seconds on one thread; what it has proven by then is written
to ``tests/data/exact-bounds.json``, beside what is there for other clusters.
"""

import argparse
import json
from pathlib import Path
from typing import Any

import highspy
import numpy as np

from benchmarks.placing_cases import PLACINGS, Placing
from placement.core.bounds.cover_bounds import Bands
from placement.core.exact.milp import small_model
from placement.core.exact.model_scaling import scale_of
from placement.core.model.problem import NO_LIMIT, Problem
from placement.draft.draft import Settings
from placement.model.load import RESOURCES
from placement.planning.encode import build_problem
from placement.planning.plan import plan
from placement.synthetic import SIZES, make_instance

DATA = Path(__file__).parents[1] / "data" / "exact-bounds.json"
FAMILY, SIZE = "c", "S"


def known() -> dict[str, dict[str, Any]]:
    """Return what is known, by row of the table and seed."""
    if not DATA.exists():
        return {}
    found: dict[str, dict[str, Any]] = json.loads(DATA.read_text(encoding="utf-8"))
    return found


def key_of(row: Placing, seed: int) -> str:
    """Return under what name the bound of a row's cluster is kept."""
    return f"{row.size}({row.family}) {100 * row.band:g} %, seed {seed}"


def bound_of(row: Placing, seed: int) -> int | None:
    """Return the bytes that any plan within the bands has to copy, where known."""
    entry = known().get(key_of(row, seed))
    return None if entry is None else int(entry["bytes"])


def find(row: Placing, seed: int, seconds: float) -> dict[str, Any]:
    """Return what HiGHS proves of one cluster in so many seconds."""
    instance = make_instance(row.family, SIZES[row.size], seed, row.band)
    bands = dict.fromkeys(RESOURCES, row.band)
    placed = plan(instance.state, instance.operation, Settings(bands=bands))
    problem = build_problem(placed.draft, placed.targets, placed.balanced)
    limits = problem.bins
    upper = np.where(limits.target > 0, limits.upper, NO_LIMIT)
    model = small_model._Model(problem, Bands(limits.lower, upper), "cost")
    solver = small_model._Limited(
        msg=False, threads=1, timeLimit=seconds, random_seed=1
    )
    model.model.solve(solver)
    dual = float(model.model.solverModel.getInfo().mip_dual_bound)
    return {
        "bytes": copied_at_least(problem, dual),
        "seconds": seconds,
        "highs": highspy.Highs().version(),
    }


def copied_at_least(problem: Problem, dual_bound: float) -> int:
    """Turn a model's dual bound into a cost: ties and tolerance are taken off."""
    scale = scale_of(problem)
    bound = (dual_bound - scale.slack) * scale.cost
    return int(np.ceil(bound - 1e-6 * max(1.0, abs(bound)))) if bound > 0 else 0


def main() -> None:
    """Find the bounds of some seeds, and write all that are known."""
    parser = argparse.ArgumentParser(description="Bound small clusters exactly.")
    parser.add_argument("--seeds", default="1,2,3")
    parser.add_argument("--seconds", type=float, default=300.0)
    given = parser.parse_args()
    rows = [r for r in PLACINGS if (r.size, r.family) == (SIZE, FAMILY)]
    for seed in map(int, given.seeds.split(",")):
        for row in rows:
            found = known() | {key_of(row, seed): find(row, seed, given.seconds)}
            text = json.dumps(dict(sorted(found.items())), indent=1)
            DATA.write_text(text + "\n", encoding="utf-8")
            print(key_of(row, seed), found[key_of(row, seed)], flush=True)  # noqa: T201


if __name__ == "__main__":
    main()
