"""Plans from Python: one function per operation, with the options of the command."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Unpack

from planner.api.errors import named_as_arguments
from planner.api.result import PlanResult
from planner.api.rules import RuleOptions
from planner.options.declared.types import CopyOrder, Effort, Prefer
from planner.options.plan_request import PlanRequest
from planner.plan.run.make_plan import make
from planner.snapshot import Snapshot

RENAMED = {"destination_brokers": "destination_broker_list"}
"""Declared names of options that are called otherwise in Python."""


class PlanOptions(RuleOptions, total=False):
    """
    Options of every plan, all of which may be left out; `RuleOptions` are some too.

    Typed keywords: as many functions as there are operations take the same ones.

    Parameters
    ----------
    band
        How far from its share a broker may be, as a fraction: of every resource, or
        by resource. 0.10 where left out.
    resources
        Which to balance: ``disk``, ``in``, ``out``, ``cpu``, ``replicas``,
        ``leaders``. All that are known where left out.
    capacity_threshold
        Fraction of a capacity that no broker may exceed, by resource.
    topic
        Names of the only topics that may move.
    topics, exclude_topics
        Regular expressions, matching whole names, of those that may or may not.
    destination_brokers
        Ids of the only brokers that get replicas.
    exclude_brokers_for_replicas, exclude_brokers_for_leaders
        Ids of brokers that get none.
    max_moves, max_bytes, max_cross_rack_bytes
        Caps on the copies, on their bytes, and on the bytes that are copied to another
        rack than the leader's.
    prefer
        ``bytes``: the fewest bytes. ``moves``: few moves as well.
    move_cost_bytes
        Price of a move on top of its bytes.
    effort
        How much work the search may do.
    seed
        Of its random numbers.
    topic_slack
        Replicas of a topic above a broker's share of it that may come there without
        need; `None`: any.
    transient_disk
        Whether what leaves a disk counts there until all is copied.
    deadline
        Seconds after which the search ends with what it has.
    waves
        Whether the plan is cut into waves; any of the next options asks for it too.
    max_moves_in, max_moves_out, max_moves_per_broker
        Copies that a broker gets, sends, and both together, in a wave: 5, 5 and any
        number where left out.
    max_moves_per_partition
        Replicas that a partition gets in a wave: 1 where left out.
    bandwidth
        Bytes/s that a broker may copy at most, in and out; 50,000,000 where left out.
    order
        Which copies go first.
    """

    band: float | Mapping[str, float]
    resources: Sequence[str]
    capacity_threshold: Mapping[str, float]
    topic: Sequence[str]
    topics: str
    exclude_topics: str
    destination_brokers: Iterable[int]
    exclude_brokers_for_replicas: Iterable[int]
    exclude_brokers_for_leaders: Iterable[int]
    max_moves: int
    max_bytes: int
    max_cross_rack_bytes: int
    prefer: Prefer
    move_cost_bytes: int
    effort: Effort
    seed: int
    topic_slack: int | None
    transient_disk: bool
    deadline: float
    waves: bool
    max_moves_in: int
    max_moves_out: int
    max_moves_per_broker: int
    max_moves_per_partition: int
    bandwidth: int
    order: CopyOrder


def rebalance(
    snapshot: Snapshot,
    *,
    with_log_dirs: bool | None = None,
    **options: Unpack[PlanOptions],
) -> PlanResult:
    """
    Plan to bring every broker into its band with the fewest bytes.

    Parameters
    ----------
    snapshot
        The cluster.
    with_log_dirs
        Whether copies are given a log dir of their broker as well, and log dirs are
        balanced where copies may come; `None`: only where the broker's own choice
        would overfill a log dir.
    options
        See `PlanOptions`.

    Raises
    ------
    BadInputError
        With every option that is wrong for this cluster.

    Examples
    --------
    >>> import planner
    >>> from planner.demo import SNAPSHOT_FILE
    >>> snapshot = planner.read_snapshot(SNAPSHOT_FILE)
    >>> planner.rebalance(snapshot, band=0.5, resources=["replicas"]).status
    'feasible'
    """
    return plan_of(snapshot, "rebalance", options, with_log_dirs=with_log_dirs)


def add_brokers(
    snapshot: Snapshot,
    broker_ids: Iterable[int] | None = None,
    *,
    new_brokers: Iterable[str] = (),
    rebalance: bool = False,
    with_log_dirs: bool | None = None,
    **options: Unpack[PlanOptions],
) -> PlanResult:
    """
    Plan to fill new brokers; copies go only there, leadership anywhere.

    Parameters
    ----------
    snapshot
        The cluster.
    broker_ids
        The brokers to fill; those whose state is ``new`` where left out.
    new_brokers
        Brokers that do not exist yet: ``id=7,rack=c,like=3``.
    rebalance
        Whether the rest may move too.
    with_log_dirs
        Whether copies are given a log dir of their broker as well, and log dirs are
        balanced where copies may come; `None`: only where the broker's own choice
        would overfill a log dir.
    options
        See `PlanOptions`.

    Raises
    ------
    BadInputError
        With every option that is wrong for this cluster.
    """
    return plan_of(
        snapshot,
        "add-brokers",
        options,
        broker_ids=broker_ids,
        rebalance=rebalance,
        new_broker=tuple(new_brokers),
        with_log_dirs=with_log_dirs,
    )


def remove_brokers(
    snapshot: Snapshot,
    broker_ids: Iterable[int],
    *,
    rebalance: bool = False,
    with_log_dirs: bool | None = None,
    **options: Unpack[PlanOptions],
) -> PlanResult:
    """
    Plan to empty brokers; only their replicas move.

    Parameters
    ----------
    snapshot
        The cluster.
    broker_ids
        The brokers to empty.
    rebalance
        Whether the rest may move too.
    with_log_dirs
        Whether copies are given a log dir of their broker as well, and log dirs are
        balanced where copies may come; `None`: only where the broker's own choice
        would overfill a log dir.
    options
        See `PlanOptions`.

    Raises
    ------
    BadInputError
        With every option that is wrong for this cluster.
    """
    return plan_of(
        snapshot,
        "remove-brokers",
        options,
        broker_ids=broker_ids,
        rebalance=rebalance,
        with_log_dirs=with_log_dirs,
    )


def leaders(
    snapshot: Snapshot,
    *,
    order_followers: bool = False,
    **options: Unpack[PlanOptions],
) -> PlanResult:
    """
    Plan to share leadership out: the order of replicas changes, nothing is copied.

    Parameters
    ----------
    snapshot
        The cluster.
    order_followers
        Whether any list may be reordered so that leaders stay even when a broker or a
        rack is lost; otherwise only lists whose leader changes.
    options
        See `PlanOptions`; of resources ``leaders``, ``out`` and ``cpu``.

    Raises
    ------
    BadInputError
        With every option that is wrong for this cluster.
    """
    return plan_of(snapshot, "leaders", options, order_followers=order_followers)


def log_dirs(
    snapshot: Snapshot, empty: Iterable[str] = (), **options: Unpack[PlanOptions]
) -> PlanResult:
    """
    Plan to balance log dirs inside their brokers, and to empty some.

    Parameters
    ----------
    snapshot
        The cluster.
    empty
        Log dirs that shall hold nothing, by broker and path: ``3:/data/d1``.
    options
        See `PlanOptions`; disk is the one resource.

    Raises
    ------
    BadInputError
        With every option that is wrong for this cluster.
    """
    return plan_of(snapshot, "log-dirs", options, empty=tuple(empty))


def plan_of(
    snapshot: Snapshot,
    goal: str,
    options: PlanOptions,
    *,
    broker_ids: Iterable[int] | None = None,
    **own: Any,  # noqa: ANN401 - of any type
) -> PlanResult:
    """Plan as the command does: the same request, the same function."""
    request = request_of(goal, options, broker_list=broker_ids, **own)
    with named_as_arguments():
        planned = make(snapshot.to_state(), request, taken_at=snapshot.taken_at)
    return PlanResult(planned)


def request_of(
    goal: str,
    options: PlanOptions,
    **own: Any,  # noqa: ANN401 - of any type
) -> PlanRequest:
    """
    Return the request that the command would make of the same options.

    Parameters
    ----------
    goal
        Name of the operation.
    options
        Options of every plan, by their names in Python.
    own
        Options of the operation, by their declared names.
    """
    unknown = sorted(set(options) - set(PlanOptions.__annotations__))
    if unknown:
        known = ", ".join(PlanOptions.__annotations__)
        msg = f"unexpected option {unknown[0]!r}; there are: {known}"
        raise TypeError(msg)
    given = {RENAMED.get(name, name): value for name, value in options.items()}
    return PlanRequest(goal, **given, **own)
