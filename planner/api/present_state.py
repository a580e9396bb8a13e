"""Status and score of a cluster as it is."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Any

from planner.api.errors import named_as_arguments, required
from planner.api.result import Level, pictures_at, without_command
from planner.api.table import Screen
from planner.report.charts.pictures import LoadPicture
from planner.report.notebook_charts import chart_of, svg_charts
from planner.report.pages.score_page import score_levels, score_limits
from planner.score import ScoreRequest, score_document, score_snapshot
from planner.score.make_score import Scored
from planner.score.score_screen import score_screen
from planner.snapshot import Snapshot
from planner.status.find_status import Status, status_of
from planner.status.status_document import status_document
from planner.status.status_screen import status_screen
from planner.status.trouble_sentences import Address

ADDRESS = Address(snapshot="SNAP", place="SNAP")


@dataclass(frozen=True, repr=False)
class StatusResult:
    """
    Current problems of a cluster, as far as its snapshot shows.

    Parameters
    ----------
    status
        The findings; see `planner.status`.
    """

    status: Status

    @property
    def ok(self) -> bool:
        """Whether no known fact is a problem."""
        return not self.status.is_wrong

    @property
    def verdict(self) -> str:
        """``wrong``, ``fine``, or ``unknown`` if the snapshot lacks facts."""
        return self.status.verdict

    @cached_property
    def document(self) -> Mapping[str, Any]:
        """The document that `kafka-planner status --format json` prints."""
        return status_document(self.status, ADDRESS, now=datetime.now(UTC))

    def __repr__(self) -> str:
        return "\n".join(status_screen(self.status, ADDRESS, now=datetime.now(UTC)))


def cluster_status(snapshot: Snapshot) -> StatusResult:
    """
    Find the current problems of a cluster.

    Parameters
    ----------
    snapshot
        The cluster; see `planner.read_snapshot` and `planner.take_snapshot`.

    Examples
    --------
    >>> import planner
    >>> from planner.demo import SNAPSHOT_FILE
    >>> planner.cluster_status(planner.read_snapshot(SNAPSHOT_FILE)).ok
    True
    """
    return StatusResult(status_of(required(snapshot)))


@dataclass(frozen=True, eq=False, repr=False)
class ScoreResult(Screen):
    """
    Balance, violations and hot spots of a cluster.

    Parameters
    ----------
    scored
        The score.
    """

    scored: Scored

    @cached_property
    def document(self) -> Mapping[str, Any]:
        """The document that `kafka-planner score --format json` prints."""
        return score_document(self.scored)

    def plot(self, level: Level = "broker") -> Any:  # noqa: ANN401 - of Altair
        """
        Return an Altair chart of loads, targets, bands and thresholds.

        Parameters
        ----------
        level
            ``broker``, ``rack`` or ``log dir``.

        Raises
        ------
        BadInputError
            If the extra ``[report]`` is not installed.
        ValueError
            If the cluster has no loads of that level.
        """
        return chart_of(self._pictures(level))

    def _pictures(self, level: Level) -> list[LoadPicture]:
        levels = score_levels(self.document)
        return pictures_at(level, levels, score_limits(self.scored))

    def __repr__(self) -> str:
        return without_command(score_screen(self.scored, Path("SNAP")))

    def _repr_html_(self) -> str:
        return super()._repr_html_() + svg_charts(self._pictures("broker"))


def score_cluster(
    snapshot: Snapshot,
    *,
    band: float | Mapping[str, float] | None = None,
    capacity_threshold: Mapping[str, float] | None = None,
    resources: Sequence[str] | None = None,
) -> ScoreResult:
    """
    Score a cluster.

    Parameters
    ----------
    snapshot
        The cluster; see `planner.read_snapshot`.
    band
        Half width of the bands, as a fraction of the target, for all resources or by
        resource.
    capacity_threshold
        Largest use of a capacity by resource, as a fraction.
    resources
        Resources that count for the least bytes to move.

    Raises
    ------
    BadInputError
        If an argument is wrong for this cluster; names every problem.

    Examples
    --------
    >>> import planner
    >>> from planner.demo import SNAPSHOT_FILE
    >>> score = planner.score_cluster(planner.read_snapshot(SNAPSHOT_FILE))
    >>> score.document["violations"]["over_capacity"]
    1
    """
    bands = band if isinstance(band, Mapping) or band is None else {"": band}
    request = ScoreRequest(
        band=[f"{name}={value}".lstrip("=") for name, value in (bands or {}).items()],
        capacity_threshold=[
            f"{name}={value}" for name, value in (capacity_threshold or {}).items()
        ],
        resources=None if resources is None else ",".join(resources),
    )
    with named_as_arguments():
        return ScoreResult(
            score_snapshot(required(snapshot), request, now=datetime.now(UTC))
        )
