"""Runs of a plan: successive files for Kafka's tool, with their throttles."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from placement.array_types import BoolArray
from placement.model.cluster import ABSENT, ClusterState
from placement.waves.wave_files import Step
from planner.kafka_commands import ALL_BROKERS, KafkaCommands, topic_entity
from planner.plan.documents.plan_figures import DEFAULT_RATE_BYTES_PER_S
from planner.plan.documents.scored_plan import Plan
from planner.plan.waves.wave_document import kind_of, moving_inside, passing
from planner.plan.waves.wave_files import FOLDER, PlannedWaves
from planner.plan.waves.wave_throttles import least_throttle, wave_throttle
from planner.throttles import BROKER_THROTTLES, TOPIC_THROTTLES

KAFKA = KafkaCommands()
RATES = BROKER_THROTTLES[:2]
Files = Mapping[str, Sequence[str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """
    One file for Kafka's tool.

    Parameters
    ----------
    title
        Heading of the run.
    says
        A sentence before the commands, or empty.
    file
        Name of the file.
    rollback
        Files that undo this run, if it has its own.
    throttle, log_dir_throttle
        Bytes/s of copies between brokers, and within brokers; `None` without such
        copies.
    dead
        Brokers not live in the lists that the run changes.
    topics
        Topics that are throttled as a whole; only with dead brokers.
    election
        File of the elections after the run, if any.
    """

    title: str
    says: str
    file: str
    rollback: tuple[str, ...] = ()
    throttle: int | None = None
    log_dir_throttle: int | None = None
    dead: tuple[int, ...] = ()
    topics: tuple[str, ...] = ()
    election: str | None = None

    @property
    def is_throttled(self) -> bool:
        """Whether throttles must be removed afterwards."""
        return self.throttle is not None or self.log_dir_throttle is not None

    @property
    def by_default(self) -> bool:
        """Whether rates are set as the default of all brokers."""
        return bool(self.dead) and self.throttle is not None

    @property
    def execute(self) -> str:
        """The command that starts the run."""
        inside = self.log_dir_throttle
        return KAFKA.execute(
            self.file,
            throttle=None if self.by_default else _text(self.throttle),
            log_dir_throttle=_text(inside),
        )

    @property
    def set_up(self) -> list[str]:
        """Commands before the run, if Kafka's tool cannot throttle it."""
        if not self.by_default:
            return []
        lists = [f"{key}=*" for key in TOPIC_THROTTLES]
        return [
            KAFKA.set_configs(ALL_BROKERS, [f"{key}={self.throttle}" for key in RATES]),
            *(KAFKA.set_configs(topic_entity(topic), lists) for topic in self.topics),
        ]

    @property
    def tear_down(self) -> list[str]:
        """Commands after the run that remove configs which Kafka's tool leaves."""
        return [KAFKA.delete_configs(ALL_BROKERS, RATES)] if self.by_default else []


def _text(rate: int | None) -> str | None:
    return None if rate is None else str(rate)


def runs_of(plan: Plan, files: Files) -> Iterator[Run]:
    """
    Yield the runs of a plan, in order.

    Parameters
    ----------
    plan
        The plan.
    files
        Files with lists, by name without suffix and number.
    """
    if plan.waves is not None:
        yield from _waves(plan.waves, files)
        return
    whole, parts = _whole(plan), files.get("reassignment", [])
    if len(parts) < 2:
        yield from (replace(whole, file=part) for part in parts)
        return
    for number, file in enumerate(parts, start=1):
        yield Run(
            title=f"File {number} of {len(parts)}",
            says=_AFTER if number > 1 else whole.says,
            file=file,
            throttle=whole.throttle,
            log_dir_throttle=whole.log_dir_throttle,
            dead=whole.dead,
            topics=whole.topics,
        )


_AFTER = "When the one before is completed."


def _whole(plan: Plan) -> Run:
    state, reassignment = plan.state, plan.placed.reassignment
    changed = reassignment.is_changed
    dead = _dead(state, changed)
    copies = bool(reassignment.is_copied.any())
    inside = bool(reassignment.is_moved_inside.any())
    topics = _topics(state, changed) if dead and copies else ()
    return Run(
        title="Run",
        says=_rate_text(plan) if copies else "",
        file="reassignment.json",
        throttle=_whole_throttle(plan, is_wild=bool(topics)) if copies else None,
        log_dir_throttle=DEFAULT_RATE_BYTES_PER_S if inside else None,
        dead=dead,
        topics=topics,
    )


