"""Each broker equally often at every position of the lists."""

from dataclasses import dataclass, replace

from placement.draft.draft import Draft
from placement.model.load import Resource

COUNTS = (Resource.REPLICAS, Resource.LEADERS)
EVEN_POSITIONS = "even-positions"


@dataclass(frozen=True, slots=True)
class EvenPositions:
    """
    Brokers hold equally many replicas, and stand at each position equally often.

    Soft. Replicas and leaders are balanced without a band, as whole numbers allow; the
    order of lists is chosen once brokers are.
    """

    name: str = EVEN_POSITIONS

    def fill(self, draft: Draft) -> None:
        """Take the bands of counts away, and let lists be reordered."""
        settings = draft.settings
        chosen = settings.resources
        if chosen is not None:
            chosen = with_counts(chosen)
        bands = {**settings.bands, **dict.fromkeys(COUNTS, 0.0)}
        draft.settings = replace(settings, bands=bands, resources=chosen)
        draft.evens_positions = True


def with_counts(resources: tuple[Resource, ...]) -> tuple[Resource, ...]:
    """Return the resources that are balanced where some are named, and positions."""
    return (*resources, *(one for one in COUNTS if one not in resources))
