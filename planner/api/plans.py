"""Plans from Python: a function per operation, with the options of the command."""

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Literal, Unpack

from planner.api.errors import named_as_arguments
from planner.api.result import PlanResult
from planner.api.rules import RuleOptions, rules_of
from planner.options.operation_options import OwnOptions
from planner.options.plan_request import PlanRequest
from planner.plan.run.make_plan import make
from planner.snapshot import Snapshot


class PlanOptions(RuleOptions, total=False):
    """
    Options of plans, all optional, with those of `RuleOptions`.

    They are typed keywords of the functions of all operations.

    Parameters
    ----------
    band
        Distance from its share that a broker may have, as a fraction: of every
        resource, or by resource. Default 0.10.
    resources
        Resources to balance: ``disk``, ``in``, ``out``, ``cpu``, ``replicas``,
        ``leaders``. By default all known ones.
    capacity_threshold
        Fraction of a capacity that no broker may exceed, by resource.
    topic
        Names of the only topics that may move.
    topics, exclude_topics
        Regular expressions, matching whole names, of topics that may or may not move.
    destination_brokers
        Ids of the only brokers that may receive replicas.
    exclude_brokers_for_replicas, exclude_brokers_for_leaders
        Ids of brokers that receive no replicas, or no leaders.
    max_moves, max_bytes, max_cross_rack_bytes
        Caps on the number of copies, on their bytes, and on bytes copied to another
        rack than the leader's.
    prefer
        ``bytes``: the fewest bytes. ``moves``: few moves as well.
    move_cost_bytes
        Price of a move in bytes, besides its size.
    effort
        Amount of work of the search.
    seed
        Seed of the random numbers of the search.
    topic_slack
        Replicas of a topic above the share of a broker that may be placed there
        without need; `None`: any number.
    transient_disk
        Whether replicas that leave a disk count there until all copies are done.
    deadline
        Seconds after which the search returns its incumbent.
    waves
        Whether the plan is cut into waves. Implied by each of the next options.
    max_moves_in, max_moves_out, max_moves_per_broker
        Copies that a broker receives, sends, and both together, in a wave. Default 5, 5
        and unlimited.
    max_moves_per_partition
        New replicas of a partition in a wave. Default 1.
    bandwidth
        Bytes/s that a broker may copy, in and out. Default 50,000,000.
    order
        Order of the copies.
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
    prefer: Literal["bytes", "moves"]
    move_cost_bytes: int
    effort: Literal["quick", "normal", "thorough", "exact"]
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
    order: Literal["shortest", "under-replicated", "small", "large", "topic"]


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
        Whether the log dir of each copy is chosen too, and log dirs of receiving
        brokers are balanced; `None`: only where the broker's own choice would overfill
        a log dir.
    options
        See `PlanOptions`.

    Raises
    ------
    BadInputError
        If options are wrong for this cluster; has every problem.

    Examples
    --------
    >>> import planner
    >>> from planner.demo import SNAPSHOT_FILE
    >>> snapshot = planner.read_snapshot(SNAPSHOT_FILE)
    >>> planner.rebalance(snapshot, band=0.5, resources=["replicas"]).status
    'feasible'
    """
    own = {"with_log_dirs": with_log_dirs}
    return plan_of(snapshot, "rebalance", options, own=own)


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
    Plan to move replicas to new brokers only; leadership may change anywhere.

    Parameters
    ----------
    snapshot
        The cluster.
    broker_ids
        Ids of the new brokers. By default those whose state is ``new``.
    new_brokers
        Brokers that do not exist yet: ``id=7,rack=c,like=3``.
    rebalance
        Whether all other replicas may move too, to balance.
    with_log_dirs
        Whether the log dir of each copy is chosen too, and log dirs of receiving
        brokers are balanced; `None`: only where the broker's own choice would overfill
        a log dir.
    options
        See `PlanOptions`.

    Raises
    ------
    BadInputError
        If options are wrong for this cluster; has every problem.
    """
    return plan_of(
        snapshot,
        "add-brokers",
        options,
        broker_ids=broker_ids,
        rebalance=rebalance,
        own={
            "own": OwnOptions(new_broker=tuple(new_brokers)),
            "with_log_dirs": with_log_dirs,
        },
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
        Whether all other replicas may move too, to balance.
    with_log_dirs
        Whether the log dir of each copy is chosen too, and log dirs of receiving
        brokers are balanced; `None`: only where the broker's own choice would overfill
        a log dir.
    options
        See `PlanOptions`.

    Raises
    ------
    BadInputError
        If options are wrong for this cluster; has every problem.
    """
    return plan_of(
        snapshot,
        "remove-brokers",
        options,
        broker_ids=broker_ids,
        rebalance=rebalance,
        own={"with_log_dirs": with_log_dirs},
    )


