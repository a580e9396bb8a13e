"""Reasons for the moves of a reassignment file, taken as those of a rebalance."""

from collections.abc import Iterator
from pathlib import Path

from placement.draft.draft import Settings
from placement.explain.planned_moves import explain_reassignment
from placement.model.cluster import ClusterState
from placement.model.listed_reassignment import reassignment_to
from placement.model.reassignment import Reassignment
from placement.operations.rebalance import Rebalance
from placement.planning.plan import draft_shares, make_draft
from planner.errors import InputProblem, raise_problems
from planner.kafka_files.reassignment_file import ReassignmentFile
from planner.plan.folder.moves_file import MoveRow, move_rows


def explain_file(
    path: Path, file: ReassignmentFile, state: ClusterState
) -> list[MoveRow]:
    """
    Explain the moves of a file on its cluster.

    Parameters
    ----------
    path
        Path of the file, for problems.
    file
        Replica lists of the file.
    state
        The cluster before the reassignment.

    Raises
    ------
    BadInputError
        If entries do not fit the cluster or change a replication factor; names every
        entry.
    """
    rows = dict(zip(_names(state), range(state.num_partitions), strict=True))
    problems = list(_problems(path, file, state, rows))
    raise_problems(f"{path} does not fit the snapshot", problems)
    draft = make_draft(state, Rebalance(), Settings())
    balanced = draft.balanced_resources()
    moves, explained = explain_reassignment(
        draft, _reassignment(file, state, rows), draft_shares(draft), balanced
    )
    return list(move_rows(state, moves, explained))


Name = tuple[str, int]


def _names(state: ClusterState) -> Iterator[Name]:
    topics, partitions = state.topics.names, state.partitions
    for topic, number in zip(
        partitions.topic_idx.tolist(), partitions.partition.tolist(), strict=True
    ):
        yield topics[topic], number


def _problems(
    path: Path, file: ReassignmentFile, state: ClusterState, rows: dict[Name, int]
) -> Iterator[InputProblem]:
    known, factor = set(state.brokers.ids.tolist()), state.replication_factor
    seen = set()
    for place, name in enumerate(zip(file.topics, file.partitions, strict=True)):
        replicas = file.replicas[place]
        rule = ""
        if name not in rows:
            rule = "the snapshot has no such partition"
        elif name in seen:
            rule = "must be listed once"
        elif len(replicas) != factor[rows[name]]:
            rule = f"must have {factor[rows[name]]} replicas, as now"
        elif len(set(replicas)) != len(replicas) or not known.issuperset(replicas):
            rule = "must name brokers of the snapshot, each once"
        seen.add(name)
        if rule:
            yield InputProblem(
                file=str(path),
                place=f"partitions[{place}]",
                value=f"{name[0]}-{name[1]}: {list(replicas)}",
                rule=rule,
                remedy="run kafka-planner check on the file",
            )


def _reassignment(
    file: ReassignmentFile, state: ClusterState, rows: dict[Name, int]
) -> Reassignment:
    names = zip(file.topics, file.partitions, strict=True)
    lists = {
        rows[name]: state.brokers.rows_of(listed).tolist()
        for name, listed in zip(names, file.replicas, strict=True)
    }
    return reassignment_to(state, lists)
