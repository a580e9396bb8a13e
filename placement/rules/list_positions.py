"""Even counts of each broker at every position of the replica lists."""

from dataclasses import dataclass, replace

from placement.draft.draft import Draft
from placement.model.load import Resource
from placement.rules.descriptor import RuleOption, goal

COUNTS = (Resource.REPLICAS, Resource.LEADERS)
EVEN_POSITIONS = "even-positions"


@dataclass(frozen=True, slots=True)
class EvenPositions:
    """
    Spread replicas evenly, and each broker evenly over the positions of lists.

    Soft. Replicas and leaders are balanced with a band of width 0, as closely as
    integers allow. The order of lists is chosen after the brokers.
    """

    name: str = EVEN_POSITIONS

    def fill(self, draft: Draft) -> None:
        """Set the bands of counts to width 0, and allow lists to be reordered."""
        settings = draft.settings
        chosen = settings.resources
        if chosen is not None:
            chosen = with_counts(chosen)
        bands = {**settings.bands, **dict.fromkeys(COUNTS, 0.0)}
        draft.settings = replace(settings, bands=bands, resources=chosen)
        draft.evens_positions = True


def with_counts(resources: tuple[Resource, ...]) -> tuple[Resource, ...]:
    """Return the named resources with replicas and leaders added."""
    return (*resources, *(one for one in COUNTS if one not in resources))


RULES = (
    goal(
        EVEN_POSITIONS,
        rank=85,
        option=RuleOption(
            "switch",
            "Brokers are equally often first, second and so on in lists; soft.",
        ),
        make=lambda _: [EvenPositions()],
    ),
)
