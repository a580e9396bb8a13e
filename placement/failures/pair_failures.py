"""Effects of the loss of each pair of brokers, log dirs or racks."""

from dataclasses import replace
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from placement.array_types import CountArray, IndexArray, RateArray
from placement.failures.failover import CARRIED_COLUMNS, ON_RETURN
from placement.failures.failure_domains import DomainKind, Domains
from placement.failures.failure_outlook import Outlook, Parts, parts_of
from placement.failures.failure_table import Failures
from placement.failures.load_gains import Gains, joint_gains
from placement.failures.partition_damage import KINDS, joint_damage
from placement.failures.rebuilt_use import brokers_left, fullest_levels, unplaced
from placement.failures.single_failures import single_failures
from placement.failures.survivor_loads import HELD_COLUMNS, Peaks
from placement.model.cluster import ABSENT
from placement.model.load import add_to

ValueT = TypeVar("ValueT", bound=npt.NDArray[Any])
MOST_DOMAINS = 2000
"""Number of domains above which pairs are sampled."""
DEFAULT_SAMPLE = 200_000


def pair_failures(
    given: Outlook,
    kind: DomainKind,
    *,
    most_domains: int = MOST_DOMAINS,
    sample: int = DEFAULT_SAMPLE,
    seed: int = 1,
) -> Failures:
    """
    Return the effects of the loss of each pair of domains.

    Parameters
    ----------
    given
        Cluster with its loads.
    kind
        Kind of the domains.
    most_domains
        Number of domains above which pairs are sampled, if there are more pairs than
        `sample`.
    sample
        Number of pairs to sample, without repetition.
    seed
        Seed of the sample.

    Notes
    -----
    Damage is counted exactly from the partitions that pairs share. The busiest
    survivor takes ``O(N² B)`` simple additions.
    """
    parts = parts_of(given, kind)
    count = len(parts.domains)
    possible = count * (count - 1) // 2
    if count <= most_domains or possible <= sample:
        first, second = (row.astype(np.int32) for row in np.triu_indices(count, 1))
    else:
        first, second = _drawn(count, sample, np.random.default_rng(seed))
    keys, added = joint_damage(parts.table)
    at = _found(keys, first.astype(np.int64) * count + second)
    waiting, waiting_load = unplaced(given, parts, (first, second))
    rebuilt = _copyable(given, parts, first, second) - waiting_load
    levels, even = fullest_levels(given, parts, (first, second), rebuilt)
    table = parts.table
    joint = joint_gains(parts.domains, table, parts.leading, table.neighbours)
    found = Failures(
        domains=parts.domains,
        first=first,
        second=second,
        damage={
            name: parts.damage[name][first]
            + parts.damage[name][second]
            + np.append(added[name], 0)[at]
            for name in KINDS
        },
        leaders_moved=_leaders_moved(parts, first, second),
        peaks=_pair_peaks(given, parts, joint, first, second),
        levels=levels,
        even_levels=even,
        rebuilt_bytes=rebuilt[:, 0],
        unplaced=waiting,
        rebuild_s=_received_seconds(given, parts, (first, second), rebuilt[:, 0]),
        scale=given.scale,
        num_possible=possible,
    )
    return _with_whole_brokers(given, found) if kind is DomainKind.LOG_DIR else found


def _received_seconds(
    given: Outlook,
    parts: Parts,
    pairs: tuple[IndexArray, IndexArray],
    rebuilt: CountArray,
) -> RateArray:
    """Return ``(X,)`` seconds in which all survivors together receive the rebuilt."""
    left = brokers_left(given, parts, pairs)
    seconds = rebuilt / np.maximum(left, 1) / given.bandwidth_bytes_per_s
    return np.where(left > 0, seconds, np.nan)


def _with_whole_brokers(given: Outlook, found: Failures) -> Failures:
    """Replace pairs of a broker's only two log dirs by the loss of the broker."""
    part_of = found.domains.part_of
    owner = part_of[found.first]
    dirs = np.bincount(part_of[part_of != ABSENT], minlength=given.state.num_brokers)
    is_end = np.equal(owner, part_of[found.second]) & (owner != ABSENT)
    rows = np.nonzero(is_end & np.equal(dirs[owner], 2))[0]
    if not len(rows):
        return found
    alone = single_failures(given, DomainKind.BROKER)
    at = np.searchsorted(alone.domains.row, owner[rows])

    def put(values: ValueT, others: ValueT) -> ValueT:
        changed = values.copy()
        changed[rows] = others[at]
        return changed

    return replace(
        found,
        damage={name: put(found.damage[name], alone.damage[name]) for name in KINDS},
        leaders_moved=put(found.leaders_moved, alone.leaders_moved),
        peaks=Peaks(
            value=put(found.peaks.value, alone.peaks.value),
            broker_idx=put(found.peaks.broker_idx, alone.peaks.broker_idx),
            num_over=put(found.peaks.num_over, alone.peaks.num_over),
            num_over_on_return=put(
                found.peaks.num_over_on_return, alone.peaks.num_over_on_return
            ),
        ),
        levels=put(found.levels, alone.levels),
        even_levels=put(found.even_levels, alone.even_levels),
        rebuilt_bytes=put(found.rebuilt_bytes, alone.rebuilt_bytes),
        unplaced=put(found.unplaced, alone.unplaced),
        rebuild_s=put(found.rebuild_s, alone.rebuild_s),
    )


def _drawn(
    count: int, sample: int, rng: np.random.Generator
) -> tuple[IndexArray, IndexArray]:
    """Sample distinct pairs, in ascending order."""
    possible = count * (count - 1) // 2
    chosen = np.sort(rng.choice(possible, size=min(sample, possible), replace=False))
    # Pair (i, j) has number i·count − i(i+1)/2 + j − i − 1.
    starts = np.arange(count) * count - np.arange(count) * (np.arange(count) + 1) // 2
    first = np.searchsorted(starts, chosen, side="right") - 1
    second = chosen - starts[first] + first + 1
    return first.astype(np.int32), second.astype(np.int32)


