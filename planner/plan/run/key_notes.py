"""Note on the keys of a topic that gets more partitions."""

from collections.abc import Iterator

from assignment.partitioners.balls_into_bins import moved_share, smallest_multiple
from placement.draft.draft import Note
from planner.plan.documents.note_document import KEYS_MOVE
from planner.text.format import percent_text


def key_notes(topic: str, old: int, new: int, *, is_compacted: bool) -> Iterator[Note]:
    """
    Yield a note on the share of keys that change partition, if the topic exists.

    Parameters
    ----------
    topic
        Name of the topic.
    old, new
        Partitions before and after; no note if `old` is 0.
    is_compacted
        Whether the topic is compacted, so that old values of moved keys stay.
    """
    if not old:
        return
    stale = ", and the last old values of these keys stay" if is_compacted else ""
    multiple = smallest_multiple(old, new)
    fewer = ""
    if multiple != new:
        fewer = (
            f" With {multiple} partitions, a multiple of {old}, it would be "
            f"{_share(old, multiple)}, and no new partition mixes keys of several."
        )
    yield Note(
        KEYS_MOVE,
        f"producers that place records by key put {_share(old, new)} of the keys "
        f"of {topic} on other partitions: records before and after the change have no "
        f"order{stale}.{fewer} See with a sample of keys: "
        f"kafka-planner keys grow SAMPLE --from {old} --to {new}",
        where={"topic": topic},
    )


def _share(old: int, new: int) -> str:
    return percent_text(moved_share(old, new))
