"""The rows of the placement table: what is planned, and what it may cost."""

from dataclasses import dataclass
from typing import Any

from placement.synthetic import FAMILIES

GIB = 2**30
ANY = float("inf")


@dataclass(frozen=True, slots=True)
class Limits:
    """
    What a row must or should keep to; infinite where nothing is asked.

    Parameters
    ----------
    seconds
        Of the search alone, or of the whole command.
    ratio
        Bytes moved / proven lower bound.
    peak_bytes
        High-water mark of the process.
    brokers_out
        Brokers that may stay out of their band.
    furthest
        How far out of its band any of these may be, as a fraction of its target.
    nearly
        Times the distance that is proven of the cluster, by any of its rows, that
        brokers may be out of bands which no plan keeps.
    """

    seconds: float = ANY
    ratio: float = ANY
    peak_bytes: float = ANY
    brokers_out: float = 0
    furthest: float = 0.0
    nearly: float = 1.05

    def __str__(self) -> str:
        said = []
        if self.seconds < ANY:
            said.append(f"{self.seconds:g} s")
        if self.ratio < ANY:
            said.append(f"{self.ratio:g}")
        if self.peak_bytes < ANY:
            said.append(f"{self.peak_bytes / GIB:g} GiB")
        if 0 < self.brokers_out < ANY:
            said.append(f"{self.brokers_out:g} out by {100 * self.furthest:g} %")
        return ", ".join(said) or "-"


FREE = Limits(brokers_out=ANY, furthest=ANY)
"""No target yet."""


@dataclass(frozen=True, slots=True)
class Placing:
    """
    One row: a family at a size, planned at a band.

    Parameters
    ----------
    size, family
        Of `placement.synthetic`.
    band
        Width, as a fraction of the target.
    must, aim
        What counts as done, and what to go for.
    effort
        How much work the search may do.
    is_command
        Whether the whole command is timed: reading, planning, checking, writing.
    is_first
        Whether nothing has been compiled yet, as right after installing, and there is
        no home to keep it in.
    asks
        Fields of the request that are not the family's own, and their values.
    """

    size: str
    family: str
    band: float = 0.05
    must: Limits = FREE
    aim: Limits = FREE
    effort: str = "normal"
    is_command: bool = False
    is_first: bool = False
    asks: tuple[tuple[str, Any], ...] = ()

    @property
    def name(self) -> str:
        """As it stands in the table."""
        effort = "" if self.effort == "normal" else f" {self.effort}"
        command = " whole command" if self.is_command else ""
        command += ", the first time ever" if self.is_first else ""
        asks = "".join(f" {key}={value}" for key, value in self.asks)
        band = f"{100 * self.band:g} %"
        return f"{self.size}({self.family}) {band}{effort}{command}{asks}"


def _targets() -> tuple[Placing, ...]:
    """Return the rows that have targets, smallest first."""
    small = [
        Placing("S", f, 0.05, Limits(1, 1.02), Limits(1, 1.0), effort)
        if effort == "normal"
        else Placing("S", f, 0.05, Limits(0.02, 1.10, nearly=1.25), FREE, effort)
        for f in ("a", "b")
        for effort in ("normal", "quick")
    ]
    medium = [
        Placing("M", f, 0.05, Limits(0.05, 1.01), Limits(0.015, 1.001))
        for f in ("a", "b")
    ]
    large = [
        *(
            Placing(
                "L",
                "a",
                band,
                Limits(1.5, 1.005, 0.8 * GIB),
                Limits(0.5, 1.0005, 0.8 * GIB),
            )
            for band in (0.05, 0.02)
        ),
        Placing("L", "a'", 0.05, Limits(2, 1.03), Limits(0.7, 1.015)),
        *(
            Placing("L", "b", band, Limits(0.5, 1.002), Limits(0.15, 1.0001))
            for band in (0.05, 0.02)
        ),
        Placing(
            "L",
            "c",
            0.05,
            Limits(6, 1.20, brokers_out=2, furthest=0.001),
            Limits(3, 1.10),
        ),
        Placing("L", "c", 0.02, Limits(12, 1.25), Limits(5, 1.15)),
    ]
    return (
        *small,
        # Of the exact model's dual bound: the table's ratio is of the search's own.
        Placing("S", "c", 0.05, Limits(3, 1.05), Limits(3, 1.01)),
        Placing("S", "c", 0.02, Limits(3, 1.10), Limits(3, 1.03)),
        *medium,
        Placing("M", "c", 0.05, Limits(0.5, 1.30), FREE),
        Placing("M", "c", 0.02, Limits(0.5, 1.40), FREE),
        Placing("M", "c", 0.05, Limits(10, 1.10), Limits(10, 1.05), "thorough"),
        Placing("M", "c", 0.02, Limits(10, 1.18), Limits(10, 1.10), "thorough"),
        *large,
        Placing("XL", "a", 0.05, Limits(10, 1.01, 2 * GIB), Limits(3, 1.01, 2 * GIB)),
        Placing("XL", "b", 0.05, Limits(3, 1.01, 2 * GIB), Limits(0.9, 1.01, 2 * GIB)),
        Placing("XL", "c", 0.05, Limits(15, 1.20, 2 * GIB), Limits(5, 1.20, 2 * GIB)),
    )


LEADERS = (("goal", "leaders"),)
COUNTS = (*LEADERS, ("resources", "leaders"))
"""The order of replicas alone: leaders by count and bytes, and by count alone."""
MOVES = (("prefer", "moves"),)
"""Every move has a price besides its bytes."""

PLACINGS = (
    *_targets(),
    *(Placing("S", f, asks=MOVES) for f in ("a", "c")),
    Placing("L", "c", must=Limits(2), aim=Limits(1), asks=COUNTS),
    Placing("L", "c", must=Limits(2), asks=LEADERS),
    Placing("L", "c", 0.02, must=Limits(2), asks=LEADERS),
    Placing("L", "d", must=Limits(2), asks=LEADERS),
    Placing("L", "c", must=Limits(5), asks=(*LEADERS, ("order_followers", True))),
    *(Placing("S", "a'", band) for band in (0.05, 0.02)),
    *(Placing("M", "a'", band) for band in (0.05, 0.02)),
    *(Placing(size, f) for size in ("S", "M", "L") for f in ("d", "e", "f", "g")),
    Placing("L", "a", 0.05, Limits(4), Limits(2), is_command=True),
    Placing("S", "a", 0.05, Limits(1.5), Limits(0.8), is_command=True),
    Placing("S", "a", 0.05, Limits(8), Limits(3), is_command=True, is_first=True),
)
SMOKE = tuple(Placing("XS", family, 0.2, effort="quick") for family in FAMILIES)
"""Every family once, for the tests; at a band that a handful of leaders can meet."""