def _found(keys: CountArray, wanted: CountArray) -> CountArray:
    """Return the position of each wanted key, -1 where not found."""
    if not len(keys):
        return np.full(len(wanted), -1, dtype=np.int64)
    spot = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    return np.where(np.equal(keys[spot], wanted), spot, -1)


def _copyable(
    given: Outlook, parts: Parts, first: IndexArray, second: IndexArray
) -> CountArray:
    """Return ``(X, 2)`` disk and in load that has a source after both losses."""
    table, count = parts.table, len(parts.domains)
    low, high = table.neighbours
    p = table.partition_idx[low]
    left = table.num_electable[p] - table.electable[low] - table.electable[high]
    # The pair takes the last source, which either loss alone would leave.
    rows = np.nonzero(left <= 0)[0]
    low, high, p = low[rows], high[rows], p[rows]
    less = np.zeros(len(rows), dtype=np.int64)
    for each in (low, high):
        has_source = table.electable[each] < table.num_electable[p]
        less += table.serving[each] * has_source
    keys, at = np.unique(
        table.domain[low] * count + table.domain[high], return_inverse=True
    )
    total = np.zeros((len(keys) + 1, len(HELD_COLUMNS)), dtype=np.int64)
    for y, r in enumerate(HELD_COLUMNS):
        add_to(total[:, y], at, less * given.weights.replica[p, r])
    spot = _found(keys, first.astype(np.int64) * count + second)
    both = parts.copyable[first] + parts.copyable[second]
    copyable: CountArray = both - total[spot]
    return copyable


def _leaders_moved(parts: Parts, first: IndexArray, second: IndexArray) -> CountArray:
    """Return the number of leaders that a pair moves, without partitions it stops."""
    count, successors = len(parts.domains), parts.successors
    is_joint = successors.next_domain != ABSENT
    is_joint &= successors.last_idx == ABSENT
    low = np.minimum(successors.domain, successors.next_domain)[is_joint]
    high = np.maximum(successors.domain, successors.next_domain)[is_joint]
    keys, lost = np.unique(low.astype(np.int64) * count + high, return_counts=True)
    at = _found(keys, first.astype(np.int64) * count + second)
    both = parts.leaders_moved[first] + parts.leaders_moved[second]
    moved: CountArray = both - np.append(lost, 0)[at]
    return moved


def _pair_peaks(
    given: Outlook,
    parts: Parts,
    joint: Gains,
    first: IndexArray,
    second: IndexArray,
) -> Peaks:
    """Return the peaks of pairs from the gains of both halves, per first half."""
    domains, width = parts.domains, len(CARRIED_COLUMNS)
    gained = _gained(given, parts)
    value = np.full((len(first), width), -np.inf)
    broker = np.full(value.shape, ABSENT, dtype=np.int32)
    num_over = np.zeros((2, len(first)), dtype=np.int64)
    bounds = np.searchsorted(first, np.arange(len(domains) + 1))
    for i in np.nonzero(np.diff(bounds))[0]:
        rows = slice(bounds[i], bounds[i + 1])
        halves = second[rows]
        is_over = np.zeros((width, len(halves), given.state.num_brokers), np.bool_)
        has_over = False
        for y, r in enumerate(CARRIED_COLUMNS):
            more = gained[y][halves]
            more += gained[y][i]
            _correct(more, joint, y, i * len(domains) + halves)
            now = more + given.carried[:, y]
            now /= given.scale.unit[:, r]
            busiest = now.argmax(axis=1)
            most = now[np.arange(len(halves)), busiest]
            value[rows, y] = most
            broker[rows, y] = np.where(np.isfinite(most), busiest, ABSENT)
            if (most > given.scale.most[r]).any():
                is_over[y] = (more > 0) & (now > given.scale.most[r])
                has_over = True
        if has_over:
            num_over[0, rows] = is_over[:ON_RETURN].any(axis=0).sum(axis=1)
            num_over[1, rows] = is_over[1:].any(axis=0).sum(axis=1)
    return Peaks(
        value=value,
        broker_idx=broker,
        num_over=num_over[0],
        num_over_on_return=num_over[1],
    )


def _gained(given: Outlook, parts: Parts) -> RateArray:
    """Return ``(4, N, B)`` gains by each single loss, -inf where a broker is down."""
    domains, gains = parts.domains, parts.gains
    shape = (len(CARRIED_COLUMNS), len(domains), given.state.num_brokers)
    gained = np.zeros(shape)
    for y in range(len(CARRIED_COLUMNS)):
        gained[y][gains.failure, gains.broker_idx] = gains.load[:, y]
    gained[:, _dead(given, domains)] = -np.inf
    return gained


def _dead(given: Outlook, domains: Domains) -> npt.NDArray[np.bool_]:
    """Return ``(N, B)`` true for brokers that do not serve after a domain's loss."""
    numbers = np.arange(len(domains))
    gone = np.equal(domains.of_broker[None, :], numbers[:, None])
    dead: npt.NDArray[np.bool_] = gone | ~given.state.brokers.is_live
    return dead


def _correct(more: RateArray, joint: Gains, y: int, keys: CountArray) -> None:
    """Add the corrections of pairs with the given keys, ascending, to `more`."""
    low, high = np.searchsorted(joint.failure, [keys[0], keys[-1] + 1])
    at = _found(keys, joint.failure[low:high])
    known = at >= 0
    more[at[known], joint.broker_idx[low:high][known]] += joint.load[low:high, y][known]
