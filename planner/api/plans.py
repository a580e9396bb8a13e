"""Options of plans from Python, and plans of any operation by its name."""

from collections.abc import Iterable, Mapping
from typing import Any

from placement.operations.descriptor import OPERATIONS
from planner.api.errors import named_as_arguments, required
from planner.api.result import PlanResult
from planner.api.rules import RuleOptions
from planner.options.declared.common_options import CommonKeywords
from planner.options.declared.plan_options import keyword_lines
from planner.options.declared.wave_options import WaveKeywords
from planner.options.plan_request import PlanRequest
from planner.plan.run.make_plan import make
from planner.snapshot import Snapshot
from planner.status.controller_quorum import voters_of

RENAMED = {"destination_brokers": "destination_broker_list"}
"""Declared names of options that are called otherwise in Python."""


class PlanOptions(RuleOptions, WaveKeywords, CommonKeywords, total=False):
    """
    Options of plans as keywords, all optional.

    They have the meaning of the command line; amounts are in bytes and bytes/s.
    """

    destination_brokers: Iterable[int]


PlanOptions.__doc__ = f"{PlanOptions.__doc__}\n{keyword_lines(PlanOptions, RENAMED)}"


class CopyOptions(PlanOptions, total=False):
    """
    Options of plans that copy replicas: those of `PlanOptions`, and one more.

    Parameters
    ----------
    with_log_dirs
        Whether the log dir of each copy is chosen too, and log dirs of receiving
        brokers are balanced; `None`: only where the broker's own choice would overfill
        a log dir.
    """

    with_log_dirs: bool | None


class MoveOptions(CopyOptions, total=False):
    """
    Options of plans that copy some replicas: those of `CopyOptions`, and one more.

    Parameters
    ----------
    rebalance
        Whether all other replicas may move too, to balance.
    """

    rebalance: bool


def plan_operation(
    snapshot: Snapshot,
    operation: str,
    **options: Any,  # noqa: ANN401 - of any type
) -> PlanResult:
    """
    Plan an operation by its name, with the request and the function of the command.

    Parameters
    ----------
    snapshot
        The cluster.
    operation
        Name of the operation on the command line, such as ``fix``.
    options
        See `PlanOptions`; and the options of the operation by the names of the command
        line, with underscores.

    Raises
    ------
    ValueError
        If there is no such operation, or it creates partitions: these have functions
        of their own, `planner.new_topic` and `planner.add_partitions`.
    BadInputError
        If options are wrong for this cluster; has every problem.

    Examples
    --------
    >>> import planner
    >>> from planner.demo import SNAPSHOT_FILE
    >>> snapshot = planner.read_snapshot(SNAPSHOT_FILE)
    >>> planner.plan_operation(snapshot, "demote", broker_list=[4]).counts["replicas"]
    0
    """
    known = [one.name for one in OPERATIONS.values() if not one.creates_partitions]
    if operation not in known:
        msg = f"no operation {operation!r} on partitions that exist; known: "
        raise ValueError(msg + ", ".join(known))
    request = request_of(operation, options)
    with named_as_arguments():
        state = required(snapshot).to_state()
        planned = make(
            state,
            request,
            taken_at=snapshot.taken_at,
            resources=snapshot.topic_resources(),
            voters=voters_of(snapshot, state),
        )
    return PlanResult(planned)


def request_of(operation: str, options: Mapping[str, Any]) -> PlanRequest:
    """
    Return the request that the command makes from the same options.

    Parameters
    ----------
    operation
        Name of the operation.
    options
        Options of every plan by their names in Python, and those of the operation by
        their declared names.

    Raises
    ------
    TypeError
        If the operation has no option of such a name.
    """
    own = OPERATIONS[operation].options
    unknown = sorted(set(options) - set(PlanOptions.__annotations__) - set(own))
    if unknown:
        known = ", ".join(PlanOptions.__annotations__)
        msg = f"unexpected option {unknown[0]!r}; known: {known}"
        raise TypeError(msg)
    given = {RENAMED.get(name, name): value for name, value in options.items()}
    return PlanRequest(operation, **given)
