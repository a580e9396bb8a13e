"""Trade-off between copied bytes and distance: the same plan within caps."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from placement.model.cluster import ClusterState
from planner.options.plan_request import PlanRequest
from planner.plan.documents.plan_figures import counted_out
from planner.plan.run.make_plan import Planned, make
from planner.progress import stage
from planner.text.document_numbers import rounded
from planner.text.format import LABEL_WIDTH, bytes_text, percent_text
from planner.text.table import Column, table_lines

PARTS = (0.0, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
"""Caps as fractions of the bytes that the whole plan copies."""
COLUMNS = (
    Column("Trade-off", least=LABEL_WIDTH, gap=0),
    Column("copied", align="right", least=9),
    Column("of all", align="right"),
    Column("copies", align="right", least=7),
    Column("brokers out", align="right"),
    Column("worst, of its share", align="right"),
)


@dataclass(frozen=True, slots=True)
class TradeOff:
    """
    One point of the curve: copied bytes, and the remaining distance.

    Parameters
    ----------
    max_bytes
        Cap in bytes; for the whole plan, the bytes that it copies.
    bytes, replicas
        Bytes and replicas copied within the cap.
    deviation
        Largest distance of a broker outside a band, in targets.
    brokers_out
        Brokers outside one of their bands that the operation counts.
    """

    max_bytes: int
    bytes: int
    replicas: int
    deviation: float
    brokers_out: int


def trade_off(
    state: ClusterState,
    request: PlanRequest,
    whole: Planned,
    parts: Sequence[float] = PARTS,
) -> list[TradeOff]:
    """
    Plan again within fractions of the bytes, and return the curve.

    Parameters
    ----------
    state
        The cluster.
    request
        The request.
    whole
        Plan of the request, which is the last point.
    parts
        Fractions of its bytes, ascending: one point each.

    Returns
    -------
    Points by ascending bytes. Dominated points, which copy more bytes and leave a
    larger distance than another, are left out: the other plan is within their cap too.
    """
    most = int(whole.plan.moves["bytes"])
    caps = sorted({int(part * most) for part in parts} - {most})
    points = []
    for number, cap in enumerate(caps):
        stage("planning within fewer bytes", number, len(caps))
        capped = request.changed(max_bytes=cap)
        points.append(_point(cap, make(state, capped)))
    return list(_not_dominated([*points, _point(most, whole)]))


def _point(cap: int, planned: Planned) -> TradeOff:
    plan = planned.plan
    return TradeOff(
        max_bytes=cap,
        bytes=int(plan.moves["bytes"]),
        replicas=int(plan.moves["replicas"]),
        deviation=float(plan.placed.solution.certificate.deviation.value),
        brokers_out=int(counted_out(plan).any(axis=1).sum()),
    )


def _not_dominated(points: Sequence[TradeOff]) -> Iterator[TradeOff]:
    """Yield points by ascending bytes, each with a smaller distance than before."""
    nearest = (float("inf"), 0)
    for point in sorted(points, key=lambda p: (p.bytes, p.deviation, p.brokers_out)):
        distance = (point.deviation, point.brokers_out)
        if distance < nearest:
            nearest = distance
            yield point


def trade_off_document(points: Sequence[TradeOff]) -> list[dict[str, Any]]:
    """Return the points as JSON."""
    return [
        {name: rounded(value) for name, value in asdict(point).items()}
        for point in points
    ]


def trade_off_lines(points: Sequence[TradeOff]) -> Iterator[str]:
    """Yield the curve as a table."""
    most = max((point.bytes for point in points), default=0)
    yield from table_lines(COLUMNS, (_cells(point, most) for point in points))


def _cells(point: TradeOff, most: int) -> tuple[str, ...]:
    return (
        "",
        bytes_text(point.bytes),
        percent_text(point.bytes / most if most else 1.0),
        f"{point.replicas:,}",
        f"{point.brokers_out:,}",
        percent_text(point.deviation),
    )
