"""The proposed assignment, its moves, notes and findings."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from placement.check import CheckSettings, Finding, check
from placement.kafka_java.java_random import JavaRandom
from placement.model.cluster import BrokerState, ClusterState
from placement.model.load import weigh
from placement.placers.even_spread import spread_topics
from placement.placers.generate_proposal import propose_from_scratch, proposed_factors
from planner.errors import InputProblem, raise_problems
from planner.generate.generate_request import (
    GenerateRequest,
    chosen_rows,
    current_lists,
    is_chosen,
    is_open,
    placer_brokers,
)
from planner.generate.tool_refusals import Refusal, find_refusals
from planner.kafka_files.reassignment_columns import listing, listing_now
from planner.kafka_files.reassignment_file import ReassignmentFile
from planner.plan.documents.check_records import ProposedMovesRecord
from planner.plan.input.plan_input import to_target
from planner.progress import stage


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """
    The two assignments that `generate` prints, with moves, notes and findings.

    Parameters
    ----------
    current, proposed
        Replica lists of all partitions of the topics; the current ones with log dirs.
    moves
        Sizes of the changes between both.
    is_least
        Whether it is proven that no proposal with counts as even copies less; `None`
        for proposals from scratch.
    ignored_brokers
        Ids of listed brokers that are unknown or not live.
    notes
        Sentences on ignored brokers, skipped partitions and limits of the proof.
    findings
        Findings of the independent checker that the proposal causes or leaves.
    """

    current: ReassignmentFile
    proposed: ReassignmentFile
    moves: ProposedMovesRecord
    is_least: bool | None
    ignored_brokers: tuple[int, ...]
    notes: tuple[str, ...]
    findings: tuple[Finding, ...]


def generate(state: ClusterState, request: GenerateRequest) -> Proposal:
    """
    Propose an assignment of the topics to the brokers.

    Parameters
    ----------
    state
        The cluster.
    request
        Topics, brokers and options.

    Raises
    ------
    BadInputError
        If Kafka's tool would refuse the request; has every refusal in the tool's words.
    """
    _raise(find_refusals(state, request), request)
    stage("proposing")
    rows = chosen_rows(state, request)
    current = listing_now(state, rows).to_file()
    if request.is_from_scratch:
        proposed, is_least = _from_scratch(state, request, current), None
    else:
        proposed, is_least = _spread(state, request)
    return Proposal(
        current=current,
        proposed=proposed,
        moves=_moves(state, current, proposed),
        is_least=is_least,
        ignored_brokers=_ignored(state, request),
        notes=tuple(_notes(state, request, is_least=is_least)),
        findings=_findings(state, request, proposed),
    )


def _raise(refusals: Sequence[Refusal], request: GenerateRequest) -> None:
    problems = [
        InputProblem(
            file="command line" if one.place.startswith("--") else request.file,
            place=one.place,
            value="",
            rule=str(one.error),
            remedy=one.remedy,
        )
        for one in refusals
    ]
    raise_problems("no assignment can be proposed", problems)


def _spread(
    state: ClusterState, request: GenerateRequest
) -> tuple[ReassignmentFile, bool]:
    spread = spread_topics(
        state,
        is_chosen(state, request),
        is_open(state, request),
        is_rack_aware=request.is_rack_aware,
    )
    placed = np.nonzero(spread.is_placed)[0]
    found = spread.reassignment
    proposed = listing(state, placed, found.broker_idx, start=state.replicas.start)
    return proposed.to_file(), spread.is_least


def _from_scratch(
    state: ClusterState, request: GenerateRequest, current: ReassignmentFile
) -> ReassignmentFile:
    lists = propose_from_scratch(
        current_lists(state, request),
        placer_brokers(state, request),
        JavaRandom(request.seed),
    )
    replicas = [tuple(row) for topic in lists.values() for row in topic]
    return ReassignmentFile(
        topics=current.topics,
        partitions=current.partitions,
        replicas=tuple(replicas),
        log_dirs=(None,) * len(replicas),
    )


def _moves(
    state: ClusterState, current: ReassignmentFile, proposed: ReassignmentFile
) -> ProposedMovesRecord:
    size_of = dict(zip(_keys(current), _sizes(state, current), strict=True))
    before = dict(zip(_keys(current), current.replicas, strict=True))
    changed = [
        (key, before[key], after)
        for key, after in zip(_keys(proposed), proposed.replicas, strict=True)
        if before[key] != after
    ]
    copies = [(key, len(set(new) - set(old))) for key, old, new in changed]
    return ProposedMovesRecord(
        replicas=sum(count for _, count in copies),
        bytes=sum(count * size_of[key] for key, count in copies),
        leaders=sum(old[0] != new[0] for _, old, new in changed),
        partitions=len(changed),
    )


def _keys(file: ReassignmentFile) -> Iterator[tuple[str, int]]:
    return zip(file.topics, file.partitions, strict=True)


def _sizes(state: ClusterState, file: ReassignmentFile) -> list[int]:
    """Return the bytes of a copy of each partition of a file, in the order of rows."""
    of, names = state.partitions.topic_idx, state.topics.names
    wanted = set(file.topics)
    is_in = np.array([name in wanted for name in names], dtype=np.bool_)[of]
    sizes: list[int] = weigh(state).copy_bytes[is_in].tolist()
    return sizes


def _ignored(state: ClusterState, request: GenerateRequest) -> tuple[int, ...]:
    used = set(state.brokers.ids[is_open(state, request)].tolist())
    return tuple(broker for broker in request.broker_ids if broker not in used)


def _notes(
    state: ClusterState, request: GenerateRequest, *, is_least: bool | None
) -> Iterator[str]:
    for broker in _ignored(state, request):
        row = int(state.brokers.rows_of([broker])[0])
        why = "is not in the cluster"
        if row >= 0:
            name = BrokerState(int(state.brokers.state[row])).name
            why = f"is {name.lower().replace('_', '-')}"
        yield f"broker {broker} {why}: left out"
    if request.is_from_scratch:
        yield from _factor_notes(state, request)
        return
    rows = chosen_rows(state, request)
    for row in rows[state.is_reassigning[rows]].tolist():
        yield f"{state.name_of(row)} is being reassigned: left alone"
    if is_least is False:
        yield (
            "solved in pieces, so large it is: the counts are even, but fewer moves "
            "may do"
        )


def _factor_notes(state: ClusterState, request: GenerateRequest) -> Iterator[str]:
    current = current_lists(state, request)
    for topic, factor in sorted(proposed_factors(current).items()):
        found = sorted({len(row) for row in current[topic]})
        if found != [factor]:
            listed = " and ".join(map(str, found))
            yield (
                f"topic {topic} has replication factors {listed}; as with Kafka's "
                f"tool, every partition gets {factor}"
            )


def _findings(
    state: ClusterState, request: GenerateRequest, proposed: ReassignmentFile
) -> tuple[Finding, ...]:
    """Return the findings of the checker that the proposal causes or leaves."""
    others = state.brokers.is_live & ~is_open(state, request)
    rules = CheckSettings(leaving_brokers=frozenset(state.brokers.ids[others].tolist()))
    found = check(state, to_target(proposed), rules)
    return tuple(
        finding
        for finding in found
        if finding.is_wrong and (request.is_rack_aware or finding.rule != "rack")
    )
