"""Interface of a coordinator, common to all protocols of groups."""

from typing import Protocol

from assignment.rebalance.client import Client
from placement.array_types import IndexArray


class Coordinator(Protocol):
    """Coordinator that registers members and assigns partitions to them."""

    book: dict[int, Client]

    def seat(self, client: Client) -> None:
        """Register a member at the start of the simulation."""
        ...

    def settle(self, given: IndexArray) -> None:
        """Set the assignment at the start of the simulation."""
        ...

    def is_waiting(self, client: Client) -> bool:
        """Return whether the member waits for a join response without heartbeats."""
        ...

    def join(self, client: Client, cause: str) -> None:
        """Add a member to the group."""
        ...

    def replace(self, old: Client, new: Client) -> None:
        """Replace a static member by its new instance."""
        ...

    def remove(self, client: Client, cause: str) -> None:
        """Remove a member from the group."""
        ...

    def resume(self, client: Client) -> None:
        """Deliver the assignment that a silent member missed."""
        ...

    def look(self, cause: str, topic: str) -> None:
        """Schedule the discovery of new partitions."""
        ...
