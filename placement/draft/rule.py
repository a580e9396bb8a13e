"""The interface of rules that hold on request."""

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from placement.draft.draft import Draft


class Rule(Protocol):
    """A rule that holds on request."""

    @property
    def name(self) -> str:
        """Name of the rule's option, without leading dashes."""
        ...

    def fill(self, draft: "Draft") -> None:
        """Mark the allowed moves in the tables of the draft."""
        ...
