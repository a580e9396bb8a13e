"""Plans from Python: operations on single brokers and on replication factors."""

from collections.abc import Iterable, Mapping
from os import PathLike
from typing import Unpack

from planner.api.plans import PlanOptions, plan_operation
from planner.api.result import PlanResult
from planner.snapshot import Snapshot


def replace_broker(
    snapshot: Snapshot,
    replacements: Mapping[int, int],
    *,
    new_brokers: Iterable[str] = (),
    rebalance: bool = False,
    with_log_dirs: bool | None = None,
    **options: Unpack[PlanOptions],
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
    return plan_operation(
        snapshot,
        "replace-broker",
        **options,
        broker=tuple(replacements),
        with_broker=tuple(replacements.values()),
        new_broker=tuple(new_brokers),
        rebalance=rebalance,
        with_log_dirs=with_log_dirs,
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
        snapshot, "demote", **options, broker_list=broker_ids, log_dirs=tuple(log_dirs)
    )


def set_replication_factor(
    snapshot: Snapshot,
    factor: int | None = None,
    *,
    factors_file: str | PathLike[str] | None = None,
    rebalance: bool = False,
    with_log_dirs: bool | None = None,
    **options: Unpack[PlanOptions],
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
    return plan_operation(
        snapshot,
        "set-replication-factor",
        **options,
        replication_factor=factor,
        replication_factors=factors_file,
        rebalance=rebalance,
        with_log_dirs=with_log_dirs,
    )


def fix(
    snapshot: Snapshot,
    *,
    only: Iterable[str] = (),
    lost: Iterable[int] = (),
    rebalance: bool = False,
    with_log_dirs: bool | None = None,
    **options: Unpack[PlanOptions],
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
    return plan_operation(
        snapshot,
        "fix",
        **options,
        only=tuple(only),
        lost=lost,
        rebalance=rebalance,
        with_log_dirs=with_log_dirs,
    )
