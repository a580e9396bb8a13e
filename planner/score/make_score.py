"""Score of one snapshot by the options of the command line."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime

from placement.draft.draft import Note, Settings
from placement.model.cluster import ClusterState
from placement.score import ClusterScore, score_cluster
from planner.options.cluster_options import read_options
from planner.options.declared.rule_readers import SETS_OFF
from planner.options.plan_request import read_values
from planner.plan.run.mixed_factor_notes import factor_notes
from planner.progress import stage
from planner.score.failed_dirs import failed_dir_notes
from planner.snapshot import Snapshot
from planner.status.find_status import Status, status_of
from planner.status.unproven_min_isr import unproven_min_isr
from planner.text.data_age import age_s


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreRequest:
    """
    Options of a score, unparsed.

    Parameters
    ----------
    band, capacity_threshold
        ``RESOURCE=FRACTION`` texts; a band may also be a fraction for all.
    resources
        Names of resources joined by commas that count for the least bytes to move.
        `None` for all whose loads are known for enough partitions.
    """

    band: Sequence[str] = ()
    capacity_threshold: Sequence[str] = ()
    resources: str | None = None


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Scored:
    """
    A score, with the time of its snapshot.

    Parameters
    ----------
    score
        The figures.
    cluster_id, taken_at
        Fields of the snapshot.
    data_age_s
        Age of the snapshot in seconds; `None` where its time is unknown.
    settings
        Bands and thresholds of the figures.
    status
        Current troubles; `None` where the score is not of a snapshot.
    """

    score: ClusterScore
    cluster_id: str | None
    taken_at: str | None
    data_age_s: float | None
    settings: Settings = field(default_factory=Settings)
    status: Status | None = None


def score_snapshot(
    snapshot: Snapshot, request: ScoreRequest | None = None, *, now: datetime
) -> Scored:
    """
    Score a snapshot.

    Parameters
    ----------
    snapshot
        The snapshot.
    request
        Options; `None` for the defaults.
    now
        Time, with a zone, that gives the age of the data.

    Raises
    ------
    BadInputError
        If any option is invalid for this cluster; names every problem.
    """
    stage("scoring")
    given = request or ScoreRequest()
    state = snapshot.to_state()
    # Shares are those of the whole cluster, as everywhere else.
    options, problems = read_values({**asdict(given), "broker_set": SETS_OFF})
    settings = read_options(options, state, problems=problems).settings
    score = score_cluster(state, settings)
    return Scored(
        score=replace(score, notes=(*score.notes, *_more_notes(snapshot, state))),
        cluster_id=snapshot.cluster_id,
        taken_at=snapshot.taken_at,
        data_age_s=age_s(snapshot.taken_at, now),
        settings=settings,
        status=status_of(snapshot, state),
    )


def _more_notes(snapshot: Snapshot, state: ClusterState) -> Iterator[Note]:
    """Yield the notes on what the snapshot itself does not show at once."""
    yield from factor_notes(state)
    yield from failed_dir_notes(state)
    for message in unproven_min_isr(snapshot, state):
        yield Note(what="kafka-version", message=message)
