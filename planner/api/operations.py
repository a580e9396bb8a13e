"""Plans from Python for the operations on single brokers and on factors."""

from collections.abc import Iterable, Mapping
from os import PathLike
from typing import Unpack

from planner.api.plans import PlanOptions, plan_of
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
    Plan to put brokers in the places of others: same replicas, same positions.

    Parameters
    ----------
    snapshot
        The cluster.
    replacements
        Id of the new broker by that of the old one.
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
        "replace-broker",
        options,
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
        With every option that is wrong for this cluster.
    """
    return plan_of(
        snapshot, "demote", options, broker_ids=broker_ids, log_dirs=tuple(log_dirs)
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
    Plan to add copies, or to drop some; no copy that exists moves.

    Parameters
    ----------
    snapshot
        The cluster.
    factor
        Replication factor of the topics chosen by `topic`, `topics` and
        `exclude_topics`, else of all.
    factors_file
        TOML or JSON: factors, and regular expressions of the topics that get them;
        these go before `factor`.
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
        "set-replication-factor",
        options,
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
    Plan to mend what is broken by the fewest copies; nothing else moves.

    Parameters
    ----------
    snapshot
        The cluster.
    only
        Of ``offline``, ``racks``, ``log-dirs`` and ``replication-factor``; none: all.
    lost
        Ids of brokers that are not live and are taken as gone for good.
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
        "fix",
        options,
        only=tuple(only),
        lost=lost,
        rebalance=rebalance,
        with_log_dirs=with_log_dirs,
    )
