"""Notes on a skew: what its figures mean, and what they do not."""

from collections.abc import Iterator, Sequence

from assignment.partitioners import Partitioner
from assignment.partitioners.java_clients import JavaDefault, RoundRobinPartitioner
from assignment.partitioners.partitioner import KEYLESS
from planner.keys.broker_paces import paces_note
from planner.keys.key_sample import ASSUMED_RECORD_BYTES, KeySample, PlacedSample
from planner.text.format import percent_text

RECOGNISED = 0.9
"""Share of records where a partitioner puts them, from which it is named."""
NO_SIZES = "the sample has no sizes of records: bytes are those of the keys"
SIMULATED = "records that keys do not place are simulated, shares as on average"
COUNTED_AS_HASHING = "what that adds to the skew counts as hashing"
SPREAD_EVENLY = "records that keys do not place are spread evenly"


def skew_notes(
    sample: KeySample,
    placed: PlacedSample,
    partitioner: Partitioner,
    placed_as: Sequence[tuple[str, float]],
) -> Iterator[str]:
    """
    Yield notes on a sample, and on what its partitioner makes of it.

    Parameters
    ----------
    sample, placed
        The sample, and its place on the partitions.
    partitioner
        The partitioner.
    placed_as
        As in `KeySkew`.
    """
    is_keyless = placed.key_partitions == KEYLESS
    if (is_keyless & ~sample.keys.null_mask).any():
        yield ignores_keys(partitioner.name)
    if is_keyless.any():
        yield SIMULATED + _batch_note(sample, partitioner)
        if note := paces_note(partitioner):
            yield note if is_keyless.all() else f"{note}; {COUNTED_AS_HASHING}"
    if not sample.has_sizes:
        yield NO_SIZES
    yield from _schema_notes(sample)
    count = sample.num_partitions or len(placed.records)
    if placed_as:
        yield recognised_note(placed_as, count)
    most = -1 if sample.partitions is None else int(sample.partitions.max())
    if most >= count:
        yield (
            f"the sample has records in partition {most}, so that the topic has at "
            f"least {most + 1} partitions: give --partitions {most + 1} or more"
        )


def _batch_note(sample: KeySample, partitioner: Partitioner) -> str:
    """Return the size that records in batches are assumed to have, if any."""
    if sample.has_sizes or not _fills_batches(partitioner):
        return ""
    return f" (in batches, of {ASSUMED_RECORD_BYTES:,} bytes each; --record-bytes)"


def _fills_batches(partitioner: Partitioner) -> bool:
    if isinstance(partitioner, RoundRobinPartitioner):
        return partitioner.skips
    return isinstance(partitioner, JavaDefault)


def ignores_keys(name: str) -> str:
    """Return the note on a partitioner that ignores keys."""
    return f"{name} does not place records with keys by their keys"


def recognised_note(placed_as: Sequence[tuple[str, float]], num_partitions: int) -> str:
    """Return which partitioner the partitions of a sample are those of."""
    name, share = placed_as[0]
    if share < RECOGNISED:
        return (
            f"no known partitioner placed these keys on {num_partitions} partitions: "
            f"{name} comes nearest with {percent_text(share)} of the keyed records"
        )
    also = [other for other, equal in placed_as[1:] if equal == share]
    names = " or ".join([name, *also])
    rest = "" if share == 1 else "; the others have lost their order"
    return (
        f"{percent_text(share)} of the keyed records are where {names} puts them{rest}"
    )


def _schema_notes(sample: KeySample) -> Iterator[str]:
    """Yield a note if keys differ in nothing but the schema id before them."""
    if sample.key_type not in {"bytes", "base64", "hex"} or sample.prefix_bytes:
        return
    keys = (sample.keys[row] for row in range(len(sample.keys)))
    framed = [key for key in keys if key is not None and len(key) > 5 and key[0] == 0]
    repeated = len(framed) - len({key[5:] for key in framed})
    if repeated and len(framed) == sample.num_keys:
        yield (
            f"{repeated} keys differ from another in nothing but the schema id before "
            "them: a key under a new schema has another partition"
        )
