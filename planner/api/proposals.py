"""Proposals of assignments from Python, as of `generate`."""

from collections.abc import Iterable

from planner.api.errors import named_as_arguments, required
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
        Names of the topics to assign, and ids of their brokers.
    is_rack_aware
        Whether replicas of a partition are spread over racks.
    is_from_scratch
        Whether to return the proposal of Kafka's own tool, which ignores moves.
    seed
        Seed of the random numbers of that proposal.

    Raises
    ------
    BadInputError
        If Kafka's tool would refuse the arguments; has its messages.
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
        return generate(required(snapshot).to_state(), request)
