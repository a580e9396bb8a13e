"""Figures of a real or hypothetical cluster: balance, use, and survivable losses."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from placement.array_types import BoolArray, RateArray, RowArray
from placement.demand.topic_growth import Crossing, Growth, crossings
from placement.draft.draft import LEAST_KNOWN
from placement.failures.failure_domains import DomainKind
from placement.failures.failure_outlook import (
    DEFAULT_BANDWIDTH_BYTES_PER_S,
    Outlook,
    outlook,
)
from placement.failures.failure_table import Failures
from placement.failures.partition_health import health_of, hurt_before
from placement.failures.serving_loads import serving_weights
from placement.failures.single_failures import single_failures
from placement.failures.survivor_loads import HELD_COLUMNS
from placement.model.cluster import ClusterState
from placement.model.disk_bytes import full_log_dirs
from placement.model.load import (
    RESOURCES,
    Resource,
    Weights,
    known_fractions,
    weigh,
)
from placement.model.targets import Members, share_out
from placement.score.placement_score import Measured, Score, measure, score_of

CAPPED = (
    Resource.DISK,
    Resource.IN,
    Resource.OUT,
    Resource.CPU,
    Resource.REPLICAS,
)
"""Resources with a capacity; that of replicas is `max_replicas`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Assumptions:
    """
    Assumptions of the figures.

    Parameters
    ----------
    bands
        Half-width of the band per resource, as a fraction of the target.
    thresholds
        Usable fraction of each capacity.
    bandwidth_bytes_per_s
        Bytes/s at which a broker copies, in and out.
    growth
        Growth of topics; `None`: not given.
    """

    bands: Mapping[Resource, float]
    thresholds: Mapping[Resource, float]
    bandwidth_bytes_per_s: float = DEFAULT_BANDWIDTH_BYTES_PER_S
    growth: Growth | None = None


@dataclass(frozen=True, slots=True)
class Use:
    """
    Use of the brokers' capacity for one resource.

    Parameters
    ----------
    most, mean
        Use of the fullest broker, and of all brokers together, as fractions; NaN where
        capacities or loads are unknown.
    broker_id
        Id of the fullest broker.
    over
        Number of brokers over their threshold.
    """

    most: float
    mean: float
    broker_id: int
    over: int

    @property
    def is_known(self) -> bool:
        """Whether capacities and loads are known."""
        return bool(np.isfinite(self.most))


@dataclass(frozen=True, slots=True)
class Verdict:
    """
    Verdict on the loss of any one broker, or any one rack.

    Parameters
    ----------
    answer
        Whether any one may be lost, and all partitions serve; `None` where there is
        none.
    hardest
        Name of the broker or rack with the worst loss; empty where there is none.
    reason
        Damage by the worst loss, else what is hurt before any; empty without either.
    fails
        Number of brokers or racks that may not be lost.
    """

    answer: bool | None
    hardest: str
    reason: str
    fails: int


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Figures:
    """
    Figures of one cluster.

    Parameters
    ----------
    state
        Cluster, without empty brokers that leave.
    num_brokers
        Number of live brokers.
    measured, score
        Loads, targets and balance.
    use
        Use of each resource with a capacity.
    return_use
        Use of out once every follower fetches again; `None` without a loss.
    health
        Number of partitions that are offline, under min ISR and so on.
    verdicts
        Verdicts on the loss of any one broker, and any one rack.
    crossings
        First crossing of a threshold per resource, soonest first; `None` where the
        growth of topics is not given.
    full_dirs
        Rows of the log dirs over the disk threshold, of brokers that are not over it.
    """

    state: ClusterState
    num_brokers: int
    measured: Measured
    score: Score
    use: Mapping[Resource, Use]
    return_use: Use | None
    health: Mapping[str, int]
    verdicts: Mapping[DomainKind, Verdict]
    crossings: tuple[Crossing, ...] | None
    full_dirs: RowArray

    @property
    def binding(self) -> tuple[Resource, Use] | None:
        """Resource nearest to its threshold, and its use; `None` if none is known."""
        known = [(r, use) for r, use in self.use.items() if use.is_known]

        def nearness(pair: tuple[Resource, Use]) -> float:
            return pair[1].most / self.threshold_of(pair[0], pair[1].broker_id)

        return max(known, key=nearness) if known else None

    def threshold_of(self, resource: Resource, broker_id: int) -> float:
        """Return the usable fraction of a broker's capacity."""
        if resource is Resource.REPLICAS:
            return 1.0
        r = RESOURCES.index(resource)
        row = int(self.state.brokers.rows_of([broker_id])[0])
        # That of the score is 0 on a broker that may not lead.
        capacity = float(_given_capacities(self.state)[resource][row])
        # The limit includes a tolerance for rounding.
        return float(self.measured.limit[row, r]) / (1 + 1e-9) / capacity

    @property
    def num_over(self) -> int:
        """Brokers over a threshold, with a log dir over one, or over `max_replicas`."""
        is_over = self.measured.is_over.any(axis=1) | self.measured.is_crowded
        is_over[self.state.log_dirs.broker_idx[self.full_dirs]] = True
        return int(is_over.sum())

    @property
    def num_out_of_band(self) -> int:
        """Number of brokers out of some band."""
        holds = self.measured.shares.members.holds
        return int((self.score.is_out.any(axis=1) & holds).sum())


