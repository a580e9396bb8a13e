"""What the loss of each pair of brokers, log dirs or racks does."""

from dataclasses import replace
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from placement.cluster import ABSENT, IndexArray, RateArray
from placement.failures.damage import KINDS, joint_damage
from placement.failures.domains import DomainKind, Domains
from placement.failures.failover import LED_COLUMNS, Gains, joint_failover_gains
from placement.failures.levels import fullest_levels
from placement.failures.outlook import Outlook, Parts, parts_of
from placement.failures.singles import single_failures
from placement.failures.survivors import HELD_COLUMNS, Peaks
from placement.failures.table import Failures

CountArray = npt.NDArray[np.int64]
ValueT = TypeVar("ValueT", bound=npt.NDArray[Any])
MOST_DOMAINS = 2000
"""With more domains pairs are sampled."""
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
    Return what the loss of each pair of domains does.

    Parameters
    ----------
    given
        The cluster, weighed.
    kind
        Which domains.
    most_domains
        With more domains than this, pairs are drawn instead of enumerated.
    sample
        How many pairs are drawn, each at most once.
    seed
        Of the draw.

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
    rebuilt = _rebuilt(given, parts, first, second)
    levels, even = fullest_levels(given, parts, (first, second), rebuilt)
    joint = joint_failover_gains(given.state, count, parts.successors, given.weights)
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
        rebuild_s=_received_seconds(given, parts.domains, first, second, rebuilt[:, 0]),
        scale=given.scale,
        num_possible=possible,
    )
    return _with_whole_brokers(given, found) if kind is DomainKind.LOG_DIR else found


def _received_seconds(
    given: Outlook,
    domains: Domains,
    first: IndexArray,
    second: IndexArray,
    rebuilt: CountArray,
) -> RateArray:
    """Return ``(X,)`` seconds that all survivors together need to get what is lost."""
    is_live = given.state.brokers.is_live
    whole = domains.of_broker[is_live & (domains.of_broker != ABSENT)]
    taken = np.bincount(whole, minlength=len(domains))
    left = int(is_live.sum()) - taken[first] - taken[second]
    seconds = rebuilt / np.maximum(left, 1) / given.bandwidth_bytes_per_s
    return np.where(left > 0, seconds, np.nan)


def _with_whole_brokers(given: Outlook, found: Failures) -> Failures:
    """Let a broker be lost with the only two log dirs that it has."""
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
        ),
        levels=put(found.levels, alone.levels),
        even_levels=put(found.even_levels, alone.even_levels),
        rebuilt_bytes=put(found.rebuilt_bytes, alone.rebuilt_bytes),
        rebuild_s=put(found.rebuild_s, alone.rebuild_s),
    )


def _drawn(
    count: int, sample: int, rng: np.random.Generator
) -> tuple[IndexArray, IndexArray]:
    """Draw different pairs, in order."""
    possible = count * (count - 1) // 2
    chosen = np.sort(rng.choice(possible, size=min(sample, possible), replace=False))
    # Pair (i, j) has number i·count − i(i+1)/2 + j − i − 1.
    starts = np.arange(count) * count - np.arange(count) * (np.arange(count) + 1) // 2
    first = np.searchsorted(starts, chosen, side="right") - 1
    second = chosen - starts[first] + first + 1
    return first.astype(np.int32), second.astype(np.int32)


def _found(keys: CountArray, wanted: CountArray) -> CountArray:
    """Return where each key stands, -1 where it does not."""
    if not len(keys):
        return np.full(len(wanted), -1, dtype=np.int64)
    spot = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    return np.where(np.equal(keys[spot], wanted), spot, -1)