def _rate_text(plan: Plan) -> str:
    changed = plan.placed.reassignment.is_changed
    rates = plan.state.partitions.in_bytes_per_s[changed]
    rate = f"{DEFAULT_RATE_BYTES_PER_S // 1_000_000} MB/s per broker for copies"
    if np.isnan(rates).any():
        return (
            f"The throttle is {rate}; what is written meanwhile takes part of it, and "
            "is not known for every partition: where copies stand still, raise it by "
            "running the command again with `--additional`."
        )
    return f"The throttle is {rate}, and what is written meanwhile."


def _whole_throttle(plan: Plan, *, is_wild: bool) -> int:
    """
    Return the throttle for all copies at once: the default rate plus produced bytes.

    Kafka's throttle counts what in-sync followers of a listed partition fetch; for
    topics throttled as a whole, of every partition.
    """
    state, reassignment = plan.state, plan.placed.reassignment
    rate = np.nan_to_num(state.partitions.in_bytes_per_s)
    listed = reassignment.is_changed
    if is_wild:
        listed = np.isin(state.partitions.topic_idx, state.partitions.topic_idx[listed])
    need = np.zeros((2, state.num_brokers))
    leader = state.partitions.leader_idx
    led = listed & np.not_equal(leader, ABSENT)
    followers = state.replication_factor - 1
    np.add.at(need[0], leader[led], (rate * followers)[led])
    copied = np.nonzero(reassignment.is_copied)[0]
    of = reassignment.partition_idx[copied]
    source = leader[of]
    known = np.not_equal(source, ABSENT)
    np.add.at(need[0], source[known], rate[of][known])
    np.add.at(need[1], reassignment.broker_idx[copied], rate[of])
    if is_wild:
        rows = state.replicas.partition_idx
        follows = listed[rows] & np.not_equal(state.replicas.broker_idx, leader[rows])
        np.add.at(need[1], state.replicas.broker_idx[follows], rate[rows[follows]])
    return DEFAULT_RATE_BYTES_PER_S + int(np.ceil(need.max(initial=0.0)))


def _dead(state: ClusterState, chosen: BoolArray) -> tuple[int, ...]:
    """Return the brokers not live in the lists of partitions."""
    replicas = state.replicas
    rows = chosen[replicas.partition_idx] & ~state.brokers.is_live[replicas.broker_idx]
    return tuple(np.unique(state.brokers.ids[replicas.broker_idx[rows]]).tolist())


def _topics(state: ClusterState, chosen: BoolArray) -> tuple[str, ...]:
    rows = np.unique(state.partitions.topic_idx[chosen]).tolist()
    return tuple(state.topics.names[row] for row in rows)


def _waves(waves: PlannedWaves, files: Files) -> Iterator[Run]:
    for step in waves.steps:
        parts = files.get(f"{FOLDER}/wave-{step.number:03d}", [])
        back = tuple(files.get(f"{FOLDER}/rollback-{step.number:03d}", ()))
        for number, file in enumerate(parts, start=1):
            found = _wave(waves, step, file, (number, len(parts)))
            yield replace(found, rollback=back if number == 1 else ())


def _wave(waves: PlannedWaves, step: Step, file: str, part: tuple[int, int]) -> Run:
    state = waves.state
    chosen = np.zeros(state.num_partitions, dtype=np.bool_)
    chosen[step.before.partition_idx] = True
    dead = _dead_before(state, step)
    copies = len(passing(waves, step)) > 0
    topics = _topics(state, chosen) if dead and copies else ()
    rows = np.unique(state.partitions.topic_idx[chosen]).tolist() if topics else []
    rate = wave_throttle(waves, step, least_throttle(waves, step, rows))
    whole = round(waves.found.settings.bandwidth_bytes_per_s)
    is_last = part[0] == part[1]
    name = f"Wave {step.number} of {len(waves.steps)}"
    return Run(
        title=name if part[1] == 1 else f"{name}, file {part[0]} of {part[1]}",
        says="When the one before is completed." if step.number + part[0] > 2 else "",
        file=file,
        throttle=rate if copies else None,
        log_dir_throttle=whole if len(moving_inside(waves, step)) else None,
        dead=dead,
        topics=topics,
        election=f"{FOLDER}/election-{step.number:03d}.json"
        if kind_of(step) == "leaders" and is_last and len(step.elects)
        else None,
    )


def _dead_before(state: ClusterState, step: Step) -> tuple[int, ...]:
    """Return the brokers not live in the lists before a wave."""
    brokers = step.before.broker_idx
    off = brokers[~state.brokers.is_live[brokers]]
    return tuple(np.unique(state.brokers.ids[off]).tolist())


def code(*commands: str) -> list[str]:
    """Return commands as a code block."""
    return ["```sh", *commands, "```"]
