"""What every operation is."""

from typing import Protocol

from placement.draft.draft import Draft


class Operation(Protocol):
    """What is to be done with a cluster."""

    @property
    def goal(self) -> str:
        """Name of the operation, as the command line has it."""
        ...

    def fill(self, draft: Draft) -> None:
        """Say which brokers leave or are filled, and what may move."""
        ...
