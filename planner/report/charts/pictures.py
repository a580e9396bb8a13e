"""
Pictures: the numbers of charts, without any way to draw them.

Charts of reports, terminal pictures and notebooks are drawn from the same pictures.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

Number = float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadPicture:
    """
    Load of one resource on brokers, racks or log dirs.

    Parameters
    ----------
    name
        Name of the picture, also of its file: ``brokers-disk``.
    resource
        Name of the resource.
    level
        Noun of a place: ``broker``, ``rack``, ``log dir``.
    unit
        Unit of all numbers: ``% of capacity``, ``MB/s``, ``replicas``.
    places
        Label of each place, ``P`` in all.
    now
        ``(P,)`` load after the plan, or the only one; `None` where unknown.
    before
        ``(P,)`` load before the plan; `None` for a picture of one placement.
    target
        ``(P,)`` targets; `None` where unknown.
    lower, upper
        ``(P,)`` edges of the bands; empty where bands do not apply.
    threshold
        ``(P,)`` capacity thresholds; empty where none applies.
    omitted
        Number of further places that are not in the picture.
    rest
        Words on the further places.
    legend
        Words on marks that differ from the usual ones: ``now``, ``target``, ``band`` or
        ``limit``.
    """

    name: str
    resource: str
    level: str
    unit: str
    places: Sequence[str]
    now: Sequence[Number]
    before: Sequence[Number] | None
    target: Sequence[Number]
    lower: Sequence[Number] = ()
    upper: Sequence[Number] = ()
    threshold: Sequence[Number] = ()
    omitted: int = 0
    rest: str = "that are nearer to their targets"
    legend: Mapping[str, str] = field(default_factory=dict)

    @property
    def title(self) -> str:
        """Title of the picture."""
        return f"{self.resource} by {self.level}, {self.unit}"


@dataclass(frozen=True, slots=True, kw_only=True)
class MatrixPicture:
    """
    Bytes copied from each place to each other.

    Parameters
    ----------
    name
        Name of the picture, also of its file.
    level
        Noun of a place: ``broker`` or ``rack``.
    sources, targets
        Labels of the rows and of the columns.
    cells
        Row, column, copied bytes and copies of each pair with a copy.
    """

    name: str
    level: str
    sources: Sequence[str]
    targets: Sequence[str]
    cells: Sequence[tuple[str, str, int, int]]

    @property
    def title(self) -> str:
        """Title of the picture."""
        return f"copied bytes, from {self.level} (row) to {self.level} (column)"


@dataclass(frozen=True, slots=True)
class Bar:
    """One bar of a timeline: label, kind, begin and end in seconds, words beside it."""

    label: str
    kind: str
    begin_s: float
    end_s: float
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class TimelinePicture:
    """
    Waves one after the other.

    Parameters
    ----------
    name
        Name of the picture, also of its file.
    bars
        Bars in order of time.
    omitted
        Number of further waves that are not in the picture.
    """

    name: str
    bars: Sequence[Bar]
    omitted: int = 0

    @property
    def title(self) -> str:
        """Title of the picture."""
        return "waves by hours from the start"


Picture = LoadPicture | MatrixPicture | TimelinePicture