def leaders(
    snapshot: Snapshot,
    *,
    order_followers: bool = False,
    **options: Unpack[PlanOptions],
) -> PlanResult:
    """
    Plan to balance leaders by reordering replica lists; nothing is copied.

    Parameters
    ----------
    snapshot
        The cluster.
    order_followers
        Whether lists whose leader stays may be reordered too, to keep leaders even
        after the loss of a broker or a rack.
    options
        See `PlanOptions`; resources are ``leaders``, ``out`` and ``cpu``.

    Raises
    ------
    BadInputError
        If options are wrong for this cluster; has every problem.
    """
    return plan_of(
        snapshot, "leaders", options, own={"order_followers": order_followers}
    )


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
        Log dirs to empty, by broker and path: ``3:/data/d1``.
    options
        See `PlanOptions`; the only resource is disk.

    Raises
    ------
    BadInputError
        If options are wrong for this cluster; has every problem.
    """
    return plan_of(snapshot, "log-dirs", options, own={"empty": tuple(empty)})


def plan_of(
    snapshot: Snapshot,
    goal: str,
    options: PlanOptions,
    *,
    broker_ids: Iterable[int] | None = None,
    rebalance: bool = False,
    own: Mapping[str, Any] = MappingProxyType({}),
) -> PlanResult:
    """Plan with the request and the function of the command."""
    whole = {"broker_list": _id_list(broker_ids), "rebalance": rebalance, **own}
    request = request_of(goal, options, whole)
    with named_as_arguments():
        planned = make(
            snapshot.to_state(),
            request,
            taken_at=snapshot.taken_at,
            resources=snapshot.topic_resources(),
        )
    return PlanResult(planned)


def request_of(
    goal: str, options: PlanOptions, own: Mapping[str, Any] = MappingProxyType({})
) -> PlanRequest:
    """Return the request that the command makes from the same options."""
    _refuse_unknown(options)
    return PlanRequest(
        goal=goal,
        rules=rules_of(options),
        band=_fractions(options.get("band", {})),
        capacity_threshold=_fractions(options.get("capacity_threshold", {})),
        resources=",".join(options["resources"]) if "resources" in options else None,
        topic=tuple(options.get("topic", ())),
        topics=options.get("topics"),
        exclude_topics=options.get("exclude_topics"),
        destination_broker_list=_id_list(options.get("destination_brokers")),
        exclude_brokers_for_replicas=_id_list(
            options.get("exclude_brokers_for_replicas")
        ),
        exclude_brokers_for_leaders=_id_list(
            options.get("exclude_brokers_for_leaders")
        ),
        max_moves=options.get("max_moves"),
        max_bytes=_text(options.get("max_bytes")),
        max_cross_rack_bytes=_text(options.get("max_cross_rack_bytes")),
        prefer=options.get("prefer", "bytes"),
        move_cost_bytes=_text(options.get("move_cost_bytes")),
        effort=options.get("effort", "normal"),
        seed=options.get("seed", 1),
        topic_slack=options.get("topic_slack", 2),
        transient_disk=options.get("transient_disk", False),
        deadline=options.get("deadline"),
        waves=options.get("waves", False),
        max_moves_in=options.get("max_moves_in"),
        max_moves_out=options.get("max_moves_out"),
        max_moves_per_broker=options.get("max_moves_per_broker"),
        max_moves_per_partition=options.get("max_moves_per_partition"),
        bandwidth=_text(options.get("bandwidth")),
        order=options.get("order"),
        **own,
    )


def _text(value: int | None) -> str | None:
    return None if value is None else str(value)


def _refuse_unknown(options: PlanOptions) -> None:
    unknown = sorted(set(options) - set(PlanOptions.__annotations__))
    if unknown:
        known = ", ".join(PlanOptions.__annotations__)
        msg = f"unexpected option {unknown[0]!r}; known: {known}"
        raise TypeError(msg)


def _id_list(broker_ids: Iterable[int] | None) -> str | None:
    if broker_ids is None:
        return None
    return ",".join(map(str, broker_ids)) or None


def _fractions(given: float | Mapping[str, float]) -> tuple[str, ...]:
    if isinstance(given, Mapping):
        return tuple(f"{resource}={value!r}" for resource, value in given.items())
    return (repr(given),)
