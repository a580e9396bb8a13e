"""First lines of other screens: a summary of the cluster's current troubles."""

from collections.abc import Iterator
from pathlib import Path

from placement.model.cluster import ClusterState
from planner.snapshot.snapshot_document import Snapshot
from planner.status.find_status import Status, status_of
from planner.status.impossible_facts import LABEL as IMPOSSIBLE
from planner.status.impossible_facts import impossible_texts
from planner.status.running_moves import bytes_left_text
from planner.status.trouble_sentences import (
    Address,
    dir_name,
    state_of,
    unplaced_brokers,
    unplaced_text,
)
from planner.text.format import labelled_lines, plural

LABEL = "Wrong now"
MOST_NAMED = 3


def head_lines(status: Status, place: str | None) -> Iterator[str]:
    """
    Yield the lines on current troubles; none without a trouble.

    Parameters
    ----------
    status
        The status.
    place
        Argument of `status` that shows the details: the path of a snapshot, or the
        options of a live cluster; `None` leaves the advice out.
    """
    yield from labelled_lines(head_texts(status, place))


def head_texts(status: Status, place: str | None) -> Iterator[tuple[str, str]]:
    """Yield label and text of each line on current troubles, as `head_lines`."""
    if status.is_wrong:
        see = "" if place is None else f"; see kafka-planner status {place}"
        yield LABEL, "; ".join(trouble_texts(status)) + see
    yield from _impossible_texts(status)
    if len(status.troubles.moves.partition_idx):
        yield "Moving now", moving_text(status)


def impossible_lines(status: Status) -> Iterator[str]:
    """Yield the lines on impossible facts."""
    yield from labelled_lines(_impossible_texts(status))


def _impossible_texts(status: Status) -> Iterator[tuple[str, str]]:
    for text in impossible_texts(status.state, status.troubles.impossible):
        yield IMPOSSIBLE, text


def head_of(snapshot: Snapshot, state: ClusterState, path: Path) -> Iterator[str]:
    """Yield the lines on current troubles of a snapshot."""
    status = status_of(snapshot, state)
    yield from head_lines(status, Address.of_snapshot(path).place)


def trouble_texts(status: Status) -> Iterator[str]:
    """Yield a clause for each trouble, the worst first."""
    found = status.troubles
    yield from _impossible(status)
    yield from _brokers(status)
    yield from _log_dirs(status)
    if found.leaderless:
        names = [status.state.name_of(one.partition_idx) for one in found.leaderless]
        yield f"{plural(len(names), 'partition')} without a leader: {_names(names)}"
    if len(found.no_source) > len(found.leaderless):
        names = [status.state.name_of(p) for p in found.no_source[:MOST_NAMED].tolist()]
        count = len(found.no_source)
        yield f"{plural(count, 'partition')} without a source: {_names(names, count)}"
    for topics, words in (
        (found.under_min_isr, "under min ISR"),
        (found.under_replicated, "under-replicated"),
    ):
        count = int(topics.num_partitions.sum())
        if count:
            yield f"{plural(count, 'partition')} {words}"
    stuck = int(found.moves.is_stuck.sum())
    if stuck:
        yield f"{plural(stuck, 'reassignment')} stuck"
    if left := status.throttles_left:
        yield f"{plural(len(left), 'throttle')} left behind"
    if status.quorum is not None and status.quorum.silent:
        lost = "controllers' majority lost, " if status.quorum.is_lost else ""
        silent = _names(list(map(str, status.quorum.silent)))
        yield f"{lost}controllers silent: {silent}"


def moving_text(status: Status) -> str:
    """Return the number of partitions being reassigned and the bytes left, as text."""
    moves = status.troubles.moves
    count = plural(len(moves.partition_idx), "partition")
    stuck = int(moves.is_stuck.sum())
    held = f", {stuck} of them stuck" if stuck else ""
    limits = sum(status.is_throttle_used)
    slow = f"; {plural(limits, 'throttle')} in force" if limits else ""
    return f"{count} being reassigned{held}; {bytes_left_text(moves)}{slow}"


def _impossible(status: Status) -> Iterator[str]:
    resources = dict.fromkeys(one.resource for one in status.troubles.impossible)
    if resources:
        yield f"facts that cannot be ({', '.join(resources)})"


def _brokers(status: Status) -> Iterator[str]:
    found, brokers = status.troubles, status.state.brokers
    rows = found.broker_idx.tolist()
    for b in rows[:MOST_NAMED]:
        count = plural(int(found.replicas_on[b]), "replica")
        yield f"broker {brokers.ids[b]} {state_of(brokers, b)} ({count} offline)"
    rest = len(rows) - MOST_NAMED
    if rest > 0:
        yield f"{plural(rest, 'more broker')} not live"


def _log_dirs(status: Status) -> Iterator[str]:
    found = status.troubles
    rows = found.log_dir_idx.tolist()
    for d in rows[:MOST_NAMED]:
        count = plural(int(found.replicas_in[d]), "replica")
        yield f"log dir {dir_name(status.state, d)} offline ({count})"
    rest = len(rows) - MOST_NAMED
    if rest > 0:
        yield f"{plural(rest, 'more log dir')} offline"
    for b in unplaced_brokers(status)[:MOST_NAMED]:
        yield unplaced_text(status, b)


def _names(names: list[str], count: int | None = None) -> str:
    rest = (len(names) if count is None else count) - MOST_NAMED
    shown = ", ".join(names[:MOST_NAMED])
    return f"{shown} and {rest} more" if rest > 0 else shown
