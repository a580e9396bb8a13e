"""What a rule of the user's choice is."""

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from placement.draft.draft import Draft


class Rule(Protocol):
    """A rule that holds where it is asked for."""

    @property
    def name(self) -> str:
        """Name of its option, without dashes before it."""
        ...

    def fill(self, draft: "Draft") -> None:
        """Say in the draft's tables what may move where."""
        ...
