"""Notes on topics with mixed replication factors."""

from collections.abc import Iterator

from placement.draft.draft import Note
from placement.model.cluster import ClusterState
from placement.model.mixed_factors import MixedFactors, mixed_factors
from planner.text.format import ids_text

FIX_FACTORS = "plan fix --only replication-factor"


def factor_notes(state: ClusterState) -> Iterator[Note]:
    """Yield a note for each topic with more than one replication factor."""
    for mixed in mixed_factors(state):
        yield Note(
            what="mixed-factors",
            message=_text(mixed),
            where={"topic": mixed.topic},
            have=float(len(mixed.partitions)),
            need=1.0,
            is_existing=True,
        )


def _text(mixed: MixedFactors) -> str:
    many = {True: "partitions", False: "partition"}
    parts = [
        f"{factor} in {many[len(numbers) > 1]} {ids_text(list(numbers))}"
        for factor, numbers in mixed.partitions.items()
    ]
    return (
        f"topic {mixed.topic} has mixed replication factors: {'; '.join(parts)}. "
        f"{FIX_FACTORS} makes all {mixed.usual}"
    )