def figures_of(
    state: ClusterState,
    assumptions: Assumptions,
    *,
    leaving: frozenset[int] = frozenset(),
    is_gone: bool = False,
) -> Figures:
    """
    Return the figures of a cluster with its current leaders.

    Parameters
    ----------
    state
        Cluster to measure.
    assumptions
        Assumptions of the figures.
    leaving
        Ids of live brokers that leave and do not count.
    is_gone
        Whether offline replicas are lost, so that these fetch nothing from their
        leaders.
    """
    holds = state.brokers.is_live & ~np.isin(state.brokers.ids, sorted(leaving))
    members = Members(holds=holds, leads=holds & state.brokers.may_lead)
    usual = weigh(state)
    weights = usual
    if is_gone:
        weights = _without_lost_bytes(state, serving_weights(state, usual))
    measured = _measured(state, weights, members, assumptions)
    score = score_of(measured)
    on_return = _measured(state, usual, members, assumptions) if is_gone else measured
    given = outlook(
        state,
        thresholds=assumptions.thresholds,
        bandwidth_bytes_per_s=assumptions.bandwidth_bytes_per_s,
    )
    is_full = full_log_dirs(state, assumptions.thresholds.get(Resource.DISK))
    is_over = measured.is_over[:, RESOURCES.index(Resource.DISK)]
    is_full &= (holds & ~is_over)[state.log_dirs.broker_idx]
    return Figures(
        state=state,
        full_dirs=np.flatnonzero(is_full),
        num_brokers=int(holds.sum()),
        measured=measured,
        score=score,
        use=_uses(measured, score, holds),
        return_use=_uses(on_return, score_of(on_return), holds)[Resource.OUT]
        if is_gone
        else None,
        health=health_of(state).counts(),
        verdicts={
            kind: verdict_of(given, kind)
            for kind in (DomainKind.BROKER, DomainKind.RACK)
        },
        crossings=None
        if assumptions.growth is None
        else tuple(
            crossings(
                state,
                assumptions.growth,
                assumptions.thresholds,
                holds,
                weights=weights,
            )
        ),
    )


def _without_lost_bytes(state: ClusterState, weights: Weights) -> Weights:
    """Return the weights without bytes of replicas in failed log dirs."""
    of, is_lost = state.replicas.partition_idx, state.is_offline
    if not is_lost.any():
        return weights
    size = weights.replica[of, RESOURCES.index(Resource.DISK)]
    own = weights.own if len(weights.own) else np.zeros_like(size)
    return replace(weights, own=np.where(is_lost, -size, own))


