"""`generate` from Python."""

from collections.abc import Iterable

from planner.api.errors import named_as_arguments
from planner.generate import GenerateRequest, Proposal, generate
from planner.snapshot import Snapshot


def propose_assignment(
    snapshot: Snapshot,
    topics: Iterable[str],
    broker_ids: Iterable[int],
    *,
    is_rack_aware: bool = True,
    is_from_scratch: bool = False,
    seed: int = 1,
) -> Proposal:
    """
    Propose a new assignment of topics to brokers, as `generate` does.

    Parameters
    ----------
    snapshot
        The cluster.
    topics, broker_ids
        What shall be where.
    is_rack_aware
        Whether replicas of a partition are spread over racks.
    is_from_scratch
        Whether to propose what Kafka's own tool would, whatever it moves.
    seed
        Of that proposal's random numbers.

    Raises
    ------
    BadInputError
        With everything that Kafka's tool would refuse, in its words.
    """
    request = GenerateRequest(
        topics=tuple(topics),
        broker_ids=tuple(broker_ids),
        is_rack_aware=is_rack_aware,
        is_from_scratch=is_from_scratch,
        seed=seed,
        file="topics",
    )
    with named_as_arguments():
        return generate(snapshot.to_state(), request)
