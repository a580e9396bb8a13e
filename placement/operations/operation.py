"""The interface of every operation."""

from typing import Protocol

from placement.draft.draft import Draft


class Operation(Protocol):
    """A kind of plan: the movable replicas, and decisions made before the search."""

    def fill(self, draft: Draft) -> None:
        """Mark the brokers that leave or are filled, and the replicas that may move."""
        ...
