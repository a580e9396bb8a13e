"""Plans from Python: a function per operation, with the options of the command."""

from collections.abc import Iterable, Mapping
from os import PathLike
from typing import Unpack

from planner.api.plans import CopyOptions, MoveOptions, PlanOptions, plan_operation
from planner.api.result import PlanResult
from planner.snapshot import Snapshot


def rebalance(
    snapshot: Snapshot,
    **options: Unpack[CopyOptions],
) -> PlanResult:
    """
    Plan to bring every broker into its band with the fewest bytes.

    Parameters
    ----------
    snapshot
        The cluster.
    options
        See `CopyOptions`.

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
    return plan_operation(snapshot, "rebalance", **options)


def add_brokers(
    snapshot: Snapshot,
    broker_ids: Iterable[int] | None = None,
    *,
    new_brokers: Iterable[str] = (),
    **options: Unpack[MoveOptions],
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
    options
        See `MoveOptions`.

    Raises
    ------
    BadInputError
        If options are wrong for this cluster; has every problem.
    """
    return plan_operation(
        snapshot,
        "add-brokers",
        **options,
        broker_list=broker_ids,
        new_broker=new_brokers,
    )


def remove_brokers(
    snapshot: Snapshot,
    broker_ids: Iterable[int],
    **options: Unpack[MoveOptions],
) -> PlanResult:
    """
    Plan to empty brokers; only their replicas move.

    Parameters
    ----------
    snapshot
        The cluster.
    broker_ids
        The brokers to empty.
    options
        See `MoveOptions`.

    Raises
    ------
    BadInputError
        If options are wrong for this cluster; has every problem.
    """
    return plan_operation(
        snapshot,
        "remove-brokers",
        **options,
        broker_list=broker_ids,
    )


def replace_broker(
    snapshot: Snapshot,
    replacements: Mapping[int, int],
    *,
    new_brokers: Iterable[str] = (),
    **options: Unpack[MoveOptions],
) -> PlanResult:
    """
    Plan to replace brokers by others, which get the same replicas and positions.

    Parameters
    ----------
    snapshot
        The cluster.
    replacements
        Id of the new broker by that of the old one.
    new_brokers
        Brokers that do not exist yet: ``id=7,rack=c,like=3``.
    options
        See `MoveOptions`.

    Raises
    ------
    BadInputError
        If options are wrong for this cluster; has every problem.
    """
    return plan_operation(
        snapshot,
        "replace-broker",
        **options,
        broker=tuple(replacements),
        with_broker=tuple(replacements.values()),
        new_broker=new_brokers,
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
    return plan_operation(
        snapshot, "leaders", **options, order_followers=order_followers
    )


def demote(
    snapshot: Snapshot,
    broker_ids: Iterable[int] | None = None,
    *,
    log_dirs: Iterable[str] = (),
    **options: Unpack[PlanOptions],
) -> PlanResult:
    """
    Plan to take leadership off brokers or log dirs; nothing is copied.

    Parameters
    ----------
    snapshot
        The cluster.
    broker_ids
        The brokers to demote.
    log_dirs
        Single log dirs to demote: ``4:/data/d1``.
    options
        See `PlanOptions`.

    Raises
    ------
    BadInputError
        If options are wrong for this cluster; has every problem.
    """
    return plan_operation(
        snapshot, "demote", **options, broker_list=broker_ids, log_dirs=log_dirs
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
    return plan_operation(snapshot, "log-dirs", **options, empty=empty)


def set_replication_factor(
    snapshot: Snapshot,
    factor: int | None = None,
    *,
    factors_file: str | PathLike[str] | None = None,
    **options: Unpack[MoveOptions],
) -> PlanResult:
    """
    Plan to add or remove replicas; those kept stay in place.

    Parameters
    ----------
    snapshot
        The cluster.
    factor
        Replication factor of the topics chosen by `topic`, `topics` and
        `exclude_topics`, else of all.
    factors_file
        TOML or JSON file of factors, with regular expressions of their topics; it
        precedes `factor`.
    options
        See `MoveOptions`.

    Raises
    ------
    BadInputError
        If options are wrong for this cluster; has every problem.
    """
    return plan_operation(
        snapshot,
        "set-replication-factor",
        **options,
        replication_factor=factor,
        replication_factors=factors_file,
    )


def fix(
    snapshot: Snapshot,
    *,
    only: Iterable[str] = (),
    lost: Iterable[int] = (),
    **options: Unpack[MoveOptions],
) -> PlanResult:
    """
    Plan to repair broken placements by the fewest copies; nothing else moves.

    Parameters
    ----------
    snapshot
        The cluster.
    only
        Repairs to make: ``offline``, ``racks``, ``log-dirs``, ``replication-factor``;
        all of them if empty.
    lost
        Ids of brokers that are not live and will not come back.
    options
        See `MoveOptions`.

    Raises
    ------
    BadInputError
        If options are wrong for this cluster; has every problem.
    """
    return plan_operation(
        snapshot,
        "fix",
        **options,
        only=only,
        lost=lost,
    )