def _rebuilt(
    given: Outlook, parts: Parts, first: IndexArray, second: IndexArray
) -> CountArray:
    """Return ``(X, 2)`` disk and in that can be copied anew after both losses."""
    table, successors, count = parts.table, parts.successors, len(parts.domains)
    led_from = np.full(len(table.factor), ABSENT, dtype=np.int64)
    led_from[successors.partition_idx] = successors.domain
    next_in = np.full(len(table.factor), ABSENT, dtype=np.int64)
    next_in[successors.partition_idx] = successors.next_domain
    # A successor whose log dir nobody knows is in no domain.
    has_next = np.zeros(len(table.factor), dtype=np.bool_)
    has_next[successors.partition_idx] = successors.next_idx != ABSENT
    has_last = np.ones(len(table.factor), dtype=np.bool_)
    has_last[successors.partition_idx] = successors.last_idx != ABSENT
    p, domain = table.partition_idx, table.domain
    is_led = led_from[p] != ABSENT
    # With the leader's domain alone it cannot be copied: nor what the other takes.
    alone = is_led & ~has_next[p] & (domain != led_from[p])
    is_half = np.equal(domain, led_from[p]) | np.equal(domain, next_in[p])
    together = is_led & (next_in[p] != ABSENT) & ~has_last[p] & is_half
    other = np.where(alone, domain, next_in[p])
    low, high = np.minimum(led_from[p], other), np.maximum(led_from[p], other)
    rows = np.nonzero(alone | together)[0]
    weight = given.weights.replica[:, HELD_COLUMNS][p[rows]]
    keys, at = np.unique(low[rows] * count + high[rows], return_inverse=True)
    less = np.zeros((len(keys) + 1, weight.shape[1]), dtype=np.int64)
    np.add.at(less, at, weight * table.serving[rows, None])
    spot = _found(keys, first.astype(np.int64) * count + second)
    rebuilt: CountArray = parts.rebuilt[first] + parts.rebuilt[second] - less[spot]
    return rebuilt


def _leaders_moved(parts: Parts, first: IndexArray, second: IndexArray) -> CountArray:
    """Count the leaders that either failure moves, less those left without any."""
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
    """Add the gains of both halves for every survivor, one first half at a time."""
    domains, num_brokers = parts.domains, given.state.num_brokers
    dead = _dead(given, domains)
    gained = np.zeros((len(LED_COLUMNS), len(domains), num_brokers))
    for y in range(len(LED_COLUMNS)):
        gained[y][parts.gains.failure, parts.gains.broker_idx] = parts.gains.load[:, y]
    value = np.full((len(first), len(LED_COLUMNS)), -np.inf)
    broker = np.full(value.shape, ABSENT, dtype=np.int32)
    num_over = np.zeros(len(first), dtype=np.int64)
    bounds = np.searchsorted(first, np.arange(len(domains) + 1))
    for i in np.nonzero(np.diff(bounds))[0]:
        rows = slice(bounds[i], bounds[i + 1])
        halves = second[rows]
        is_dead = dead[i] | dead[halves]
        is_over = np.zeros(is_dead.shape, dtype=np.bool_)
        for y, r in enumerate(LED_COLUMNS):
            more = gained[y][halves] + gained[y][i]
            _correct(more, joint, y, i * len(domains) + halves)
            now = (given.load[:, r] + more) / given.scale.unit[:, r]
            if np.isfinite(given.scale.most[r]):
                is_over |= (more > 0) & (now > given.scale.most[r])
            now[is_dead] = -np.inf
            busiest = now.argmax(axis=1)
            value[rows, y] = now[np.arange(len(halves)), busiest]
            broker[rows, y] = np.where(is_dead.all(axis=1), ABSENT, busiest)
        num_over[rows] = (is_over & ~is_dead).sum(axis=1)
    return Peaks(value=value, broker_idx=broker, num_over=num_over)


def _dead(given: Outlook, domains: Domains) -> npt.NDArray[np.bool_]:
    """Return ``(N, B)`` brokers that do not serve once a domain is lost."""
    numbers = np.arange(len(domains))
    gone = np.equal(domains.of_broker[None, :], numbers[:, None])
    dead: npt.NDArray[np.bool_] = gone | ~given.state.brokers.is_live
    return dead


def _correct(more: RateArray, joint: Gains, y: int, keys: CountArray) -> None:
    """Add what the pairs of these keys, ascending, add to their halves."""
    low, high = np.searchsorted(joint.failure, [keys[0], keys[-1] + 1])
    at = _found(keys, joint.failure[low:high])
    known = at >= 0
    more[at[known], joint.broker_idx[low:high][known]] += joint.load[low:high, y][known]
