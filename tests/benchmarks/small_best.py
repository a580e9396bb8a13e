"""The best that is known of small clusters, kept as data."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from placement.core.model.solution import CLOSED, Bounded, Certificate

DATA = Path(__file__).parents[1] / "data" / "small-best.json"
SAME = 1e-9
"""Distances from the bands that differ by less are the same."""


@dataclass(frozen=True, slots=True)
class Best:
    """
    The best plan known of a cluster, and what made it.

    Parameters
    ----------
    bytes, deviation
        What it copies, and how far the furthest broker is outside its bands.
    bytes_bound, deviation_bound
        What is said that no plan is below; of bytes within the bands reached.
    solver
        What made it, and says so.
    seconds
        That this took.
    """

    bytes: int
    deviation: float
    bytes_bound: int
    deviation_bound: float
    solver: str
    seconds: float

    @classmethod
    def of(cls, found: Certificate, seconds: float) -> "Best":
        """Return what is kept of a plan."""
        said = (found.cost.solver, found.deviation.solver, "kafka-planner")
        return cls(
            bytes=int(found.cost.value),
            deviation=float(found.deviation.value),
            bytes_bound=int(_most_said(found.cost)),
            deviation_bound=float(_most_said(found.deviation)),
            solver=next(name for name in said if name),
            seconds=round(seconds, 1),
        )

    @property
    def is_proven(self) -> bool:
        """Whether nothing is nearer, or copies less, by more than a millionth."""
        is_nearest = self.deviation * (1 - CLOSED) <= self.deviation_bound + SAME
        return is_nearest and self.bytes - self.bytes_bound <= self.bytes_bound * CLOSED


def _most_said(of: Bounded) -> float:
    return max(of.lower_bound, of.solver_bound or 0)


def better(one: Best | None, other: Best) -> Best:
    """Return the better of two, with the most that either says of the same bands."""
    if one is None:
        return other
    if abs(one.deviation - other.deviation) > SAME:
        return min(one, other, key=lambda best: best.deviation)
    least = min(one, other, key=lambda best: (best.bytes, -best.bytes_bound))
    fields = asdict(least)
    for name in ("bytes_bound", "deviation_bound"):
        fields[name] = max(getattr(one, name), getattr(other, name))
    return Best(**fields)


def read_best() -> dict[str, Best]:
    """Return what is known, by cluster."""
    if not DATA.exists():
        return {}
    found = json.loads(DATA.read_text(encoding="utf-8"))
    return {name: Best(**fields) for name, fields in found.items()}


def write_best(best: Mapping[str, Best]) -> None:
    """Keep what is known, a line for each cluster."""
    lines = [
        f" {json.dumps(name)}: {json.dumps(asdict(best[name]))}"
        for name in sorted(best, key=_order)
    ]
    text = ",\n".join(lines)
    DATA.write_text(f"{{\n{text}\n}}\n", encoding="utf-8")


def _order(name: str) -> tuple[int, str, int]:
    size, family, seed = name.split()
    return int(size.partition("x")[0]), family, int(seed)
