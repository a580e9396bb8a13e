"""Partitions without a source for copies: no live replica is in sync."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from placement.array_types import BoolArray
from placement.core.bounds.shortfalls import MAX_SHORTFALLS
from placement.core.model.problem import Movability
from placement.core.model.solution import Shortfall
from placement.draft.draft import Draft, Note
from placement.model.cluster import ABSENT, BrokerState, ClusterState, LogDirState
from placement.model.load import first_true

NO_SOURCE = "no-source"


@dataclass(frozen=True, slots=True)
class NeedSource:
    """
    Leave partitions alone that have no source for copies.

    A follower fetches from the leader, and only a replica in sync, or an eligible one,
    may lead without losing records. A reassignment of a partition without such a
    replica hangs until one of its brokers is back.
    """

    name: str = NO_SOURCE

    def fill(self, draft: Draft) -> None:
        """Freeze partitions without a source; report those that must move."""
        lacking = ~draft.state.has_source
        if not lacking.any():
            return
        must = np.equal(draft.movability, Movability.MUST)
        report_no_source(draft, lacking & _has(draft, must))
        rest = lacking & ~draft.lacks_source & ~draft.is_left_alone
        draft.freeze_partitions(lacking)
        if rest.any():
            draft.note(_note(draft.state, rest))


def report_no_source(draft: Draft, chosen: BoolArray) -> None:
    """Add a proven shortfall for partitions that have to change and cannot."""
    rows = np.nonzero(chosen & ~draft.lacks_source)[0]
    draft.lacks_source |= chosen
    draft.shortfalls += [
        no_source_shortfall(draft.state, p) for p in rows[:MAX_SHORTFALLS].tolist()
    ]


def _has(draft: Draft, flags: BoolArray) -> BoolArray:
    found: BoolArray = first_true(flags, draft.state.replicas.start) != ABSENT
    return found


def _note(state: ClusterState, chosen: BoolArray) -> Note:
    count = int(chosen.sum())
    first = state.name_of(int(np.nonzero(chosen)[0][0]))
    many = f"{first} and {count - 1:,} more have" if count > 1 else f"{first} has"
    return Note(
        what=NO_SOURCE,
        message=f"{many} no live replica in sync: nothing can be copied, and nothing "
        "changes there until one is back",
        have=float(count),
    )


def no_source_shortfall(state: ClusterState, p: int) -> Shortfall:
    """Return the shortfall of one partition, with the remedy for its copies."""
    return Shortfall(
        what=NO_SOURCE,
        have=0,
        need=1,
        group=p,
        is_proven=True,
        message=no_source_text(state, p),
    )


def no_source_text(state: ClusterState, p: int) -> str:
    """
    Return the reason why a partition has no source, and remedies.

    The text names the brokers of the last copies, the steps that restore them, and the
    loss by an unclean election.
    """
    rows = np.arange(*state.replicas.start[p : p + 2])
    last = last_copies(state, rows)
    live = rows[~state.is_offline[rows]]
    holders = ", ".join(_place(state, int(row)) for row in last)
    back = source_remedy(state, p)
    copies = "copy is" if len(last) == 1 else "copies are"
    text = (
        f"{state.name_of(p)} has no live replica in sync, so nothing can be copied: "
        f"the last {copies} on {holders}. {back[0].upper()}{back[1:]}"
    )
    if not len(live):
        return f"{text}; no other replica is left to elect"
    broker = int(state.brokers.ids[state.replicas.broker_idx[live[0]]])
    return (
        f"{text}; an unclean election would make broker {broker} the leader, and lose "
        "every record that it has not fetched"
    )


def source_remedy(state: ClusterState, p: int) -> str:
    """Return the steps that restore the last copies of a partition."""
    rows = np.arange(*state.replicas.start[p : p + 2])
    last = last_copies(state, rows)
    return " or ".join(_repair(state, int(row)) for row in last)


def last_copies(
    state: ClusterState, rows: npt.NDArray[np.int64]
) -> npt.NDArray[np.int64]:
    """
    Return the replica rows of one partition that hold its last complete copies.

    The ISR, else the ELR, else the last known ELR, else every replica.
    """
    replicas = state.replicas
    for flags in (
        replicas.is_in_sync,
        replicas.is_eligible,
        replicas.is_last_known_eligible,
    ):
        if flags[rows].any():
            return rows[flags[rows]]
    return rows


def _place(state: ClusterState, row: int) -> str:
    """Return the broker of a replica, with the reason why the replica is offline."""
    broker = int(state.replicas.broker_idx[row])
    name = f"broker {state.brokers.ids[broker]}"
    if not state.brokers.is_live[broker]:
        word = BrokerState(state.brokers.state[broker]).words
        return f"{name} ({word})"
    return f"{name} ({_failed_dir(state, row)} failed)"


def _repair(state: ClusterState, row: int) -> str:
    broker = int(state.replicas.broker_idx[row])
    broker_id = state.brokers.ids[broker]
    if not state.brokers.is_live[broker]:
        return f"start broker {broker_id}"
    return f"repair {_failed_dir(state, row)} of broker {broker_id}"


def _failed_dir(state: ClusterState, row: int) -> str:
    log_dir = int(state.replicas.log_dir_idx[row])
    is_lost = log_dir != ABSENT and state.log_dirs.state[log_dir] == LogDirState.OFFLINE
    return f"log dir {state.log_dirs.paths[log_dir]}" if is_lost else "the log dir"
