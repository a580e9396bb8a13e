"""
Look for plans that break a rule, in as many cases as one has time for.

``PYTHONPATH=tests python -m fuzz.run [--cases 100000] [--seed 1] [--goal NAME]
[--effort quick]``

With another effort than `quick` CP-SAT takes part, and in how many plans is printed.
Two processes draw, each from a seed of its own, which are printed. A case that fails is
made as small as it can be and printed too, with its seed, and the next seed follows.
The exit code is 1 where any failed.
"""

import argparse
import subprocess
import sys
import time
import traceback
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import seed as seeded
from ortools.sat.python import cp_model

from fuzz.drawn import GOALS, Drawn, drawn
from fuzz.judging import judge
from placement.core.search import compilation

FAILED = "rounds that failed"
ASKED = "cases in which CP-SAT was asked"
PROCESSES = 2
ROUND = 500
"""Cases drawn from one seed; the next ones are from the next."""


def look(
    cases: int,
    seed: int,
    goals: tuple[str, ...],
    *,
    effort: str = "quick",
    goes_on: bool = True,
) -> Counter[str]:
    """
    Judge so many cases; return how often plans came out how.

    Parameters
    ----------
    cases, seed
        How many, and the seed of the first round.
    goals
        Operations that are drawn.
    effort
        Of every plan.
    goes_on
        Whether a case that fails is printed and counted; else it is raised.
    """
    told: Counter[str] = Counter()
    began = time.monotonic()
    for begin in range(0, cases, ROUND):
        now = seed + begin // ROUND
        try:
            _round(min(ROUND, cases - begin), now, (goals, effort), told)
        except Exception:
            if not goes_on:
                raise
            told[FAILED] += 1
            print(f"seed {now} fails", file=sys.stderr)  # noqa: T201 - output
            traceback.print_exc()
        if goes_on:
            so_far = f"seed {now}: {num_judged(told):,} cases in "
            print(f"{so_far}{time.monotonic() - began:.0f} s", flush=True)  # noqa: T201 - progress
    return told


def _round(
    cases: int, seed: int, of: tuple[tuple[str, ...], str], told: Counter[str]
) -> None:
    goals, effort = of

    @seeded(seed)
    @settings(
        max_examples=cases,
        deadline=None,
        database=None,
        derandomize=False,
        print_blob=True,
        phases=[Phase.generate, Phase.shrink],
        suppress_health_check=list(HealthCheck),
    )
    @given(drawn(goals, effort))
    def every(case: Drawn) -> None:
        with solves_counted() as solves:
            told[f"{case.request.goal} {judge(case)}"] += 1
        told[ASKED] += bool(solves)

    every()


def num_judged(told: Counter[str]) -> int:
    """Return how many cases were judged."""
    return sum(told.values()) - told[ASKED] - told[FAILED]


@contextmanager
def solves_counted() -> Iterator[list[object]]:
    """Collect the status of each solve of CP-SAT, as long as the context lasts."""
    solves: list[object] = []
    solve = cp_model.CpSolver.solve

    def counted(self: cp_model.CpSolver, *args: object, **named: object) -> object:
        solves.append(status := solve(self, *args, **named))  # type: ignore[arg-type]
        return status

    cp_model.CpSolver.solve = counted  # type: ignore[method-assign, assignment]
    try:
        yield solves
    finally:
        cp_model.CpSolver.solve = solve  # type: ignore[method-assign]


def main() -> int:
    """Look in both processes; return the worse exit code."""
    parser = argparse.ArgumentParser(description="Look for plans that break a rule.")
    parser.add_argument("--cases", type=int, default=100_000, help="in all")
    parser.add_argument("--seed", type=int, default=1, help="of the first round")
    parser.add_argument("--goal", action="append", help="only this one; repeatable")
    parser.add_argument("--effort", default="quick", help="of every plan")
    parser.add_argument("--alone", action="store_true", help=argparse.SUPPRESS)
    given_ = parser.parse_args()
    goals = tuple(given_.goal or GOALS)
    if given_.alone:
        # Compiled first, which takes a third off the time of hundreds of plans.
        compilation.PLAIN_ITEMS = -1
        told = look(given_.cases, given_.seed, goals, effort=given_.effort)
        for name, times in sorted(told.items()):
            print(f"{times:8,}  {name}")  # noqa: T201 - output
        return int(told[FAILED] > 0)
    share = -(-given_.cases // PROCESSES)
    command = [sys.executable, "-m", "fuzz.run", "--alone", "--cases", str(share)]
    command += ["--effort", given_.effort]
    command += [word for goal in goals for word in ("--goal", goal)]
    seeds = [given_.seed + n * 1_000_000 for n in range(PROCESSES)]
    print(f"{share:,} cases each from seeds {seeds}", flush=True)  # noqa: T201 - output
    running = [subprocess.Popen([*command, "--seed", str(seed)]) for seed in seeds]
    return max(abs(process.wait()) for process in running)


if __name__ == "__main__":
    sys.exit(main())
