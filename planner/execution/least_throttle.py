"""
Least throttle at which copies make progress.

The traffic of every throttled replica counts against the rate of its broker, also that
to followers in sync, which is never held back. A rate below it leaves nothing for the
copies, and keeps a new replica out of sync for ever (Kafka, ReplicationQuotaManager).
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from math import isnan

from planner.execution.admission import Caps
from planner.execution.changes import Change
from planner.execution.preflight import Blocker
from planner.text.format import bytes_text


@dataclass(frozen=True, slots=True)
class LeastRate:
    """
    Traffic that a throttle has to exceed.

    Parameters
    ----------
    broker
        Broker with the most.
    bytes_per_s
        Traffic of the replicas that may be throttled on it at once.
    is_known
        Whether the rates of all partitions that copy are known.
    """

    broker: int | None
    bytes_per_s: float
    is_known: bool


def least_rate(changes: Iterable[Change], caps: Caps) -> LeastRate:
    """
    Return the traffic that a throttle has to exceed, on any broker.

    At most as many copies as the caps allow are throttled at once: the ones with the
    most traffic count. A sender sends to each replica in sync and to the new one, a
    receiver gets what producers write.

    Parameters
    ----------
    changes
        Changes that copy.
    caps
        Caps on simultaneous copies.
    """
    sent: defaultdict[int, list[float]] = defaultdict(list)
    received: defaultdict[int, list[float]] = defaultdict(list)
    is_known = True
    for change in changes:
        if not change.num_copies:
            continue
        rate = change.in_bytes_per_s
        if isnan(rate):
            is_known = False
            continue
        if change.leader is not None:
            sent[change.leader].append(rate * len(change.before))
        for target in {b for step in change.steps for b in step.copies}:
            received[target].append(rate)
    found: list[tuple[float, int | None]] = [
        (0.0, None),
        *_most(sent, caps.max_out),
        *_most(received, caps.max_in),
    ]
    most, broker = max(found, key=lambda one: one[0])
    return LeastRate(broker, most, is_known)


def _most(
    rates: dict[int, list[float]], count: int
) -> Iterator[tuple[float, int | None]]:
    """Yield the sum of the largest rates of each broker."""
    for one in sorted(rates):
        yield sum(sorted(rates[one])[-count:]), one


def too_low_blocker(least: LeastRate, rate_bytes_per_s: float) -> Iterator[Blocker]:
    """Yield the reason that a throttle lets no copy make progress, if it is so."""
    if least.bytes_per_s and rate_bytes_per_s <= least.bytes_per_s:
        yield Blocker(
            rule="throttle-too-low",
            count=1,
            message=f"{bytes_text(rate_bytes_per_s)}/s is not above the "
            f"{bytes_text(least.bytes_per_s)}/s that throttled replicas on broker "
            f"{least.broker} need to stay in sync",
            remedy="give --throttle a rate above it, or lower the caps of the waves",
        )
