"""
Plans of tiny clusters, each held against an exact model.

``PYTHONPATH=tests python -m fuzz.exact [--cases 1000] [--seed 1]``

Every number from the seed on is a case of each kind, with effort `normal` and `exact`
in turn.
"""

import argparse
import sys
from collections import Counter

from support.exact_cases import CASES

EFFORTS = ("normal", "exact")


def look(cases: int, seed: int) -> tuple[Counter[str], list[str]]:
    """Judge so many cases; return how often which status came out, and what failed."""
    statuses: Counter[str] = Counter()
    failed = []
    for step in range(cases):
        kind = list(CASES)[step % len(CASES)]
        number, effort = seed + step // len(CASES), EFFORTS[step // len(CASES) % 2]
        try:
            statuses[f"{kind} {CASES[kind](number, effort)}"] += 1
        except AssertionError as error:
            failed.append(f"{kind} {number} {effort}: {str(error).splitlines()[:1]}")
            print(failed[-1], flush=True)  # noqa: T201 - output
    return statuses, failed


def main() -> int:
    """Judge cases, and print what came out."""
    parser = argparse.ArgumentParser(description="Hold tiny plans to exact models.")
    parser.add_argument("--cases", type=int, default=1_000, help="in all")
    parser.add_argument("--seed", type=int, default=1, help="first number")
    given = parser.parse_args()
    statuses, failed = look(given.cases, given.seed)
    for name, times in sorted(statuses.items()):
        print(f"{times:8,}  {name}")  # noqa: T201 - output
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
