"""What a coordinator is asked, whichever protocol its group speaks."""

from typing import Protocol

from assignment.group import IndexArray
from assignment.rebalance.client import Client


class Coordinator(Protocol):
    """Keeps the book of members, and has them assigned."""

    book: dict[int, Client]

    def seat(self, client: Client) -> None:
        """Let a member be in from the start."""
        ...

    def settle(self, given: IndexArray) -> None:
        """Let an assignment stand from the start."""
        ...

    def is_waiting(self, client: Client) -> bool:
        """Return whether the coordinator owes the member an answer."""
        ...

    def join(self, client: Client, cause: str) -> None:
        """Let a member in."""
        ...

    def replace(self, old: Client, new: Client) -> None:
        """Let a static member go on where it was."""
        ...

    def remove(self, client: Client, cause: str) -> None:
        """Put a member out."""
        ...

    def resume(self, client: Client) -> None:
        """Let a member that was silent hear what it missed."""
        ...

    def look(self, cause: str, topic: str) -> None:
        """Have new partitions seen."""
        ...