def _measured(
    state: ClusterState, weights: Weights, members: Members, assumptions: Assumptions
) -> Measured:
    shares = share_out(state, weights, members, assumptions.bands)
    leader = state.partitions.leader_idx
    return measure(state, weights, shares, leader, assumptions.thresholds)


def _uses(measured: Measured, score: Score, holds: BoolArray) -> dict[Resource, Use]:
    brokers = measured.state.brokers
    given = _given_capacities(measured.state)
    known = known_fractions(measured.state, measured.weights)
    found = {}
    for resource in CAPPED:
        r = RESOURCES.index(resource)
        capacity = given[resource][holds].astype(np.float64)
        is_known = len(capacity) and np.isfinite(capacity).all() and capacity.all()
        if not is_known or known[r] < LEAST_KNOWN:
            found[resource] = Use(np.nan, np.nan, -1, 0)
            continue
        use = score.load[holds, r] / capacity
        fullest = int(use.argmax())
        found[resource] = Use(
            most=float(use[fullest]),
            mean=float(score.load[holds, r].sum() / capacity.sum()),
            broker_id=int(brokers.ids[holds][fullest]),
            over=int(measured.is_over[:, r].sum()),
        )
    counted = found[Resource.REPLICAS]
    if counted.is_known:
        over = int(measured.is_crowded.sum())
        found[Resource.REPLICAS] = replace(counted, over=over)
    return found


def _given_capacities(state: ClusterState) -> dict[Resource, RateArray]:
    """Return ``(B,)`` capacities of `CAPPED`, in display units; NaN where unknown."""
    brokers = state.brokers
    return {
        Resource.DISK: np.where(brokers.disk_bytes > 0, brokers.disk_bytes, np.nan),
        Resource.IN: brokers.in_bytes_per_s,
        Resource.OUT: brokers.out_bytes_per_s,
        Resource.CPU: brokers.cpu_cores,
        Resource.REPLICAS: np.where(
            brokers.max_replicas > 0, brokers.max_replicas, np.nan
        ),
    }


def verdict_of(given: Outlook, kind: DomainKind) -> Verdict:
    """Return the verdict on the loss of any one domain, and on what is hurt before."""
    failures = single_failures(given, kind)
    if not len(failures):
        return Verdict(answer=None, hardest="", reason="", fails=0)
    is_fine = failures.is_survived & ~failures.is_overfull
    worst = int(failures.ranked()[0])
    if not is_fine.all() and is_fine[worst]:
        worst = int(np.nonzero(~is_fine)[0][0])
    before = hurt_before(given.state)
    return Verdict(
        answer=bool(is_fine.all()) and not any(before.values()),
        hardest=failures.domains.name(given.state, int(failures.first[worst])),
        reason=reason_of(failures, worst) or _reason_before(before),
        fails=int((~is_fine).sum()),
    )


HARM = {"offline": "partitions offline", "under_min_isr": "partitions under min ISR"}
"""Kinds of harm to partitions, worst first, in words."""


def _reason_before(before: Mapping[str, int]) -> str:
    """Return the worst harm before any failure as text; empty without one."""
    found = [name for name in HARM if before[name]]
    return f"{HARM[found[0]]} before any loss: {before[found[0]]}" if found else ""


def reason_of(failures: Failures, row: int) -> str:
    """Return the worst effect of one failure as text; empty without one."""
    for name, words in HARM.items():
        count = int(failures.damage[name][row])
        if count:
            return f"{words}: {count}"
    if count := int(failures.peaks.num_over[row]):
        return f"brokers over a threshold by leading: {count}"
    for y, r in enumerate(HELD_COLUMNS):
        if failures.even_levels[row, y] > failures.scale.most[r]:
            full = 100 * float(failures.even_levels[row, y])
            return f"{RESOURCES[r]} {full:.0f} % when rebuilt"
    return "" if np.isfinite(failures.peaks.value[row]).all() else "no broker is left"
