"""Sentences on running reassignments: bytes left, obstacles, and remedies."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from placement.model.cluster import ABSENT, UNKNOWN
from placement.status import Moves, Obstacle
from planner.kafka_commands import KafkaCommands
from planner.kafka_files.reassignment_file import ReassignmentFile
from planner.status.find_status import Status
from planner.status.trouble_sentences import Address, Advice, state_of
from planner.text.format import bytes_text, plural

CANCEL_NAME = "stuck.json"


def bytes_left_text(moves: Moves) -> str:
    """Return the bytes that reassignments still have to copy, as text."""
    known = moves.left_bytes != UNKNOWN
    rest = int((~known).sum())
    if rest == len(known):
        return "sizes unknown"
    left, total = moves.left_bytes[known].sum(), moves.copy_bytes[known].sum()
    also = f", and {plural(rest, 'partition')} of unknown size" if rest else ""
    return f"{bytes_text(left)} of {bytes_text(total)} left to copy{also}"


OBSTACLE_NAMES = {
    Obstacle.SAME_BROKER: "adds-and-removes-the-same-broker",
    Obstacle.NO_SOURCE: "no-source",
    Obstacle.BROKER: "waits-for-broker",
    Obstacle.LOG_DIR: "waits-for-log-dir",
}


def obstacle_text(status: Status, obstacle: Obstacle, broker_idx: int) -> str:
    """Return the reason why reassignments cannot end, as text."""
    brokers = status.state.brokers
    broker = "" if broker_idx == ABSENT else f"broker {brokers.ids[broker_idx]}"
    return {
        Obstacle.SAME_BROKER: f"{broker} is added and removed at the same time: it "
        "never ends",
        Obstacle.NO_SOURCE: "no live replica is in sync, so nothing can be copied",
        Obstacle.BROKER: f"waits for {broker}, "
        f"{state_of(brokers, broker_idx) if broker else ''}",
        Obstacle.LOG_DIR: f"waits for a failed log dir of {broker}",
    }[obstacle]


def cancel_lists(status: Status) -> ReassignmentFile:
    """Return the file by which Kafka's tool cancels the stuck reassignments."""
    state, moves = status.state, status.troubles.moves
    stuck = moves.partition_idx[moves.is_stuck].tolist()
    names = [state.key_of(p) for p in stuck]
    return ReassignmentFile(
        topics=tuple(topic for topic, _ in names),
        partitions=tuple(number for _, number in names),
        # Kafka's tool requires replica lists, but ignores them when it cancels.
        replicas=tuple(tuple(state.brokers_of(p)) for p in stuck),
        log_dirs=(None,) * len(stuck),
    )


def stuck_advice(status: Status, address: Address) -> list[Advice]:
    """Return the remedies for reassignments that cannot end."""
    # Kafka's tool would wait for brokers that are down to clear their throttles.
    is_down = len(status.troubles.broker_idx) > 0
    also = "" if is_down else " (Kafka's tool removes throttles then, too)"
    kafka = KafkaCommands(connection=address.connection)
    return [
        ("start what they wait for, or cancel them: the lists before come back", None),
        (
            "write them to a file",
            f"kafka-planner status {address.place} --cancel-json {CANCEL_NAME}",
        ),
        (
            f"and cancel them{also}",
            kafka.cancel(CANCEL_NAME, keeps_throttles=is_down),
        ),
    ]


def stuck_groups(status: Status) -> Iterator[tuple[Obstacle, int, list[int]]]:
    """Yield each obstacle with its broker row and the partitions that it blocks."""
    moves = status.troubles.moves
    groups: dict[tuple[int, int], list[int]] = {}
    rows = np.nonzero(moves.is_stuck)[0]
    for m in rows.tolist():
        key = int(moves.obstacle[m]), int(moves.broker_idx[m])
        groups.setdefault(key, []).append(int(moves.partition_idx[m]))
    for (obstacle, broker), partitions in sorted(groups.items()):
        yield Obstacle(obstacle), broker, partitions


def moving_topics(status: Status) -> list[Mapping[str, Any]]:
    """Return the topics being reassigned, the most bytes left first."""
    state, moves = status.state, status.troubles.moves
    topic = state.partitions.topic_idx[moves.partition_idx]
    found = []
    for t in np.unique(topic).tolist():
        here = topic == t
        left, total = moves.left_bytes[here], moves.copy_bytes[here]
        is_known = bool((left != UNKNOWN).all())
        found.append(
            {
                "topic": state.topics.names[t],
                "partitions": int(here.sum()),
                "bytes": int(total.sum()) if is_known else None,
                "bytes_left": int(left.sum()) if is_known else None,
                "stuck": int(moves.is_stuck[here].sum()),
            }
        )
    return sorted(found, key=lambda one: (-(one["bytes_left"] or 0), one["topic"]))
