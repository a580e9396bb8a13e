"""Creation of partitions: the one request of a plan, and whether it was carried out."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise

from placement.operations.descriptor import describe
from planner.errors import BadInputError, InputProblem
from planner.execution.changes import Change, Step
from planner.execution.preflight import Blocker
from planner.io.problems import problem
from planner.kafka_files.creation import Creation
from planner.kafka_files.reassignment_file import REASSIGNMENT_NAME
from planner.plan.input.plan_input import PlanInput
from planner.snapshot import Snapshot
from planner.text.format import plural
from planner.verify.partition_status import Status
from planner.verify.state_rows import Brokers, ClusterRows, entries_of


def creation_changes(wanted: Creation) -> Iterator[Change]:
    """Yield the new partitions as changes: nothing is copied."""
    for key, row in wanted.by_key.items():
        step = Step(replicas=row, log_dirs=None, copies=(), inside=())
        yield Change(
            key=key,
            before=(),
            steps=(step,),
            leader=None,
            has_source=True,
            copy_bytes=0,
            is_internal=False,
        )


def read_creation(plan: PlanInput) -> Creation | None:
    """
    Return the request of a plan that creates partitions; `None`: it creates none.

    Raises
    ------
    BadInputError
        If its lists are not those of one request.
    """
    operation = describe(plan.goal)
    entries = sorted(entries_of(plan.reassignment))
    if not operation.creates_partitions or not entries:
        return None
    if problems := list(_problems(plan, is_new_topic=operation.creates_topic)):
        msg = "the lists of the plan are not those of one request"
        raise BadInputError(msg, problems)
    return Creation(
        topic=entries[0].key[0],
        first=entries[0].key[1],
        lists=tuple(entry.replicas for entry in entries),
        configs=plan.settings.topic_config if operation.creates_topic else {},
    )


def _problems(plan: PlanInput, *, is_new_topic: bool) -> Iterator[InputProblem]:
    entries = sorted(entries_of(plan.reassignment))
    file, remedy = str(plan.path / REASSIGNMENT_NAME), "write the plan again"
    numbers = [entry.key[1] for entry in entries]
    topics = list(dict.fromkeys(entry.key[0] for entry in entries))
    if len(topics) > 1:
        rule = "must be of one topic: a plan creates the partitions of one"
        yield problem(file, "topic", ", ".join(topics), rule, remedy)
    elif any(later != one + 1 for one, later in pairwise(numbers)):
        rule = "must be numbers without a gap"
        yield problem(file, "partition", ", ".join(map(str, numbers)), rule, remedy)
    elif is_new_topic != (not numbers[0]):
        rule = f"must {'' if is_new_topic else 'not '}begin with 0: {plan.goal}"
        yield problem(file, "partition", str(numbers[0]), rule, remedy)
    for entry in entries:
        if any(path is not None for path in entry.log_dirs or ()):
            place = f"{entry.key[0]}-{entry.key[1]}"
            rule = "must name no log dir: a broker chooses that of a new partition"
            yield problem(file, place, str(entry.log_dirs), rule, "leave them out")


@dataclass(frozen=True, slots=True)
class CreationState:
    """
    State of a creation on a cluster.

    Parameters
    ----------
    status
        `NOT_STARTED`, `COMPLETED` or `DIFFERS`, of all partitions alike.
    reason
        Reason why it differs, or empty.
    """

    status: Status
    reason: str = ""


def creation_state(wanted: Creation, rows: ClusterRows, now: Snapshot) -> CreationState:
    """
    Return whether a creation is to be requested, was carried out, or cannot be.

    Parameters
    ----------
    wanted
        The request.
    rows, now
        The cluster now.
    """
    found = {key[1]: row for key, row in rows.row_of.items() if key[0] == wanted.topic}
    if len(found) == wanted.first:
        return CreationState(Status.NOT_STARTED)
    if not found:
        return _differs(f"topic {wanted.topic} does not exist")
    if len(found) != wanted.count:
        words = plural(len(found), "partition")
        expected = f"{wanted.first} before the plan and {wanted.count} after it"
        if wanted.is_new_topic:
            expected = f"{wanted.count} in the plan"
        return _differs(f"topic {wanted.topic} exists with {words}, not {expected}")
    return _compared(wanted, rows, found, now)


def recreated_state(wanted: Creation) -> CreationState:
    """Return the state where the topic is another one of the same name."""
    return _differs(
        f"topic {wanted.topic} was deleted and created again since the plan"
    )


def _compared(
    wanted: Creation, rows: ClusterRows, found: Mapping[int, int], now: Snapshot
) -> CreationState:
    """Return whether partitions that exist are those of the request."""
    for (topic, number), row in wanted.by_key.items():
        at = found.get(number)
        here = () if at is None else rows.replicas(at)
        if here != row or (at is not None and rows.is_reassigning[at]):
            return _differs(
                f"{topic}-{number} exists with the replicas {_listed(here)}, not "
                f"{_listed(row)}"
            )
    configs = _configs(now, wanted.topic)
    for name, value in wanted.configs.items():
        if configs is not None and configs.get(name) != value:
            is_now = configs.get(name, "not set")
            return _differs(
                f"topic {wanted.topic} exists, and {name} is {is_now}, not {value}"
            )
    return CreationState(Status.COMPLETED)


def _differs(reason: str) -> CreationState:
    return CreationState(Status.DIFFERS, reason)


def _listed(row: Brokers) -> str:
    return ",".join(map(str, row)) or "none"


def _configs(now: Snapshot, topic: str) -> dict[str, str] | None:
    """Return the configs of a topic; `None`: unknown."""
    names, configs = now.topics["topic"].to_pylist(), now.topics["configs"].to_pylist()
    found = dict(zip(names, configs, strict=True)).get(topic)
    return None if found is None else dict(found)


def creation_blocker(wanted: Creation, state: CreationState) -> Iterator[Blocker]:
    """Yield the reason that partitions cannot be created as planned, if any."""
    if state.reason:
        yield Blocker(
            rule="drifted",
            count=len(wanted.lists),
            message=state.reason,
            remedy="plan again from a new snapshot",
        )


def refused_blocker(wanted: Creation, reason: str) -> Blocker:
    """Return the reason that the cluster refuses the request of a creation."""
    return Blocker(
        rule="refused",
        count=len(wanted.lists),
        message=f"the cluster refuses to create {wanted.topic}: {reason}",
        remedy="take a new snapshot, and make a new plan",
    )
