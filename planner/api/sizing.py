"""Sizing from Python, with results as tables."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from html import escape
from os import PathLike
from pathlib import Path
from typing import Any, Literal

from planner.api.errors import named_as_arguments
from planner.api.growth import AnyGrowth, growth_rates
from planner.api.result import without_command
from planner.api.table import Table
from planner.sizing.broker_types import read_types, validate_types
from planner.sizing.size_cluster import SizeAnswer, SizeRequest, shown_snapshot
from planner.sizing.size_cluster import size as answer_to
from planner.sizing.sizing_document import status_of
from planner.sizing.sizing_document import to_document as size_document
from planner.sizing.sizing_screen import size_screen
from planner.snapshot import Snapshot


@dataclass(frozen=True, eq=False, repr=False)
class SizeResult:
    """
    Number of brokers that a cluster needs.

    Parameters
    ----------
    answer
        The answer, its proof, and a placement that attains it.
    """

    answer: SizeAnswer

    @property
    def status(self) -> str:
        """One of ``exact`` (proven), ``bounded`` and ``none``."""
        return status_of(self.answer.sizing)

    @property
    def brokers(self) -> int:
        """Number of brokers; 0 if none was found."""
        return self.answer.sizing.brokers

    @property
    def lower_bound(self) -> float | None:
        """Proven lower bound on the number of brokers, or on the price."""
        bound: float | None = self.document["lower_bound"]
        return bound

    @cached_property
    def document(self) -> Mapping[str, Any]:
        """The document that `size --format json` prints."""
        return size_document(self.answer, now=datetime.now(UTC))

    @property
    def remove(self) -> tuple[int, ...]:
        """Ids of today's brokers that can be removed."""
        return tuple(self.document["remove"])

    @cached_property
    def fleet(self) -> Table:
        """A row per type and rack. Columns: `type`, `rack`, `brokers`, `price`."""
        import pyarrow as pa

        rows = [
            {
                "type": each["type"],
                "rack": rack or None,
                "brokers": count,
                "price": each["price"] * count / max(each["brokers"], 1),
            }
            for each in self.document["fleet"]
            for rack, count in (each["racks"] or {"": each["brokers"]}).items()
        ]
        return Table(pa.Table.from_pylist(rows))

    @property
    def placement(self) -> Snapshot | None:
        """Placement that attains the answer."""
        shown = self.answer.sizing.shown
        return None if shown is None else shown_snapshot(self.answer, shown)

    def __repr__(self) -> str:
        now = datetime.now(UTC)
        lines = size_screen(self.answer, ["snapshot"], None, now=now)
        return without_command(lines)

    def _repr_html_(self) -> str:
        return f"<pre>{escape(repr(self))}</pre>"


def size_cluster(
    snapshot: Snapshot,
    *,
    types: Sequence[Mapping[str, Any]] | str | PathLike[str] = (),
    survives: Literal["broker", "rack", "both", "nothing"]
    | Iterable[Literal["broker", "rack"]] = ("broker", "rack"),
    growth: AnyGrowth | None = None,
    months: float = 0.0,
    like: int | None = None,
    racks: int | None = None,
    capacity_threshold: Mapping[str, float] | None = None,
    effort: Literal["quick", "normal", "thorough", "exact"] = "quick",
    seed: int = 1,
) -> SizeResult:
    """
    Find the number of brokers that a cluster needs, with a proof.

    Parameters
    ----------
    snapshot
        The cluster.
    types
        Kinds of brokers with prices, or a file of them. By default today's kinds.
    survives
        Losses to survive.
    growth, months
        Growth of topics, and months ahead to size for.
    like
        Id of the broker whose kind is added or removed.
    racks
        Number of racks of the types. By default today's.
    capacity_threshold, effort, seed
        Options of the plans, as in `PlanOptions`.

    Raises
    ------
    BadInputError
        If options are wrong; has every problem.

    Examples
    --------
    >>> import planner
    >>> from planner.demo import SNAPSHOT_FILE
    >>> snapshot = planner.read_snapshot(SNAPSHOT_FILE)
    >>> sized = planner.size_cluster(snapshot, survives=())
    >>> sized.brokers, sized.status, sized.remove
    (9, 'exact', (10, 11, 12))
    """
    request = SizeRequest(
        capacity_threshold=capacity_threshold or {},
        survives=survives
        if isinstance(survives, str)
        else ",".join(survives) or "nothing",
        like=like,
        months=months,
        racks=racks,
        effort=effort,
        seed=seed,
    )
    kinds = (
        read_types(Path(types))
        if isinstance(types, str | PathLike)
        else (validate_types({"types": list(types)}) if types else ())
    )
    with named_as_arguments():
        answer = answer_to(
            snapshot, request, kinds=kinds, growth=growth_rates(growth, snapshot)
        )
    return SizeResult(answer)
