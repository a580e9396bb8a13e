"""The interface of rules that hold on request."""

from typing import Protocol, TypeVar

DraftT_contra = TypeVar("DraftT_contra", contravariant=True)


class Rule(Protocol[DraftT_contra]):
    """
    A rule that holds on request.

    The draft is a parameter of the type, since its settings list the rules.
    """

    @property
    def name(self) -> str:
        """Name of the rule's option, without leading dashes."""
        ...

    def fill(self, draft: DraftT_contra) -> None:
        """Mark the allowed moves in the tables of the draft."""
        ...
