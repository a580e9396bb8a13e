"""
Tiny clusters by number, each planned and held against an exact model.

Effort `exact` has nothing better in any level; what `normal` claims as proven is so.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from placement.core.model.solution import Bounded, Status
from placement.draft.draft import Settings
from placement.model.cluster import ClusterState
from placement.model.load import RESOURCES, Resource
from placement.operations.log_dirs import LogDirs
from placement.operations.remove_brokers import RemoveBrokers
from placement.operations.set_replication_factor import SetReplicationFactor
from placement.planning.new_partitions.plan_new_partitions import (
    Expected,
    place_new,
    with_more_partitions,
    with_new_topic,
)
from placement.planning.outcome.result import PlannedPlacement
from placement.planning.plan import plan
from support.clusters import Dir, make_state
from support.exact_model import ANY, SAME, ExactModel, Worth
from support.exact_operations import (
    additions,
    anywhere,
    chosen_of,
    dirs_chosen,
    drops,
    in_log_dirs,
    keeps_racks,
    model_of,
    removals,
    replica_lists,
    with_topics_spread,
)

BANDS = (0.02, 0.05, 0.1, 0.3, 0.6, 1.0)
LED = {Resource.OUT, Resource.LEADERS}


def drawn_cluster(
    rng: np.random.Generator, *, factor: int | None = None, most_partitions: int = 10
) -> ClusterState:
    """Draw 3 to 5 brokers in racks or none, skewed loads, some capacities unknown."""
    width = int(rng.integers(3, 6))
    racks = ("-----", "aabbc", "abcab", "aabbb")[rng.integers(4)][:width]
    count = int(rng.integers(4, most_partitions + 1))
    skew = rng.random(width) ** 2 + 0.05
    empty = make_state({}, racks=racks, ids=range(width))
    lists: list[list[int]] = []
    while len(lists) < count:
        size = min(int(rng.integers(1, 4)) if factor is None else factor, width)
        row = rng.choice(width, size=size, replace=False, p=skew / skew.sum()).tolist()
        if keeps_racks(empty, row, set(range(width))):
            lists.append(row)
    sizes = np.ceil(10 ** rng.uniform(0, 3, count)).astype(int).tolist()
    columns: dict[str, Any] = {
        "size_bytes": sizes,
        "in_rate": np.ceil(10 ** rng.uniform(0, 2, count)).tolist(),
        "out_rate": np.ceil(10 ** rng.uniform(0, 2.3, count)).tolist(),
        "leader_cpu": np.ceil(rng.uniform(1, 9, count)).tolist(),
    }
    for name in tuple(columns):
        if rng.random() < (0.7 if name == "leader_cpu" else 0.25):
            del columns[name]
    if "leader_cpu" in columns:
        columns["follower_cpu"] = 1.0
    if "size_bytes" in columns and rng.random() < 0.5:
        columns["disk_bytes"] = _disks(rng, lists, sizes, width)
    return make_state(lists, racks=racks, ids=range(width), **columns)


def _disks(
    rng: np.random.Generator, lists: list[list[int]], sizes: list[int], width: int
) -> list[int]:
    """Disks that what lies there fits on."""
    held = [
        sum(size for size, row in zip(sizes, lists, strict=True) if b in row)
        for b in range(width)
    ]
    share = sum(held) / width
    return [int(max(used, share) * 1.25 * (1 + rng.random())) + 1 for used in held]


def removal(number: int, effort: str) -> str:
    """Plan `remove-brokers` of one broker."""
    rng = np.random.default_rng(number)
    state = drawn_cluster(rng)
    leaving = {int(rng.integers(state.num_brokers))}
    operation = RemoveBrokers(tuple(leaving))
    placed = plan(state, operation, _settings(rng, effort))
    return held_against(state, placed, removals(state, leaving), effort)


def longer_lists(number: int, effort: str) -> str:
    """Plan a higher replication factor."""
    rng = np.random.default_rng(number)
    now = int(rng.integers(1, 3))
    state = drawn_cluster(rng, factor=now, most_partitions=8)
    factor = min(now + int(rng.integers(1, 3)), state.num_brokers)
    operation = SetReplicationFactor({"t": factor})
    placed = plan(state, operation, _settings(rng, effort))
    lists = additions(state, [factor] * state.num_partitions)
    return held_against(state, placed, lists, effort)


def shorter_lists(number: int, effort: str) -> str:
    """
    Plan a lower replication factor.

    Each list is one that the rules allow, and no bound is above what is possible.
    """
    return _shorter_lists(number, effort)[0]


def has_nearer_drops(number: int, effort: str) -> bool:
    """Tell whether other copies to drop bring the furthest broker nearer."""
    return "distance" in _shorter_lists(number, effort)[1]


def _shorter_lists(number: int, effort: str) -> tuple[str, Iterable[str]]:
    """Return the status of a lower replication factor, and what could be better."""
    rng = np.random.default_rng(number)
    now = int(rng.integers(2, 4))
    state = drawn_cluster(rng, factor=now)
    factor = int(rng.integers(1, now))
    operation = SetReplicationFactor({"t": factor})
    placed = plan(state, operation, _settings(rng, effort))
    lists = drops(state, factor)
    exact = model_of(state, lists, bands_of(placed))
    if not placed.has_met_rules:
        assert placed.solution.status is not Status.INFEASIBLE or not (
            exact.can_be_kept()
        )
        return str(placed.solution.status), []
    worth = exact.worth(chosen_of(lists, replica_lists(placed.reassignment.after())))
    assert worth.is_kept
    assert (worth.cost, worth.moves) == (0, 0)
    _check_bounds(exact, worth, placed)
    return str(placed.solution.status), exact.betters(worth)


def new_partitions(number: int, effort: str) -> str:
    """
    Plan a new topic or more partitions.

    Hard rules are kept wherever they can be, and no bound is above what is possible. Of
    the places that spread topics as well, none is nearer to the bands.
    """
    rng = np.random.default_rng(number)
    state = drawn_cluster(rng, most_partitions=8)
    count, factor = int(rng.integers(1, 6)), int(rng.integers(1, 4))
    if rng.random() < 0.5:
        more = state.num_partitions + count
        grown = with_more_partitions(state, "t", more, Expected())
    else:
        expected = Expected(
            in_bytes_per_s=float(rng.integers(1, 100)) * count,
            out_bytes_per_s=float(rng.integers(1, 200)) * count,
            size_bytes=int(rng.integers(1, 400)) * count,
        )
        grown = with_new_topic(state, "z", count, factor, expected)
    placed = place_new(grown, _settings(rng, effort))
    after = placed.reassignment.after()
    rows = replica_lists(after)
    lists = [
        anywhere(after, len(row)) if is_new else [row]
        for row, is_new in zip(rows, grown.is_new.tolist(), strict=True)
    ]
    exact = model_of(after, lists, bands_of(placed))
    if not placed.has_met_rules:
        assert not exact.can_be_kept()
        return str(placed.solution.status)
    worth = exact.worth(chosen_of(lists, rows))
    assert worth.is_kept
    _check_bounds(exact, worth, placed)
    shares = tuple(_part(placed, one) for one in (Resource.REPLICAS, Resource.LEADERS))
    spread = with_topics_spread(exact, after, rows, shares)
    kept = spread.worth(chosen_of(lists, rows))
    found = set(spread.betters(kept))
    assert not found & {"distance", "sum"}, (found, kept.distance, kept.total)
    return str(placed.solution.status)


def _part(placed: PlannedPlacement, resource: Resource) -> Any:
    """``(B,)`` the part of each broker in the targets of a resource."""
    target = placed.targets.target[:, RESOURCES.index(resource)]
    return target / max(float(target.sum()), 1e-300)


def held_against(
    state: ClusterState,
    placed: PlannedPlacement,
    lists: Sequence[Sequence[Sequence[int]]],
    effort: str,
) -> str:
    """Hold a plan against all choices of lists; return its status."""
    status = str(placed.solution.status)
    exact = model_of(state, lists, bands_of(placed))
    is_possible = all(lists) and exact.can_be_kept()
    assert placed.has_met_rules == is_possible, status
    if not is_possible:
        return status
    after, certificate = placed.reassignment.after(), placed.solution.certificate
    worth = exact.worth(chosen_of(lists, replica_lists(after)))
    assert worth.is_kept
    assert (worth.cost, worth.moves) == (
        certificate.cost.value,
        certificate.moves.value,
    )
    assert abs(worth.distance - certificate.deviation.value) <= SAME
    _check_bounds(exact, worth, placed)
    _check_levels(exact, worth, certificate.deviation, effort)
    return status


def _check_levels(
    exact: ExactModel, worth: Worth, deviation: Bounded, effort: str
) -> None:
    """Nothing is better than effort `exact`, nor than what is claimed as proven."""
    found = list(exact.betters(worth, of_the_sum=effort == "exact"))
    if effort == "exact":
        assert found == []
        return
    # Bands that never settle have no proof of the distance, and roles are last.
    is_proven = _claimed(deviation) >= deviation.value - SAME
    assert set(found) <= ({"changes"} if is_proven else {"changes", "distance"})


def _check_bounds(exact: ExactModel, worth: Worth, placed: PlannedPlacement) -> None:
    certificate = placed.solution.certificate
    assert not exact.can_be_nearer(_claimed(certificate.deviation))
    assert not exact.can_cost_less(worth, int(_claimed(certificate.cost)))


def _claimed(bounded: Bounded) -> float:
    return max(bounded.lower_bound, bounded.solver_bound or 0.0)


def bands_of(placed: PlannedPlacement) -> tuple[Any, Any, Any]:
    """Bands that a plan reached, where its operation balances."""
    targets, draft = placed.targets, placed.draft
    target = np.array(targets.target)
    for r, resource in enumerate(RESOURCES):
        counts = draft.leads if resource in LED else draft.holds
        target[:, r] *= counts & (resource in placed.balanced)
    return targets.lower, targets.upper, target


def _settings(rng: np.random.Generator, effort: str, **more: Any) -> Settings:
    band = float(rng.choice(BANDS))
    return Settings(effort=effort, bands=dict.fromkeys(RESOURCES, band), **more)


@dataclass(frozen=True)
class DirCase:
    """Log dirs of a cluster, those to empty, and a cap on moves."""

    state: ClusterState
    emptied: set[int]
    caps: dict[str, int]


def drawn_dirs(rng: np.random.Generator) -> DirCase:
    """Draw 3 to 5 brokers with 2 or 3 log dirs each, skewed, some of unknown size."""
    width, count = int(rng.integers(3, 6)), int(rng.integers(4, 13))
    lists = [
        rng.choice(width, size=int(rng.integers(1, 4)), replace=False).tolist()
        for _ in range(count)
    ]
    sizes = np.ceil(10 ** rng.uniform(0, 3, count)).astype(int).tolist()
    num_dirs = rng.integers(2, 4, width).tolist()
    skew = rng.random(3) ** 2 + 0.05
    at = [
        [int(rng.choice(num_dirs[b], p=_parts(skew, num_dirs[b]))) for b in row]
        for row in lists
    ]
    held: Counter[tuple[int, int]] = Counter()
    for row, places, size in zip(lists, at, sizes, strict=True):
        for pair in zip(row, places, strict=True):
            held[pair] += size
    is_known = rng.random() < 0.7
    log_dirs = {
        b: [
            _dir(rng, d, held[b, d], sum(held[b, e] for e in range(n)) / n)
            if is_known
            else Dir(f"/d{d}")
            for d in range(n)
        ]
        for b, n in enumerate(num_dirs)
    }
    state = make_state(
        lists, ids=range(width), log_dirs=log_dirs, size_bytes=sizes,
        dirs=[[f"/d{d}" for d in places] for places in at],
    )  # fmt: skip
    emptied = {int(rng.integers(len(state.log_dirs)))} if rng.random() < 0.4 else set()
    caps = {"max_moves": int(rng.integers(1, 6))} if rng.random() < 0.25 else {}
    return DirCase(state, emptied, caps)


def _parts(skew: Any, count: int) -> Any:
    return skew[:count] / skew[:count].sum()


def _dir(rng: np.random.Generator, number: int, held: int, share: float) -> Dir:
    size = int(max(held, share * rng.uniform(0.7, 2)) * 1.3) + 1
    free = size - held - int(rng.integers(0, size // 8 + 1))
    return Dir(f"/d{number}", size, -1 if rng.random() < 0.6 else max(free, 0))


def log_dirs(number: int, effort: str) -> str:
    """Plan `log-dirs`, some of them emptied, with or without a cap on moves."""
    rng = np.random.default_rng(number)
    case = drawn_dirs(rng)
    state, emptied = case.state, case.emptied
    settings = _settings(rng, effort, **case.caps)
    placed = plan(state, LogDirs(tuple(emptied)), settings)
    planned, status = placed.log_dirs, str(placed.solution.status)
    assert planned is not None
    targets = planned.targets
    target = targets.target[:, 0] * planned.is_member
    bands = targets.lower[:, 0], targets.upper[:, 0], target
    exact = in_log_dirs(state, emptied, bands, **case.caps)
    assert placed.has_met_rules == exact.can_be_kept(), status
    if not placed.has_met_rules:
        return status
    here = np.where(planned.is_moved, planned.log_dir_idx, state.replicas.log_dir_idx)
    chosen = dirs_chosen(state, emptied, here.tolist())
    worth = exact.worth(chosen)
    assert worth.is_kept
    assert worth.cost == planned.cost.value
    assert not exact.can_be_nearer(_claimed(planned.deviation))
    assert not exact.can_cost_less(worth, int(_claimed(planned.cost)))
    for part, ways in _problems(case, exact, chosen):
        found = list(part.betters(part.worth(ways), of_the_sum=effort == "exact"))
        # Bands that never settle have no proof of the distance.
        assert status != "optimal" or set(found) <= {"distance"}
    return status


def _problems(
    case: DirCase, exact: ExactModel, chosen: list[int]
) -> list[tuple[ExactModel, list[int]]]:
    """Each broker is a problem of its own; with a cap all are one."""
    if case.caps:
        return [(exact, chosen)]
    state, found = case.state, []
    for broker in range(state.num_brokers):
        rows = np.nonzero(state.replicas.broker_idx == broker)[0].tolist()
        mine = (state.log_dirs.broker_idx == broker)[:, None]
        part = replace(
            exact,
            ways=[exact.ways[row] for row in rows],
            target=exact.target * mine,
            capacity=np.where(mine, exact.capacity, ANY),
        )
        found.append((part, [chosen[row] for row in rows]))
    return found


CASES = {
    "log-dirs": log_dirs,
    "remove-brokers": removal,
    "set-replication-factor, up": longer_lists,
    "set-replication-factor, down": shorter_lists,
    "new-topic, add-partitions": new_partitions,
}
"""A plan of each kind by number and effort, held against an exact model."""
