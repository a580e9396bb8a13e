"""Plans from Python: one function per operation, with the options of the command."""

from collections.abc import Iterable
from typing import Any, Unpack

from planner.api.errors import named_as_arguments
from planner.api.result import PlanResult
from planner.api.rules import RuleOptions
from planner.options.declared.common_options import CommonKeywords
from planner.options.declared.plan_options import keyword_lines
from planner.options.declared.wave_options import WaveKeywords
from planner.options.plan_request import PlanRequest
from planner.plan.run.make_plan import make
from planner.snapshot import Snapshot

RENAMED = {"destination_brokers": "destination_broker_list"}
"""Declared names of options that are called otherwise in Python."""


class PlanOptions(RuleOptions, WaveKeywords, CommonKeywords, total=False):
    """
    Options of every plan as keywords, all of which may be left out.

    They mean what they mean on the command line; amounts are in bytes and bytes/s.
    """

    destination_brokers: Iterable[int]


PlanOptions.__doc__ = f"{PlanOptions.__doc__}\n{keyword_lines(PlanOptions, RENAMED)}"


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
