"""Each topic on the brokers of its own set."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from placement.cluster import ClusterState
from placement.core.problem import Movability
from placement.rules.draft import Draft
from placement.rules.tables import Eligibility


@dataclass(frozen=True, slots=True, eq=False)
class BrokerSets:
    """
    All replicas of a topic lie on brokers of one set; load is shared out per set.

    Brokers without a set are a set together. Replicas that lie elsewhere move where
    the operation may move them at all; none comes to a broker of another set.

    Parameters
    ----------
    set_of_topic
        ``(T,)`` row of ``brokers.broker_sets``; their number for those without one.
    """

    set_of_topic: npt.NDArray[np.int64]
    name: str = "broker-set"

    def fill(self, draft: Draft) -> None:
        """Allow each topic its set, and make what lies elsewhere move."""
        state = draft.state
        own = set_of_broker(state)
        wanted = self.set_of_topic[state.partitions.topic_idx]
        count = len(state.brokers.broker_sets) + 1
        allowed = np.equal(own[None, :], np.arange(count)[:, None])
        draft.eligibility.append(Eligibility(wanted, allowed))
        draft.pool_of_broker, draft.pool_of_partition = own, wanted
        replicas = state.replicas
        strays = np.not_equal(own[replicas.broker_idx], wanted[replicas.partition_idx])
        may = np.equal(draft.movability, Movability.MAY)
        draft.movability[strays & may] = Movability.MUST


def set_of_broker(state: ClusterState) -> npt.NDArray[np.int64]:
    """Return ``(B,)`` the set of each broker; those without one are the last."""
    own = state.brokers.broker_set_idx.astype(np.int64)
    return np.where(own >= 0, own, len(state.brokers.broker_sets))


def home_sets(state: ClusterState) -> npt.NDArray[np.int64]:
    """Return ``(T,)`` the set that holds most replicas of each topic, the first one."""
    own = set_of_broker(state)
    count = len(state.brokers.broker_sets) + 1
    topic = state.partitions.topic_idx[state.replicas.partition_idx].astype(np.int64)
    keys = topic * count + own[state.replicas.broker_idx]
    held = np.bincount(keys, minlength=len(state.topics.names) * count)
    chosen: npt.NDArray[np.int64] = held.reshape(-1, count).argmax(axis=1)
    return chosen
