"""Available kinds of brokers, and mixes of these kinds."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from placement.array_types import RateArray
from placement.demand.broker_demand import SIZED, Fleet, capacity_of
from placement.model.cluster import UNKNOWN, ClusterState


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class BrokerKind:
    """
    Available kind of broker.

    Parameters
    ----------
    name
        Unique name of the kind.
    capacity
        ``(4,)`` capacity for disk, in, out, cpu; infinite without a limit.
    price
        Price of one broker, in any currency and period.
    max_replicas
        Maximum number of replicas; infinite without a limit.
    available
        Number of brokers available; `None`: any number.
    """

    name: str
    capacity: RateArray
    price: float
    max_replicas: float = np.inf
    available: int | None = None


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Mix:
    """
    Mix of brokers.

    Parameters
    ----------
    counts
        ``(T, K)`` number of brokers of each kind in each rack.
    price
        Total price.
    least_price
        Lower bound on the price of any mix that carries the load.
    """

    counts: npt.NDArray[np.int64]
    price: float
    least_price: float


def mix_fleet(kinds: Sequence[BrokerKind], mix: Mix) -> Fleet:
    """Return the brokers of a mix, rack by rack."""
    rows = [
        (t, k)
        for k in range(mix.counts.shape[1])
        for t in range(len(kinds))
        for _ in range(int(mix.counts[t, k]))
    ]
    return Fleet(
        capacity=np.array([kinds[t].capacity for t, _ in rows]).reshape(-1, len(SIZED)),
        rack_idx=np.array([k for _, k in rows], dtype=np.int32),
        max_replicas=np.array([kinds[t].max_replicas for t, _ in rows]),
    )


def usual_kind(state: ClusterState, broker_id: int) -> BrokerKind:
    """Return a present broker as a kind that is available in any number."""
    row = int(state.brokers.rows_of([broker_id])[0])
    brokers = state.brokers
    most = int(brokers.max_replicas[row])
    return BrokerKind(
        name=f"like broker {broker_id}",
        capacity=capacity_of(
            float(brokers.disk_bytes[row]),
            float(brokers.in_bytes_per_s[row]),
            float(brokers.out_bytes_per_s[row]),
            float(brokers.cpu_cores[row]),
        ),
        price=1.0,
        max_replicas=np.inf if most == UNKNOWN else float(most),
    )
