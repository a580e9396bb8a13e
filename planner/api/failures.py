"""Failures from Python: a loss in stages, or every single and double failure."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import numpy as np

from placement.failures.failover import CARRIED_COLUMNS, ON_RETURN
from placement.failures.failure_domains import DomainKind
from placement.failures.failure_outlook import Outlook
from placement.failures.failure_table import Failures
from placement.failures.partition_damage import KINDS
from placement.failures.survivor_loads import HELD_COLUMNS
from placement.model.cluster import ABSENT, ClusterState
from placement.model.load import RESOURCES, UNIT_ROW, Resource
from planner.api.errors import named_as_arguments, required
from planner.api.result import without_command
from planner.api.table import Screen, Table
from planner.failures.all_failures import (
    AllFailures,
    compute_all_failures,
    knows,
)
from planner.failures.failure_records import PartitionRecord
from planner.failures.failure_request import FailuresRequest, read_failures_request
from planner.failures.failure_scenario import Scenario, partitions_of, play
from planner.failures.failures_document import to_document
from planner.failures.failures_screen import all_failures_screen
from planner.failures.loss_document import to_document as loss_document
from planner.failures.loss_screen import scenario_screen
from planner.snapshot import Snapshot

NAMES = {"broker": "brokers", "rack": "racks", "log_dir": "log_dirs"}
"""Arguments by the names of the options of the command."""
HELD = tuple(RESOURCES[r] for r in HELD_COLUMNS)
TOP = 5


@dataclass(frozen=True, eq=False, repr=False)
class FailuresResult(Screen):
    """
    Losses of every broker, log dir and rack, one and two at a time.

    Parameters
    ----------
    every
        Figures of the losses.
    """

    every: AllFailures

    @property
    def survives(self) -> Mapping[str, bool | None]:
        """Whether any one domain of a kind may be lost, by kind; `None`: unknown."""
        return {str(kind): self.every.survives(kind) for kind in DomainKind}

    @property
    def is_ok(self) -> bool:
        """Whether any one broker and any one rack may be lost."""
        return self.every.is_survived

    @cached_property
    def document(self) -> Mapping[str, Any]:
        """The document that `failures --format json` prints."""
        return to_document(self.every, top=TOP, now=datetime.now(UTC))

    @cached_property
    def table(self) -> Table:
        """
        A row for each single failure, by kind, the worst first.

        Columns: `kind`, `lost` and `and_lost` (of pairs); numbers of partitions that
        become `offline`, `gone`, `under_min_isr`, `at_min_isr`, `under_replicated`;
        `leaders_moved`; for `out`, `cpu` and `leaders` the load of the busiest survivor
        during the loss (``out_most``: a fraction if capacities are known), its id
        (``out_broker``), and `pushed_over_threshold`; the same of out while all
        followers fetch again (``out_on_return_most``, …, `over_threshold_on_return`);
        lower bounds on the fullest broker after all is rebuilt, ``disk_rebuilt`` and
        ``in_rebuilt``; `rebuilt_bytes`, `rebuild_s`, and the `unplaced_replicas` that
        no broker is left to hold; and whether the cluster `survives`. Unknown values
        are null.
        """
        return self._table(self.every.singles)

    @cached_property
    def pairs(self) -> Table:
        """The same columns for each examined pair of brokers, racks or log dirs."""
        return self._table(self.every.pairs)

    def _table(self, found: Mapping[DomainKind, Failures]) -> Table:
        import pyarrow as pa

        given = self.every.given
        parts = [_columns(given, kind, each) for kind, each in found.items()]
        tables = [pa.table(columns) for columns in parts if len(columns["lost"])]
        return Table(pa.concat_tables(tables) if tables else self._nothing())

    def _nothing(self) -> Any:  # noqa: ANN401 - pyarrow has no types
        """Return a table with the columns and without rows."""
        import pyarrow as pa

        kind, found = next(iter(self.every.singles.items()))
        return pa.table(_columns(self.every.given, kind, found)).slice(0, 0)

    def __repr__(self) -> str:
        now = datetime.now(UTC)
        lines = all_failures_screen(self.every, Path("snapshot"), TOP, now=now)
        return without_command(lines)


def _columns(given: Outlook, kind: DomainKind, found: Failures) -> dict[str, Any]:
    """Return failures as columns, the worst first."""
    state, order = given.state, found.ranked()
    sized = 1.0 if knows(given, Resource.DISK) else np.nan
    domains = [found.domains.name(state, d) for d in range(len(found.domains))]
    names = np.array([*domains, None], dtype=object)
    columns: dict[str, Any] = {
        "kind": [str(kind)] * len(order),
        # `ABSENT` is -1, the index of the last name, which is `None`.
        "lost": names[found.first[order]].tolist(),
        "and_lost": _texts(names[found.second[order]].tolist()),
        **{name: found.damage[name][order] for name in KINDS},
        "leaders_moved": found.leaders_moved[order],
        "pushed_over_threshold": found.peaks.num_over[order],
        "over_threshold_on_return": found.peaks.num_over_on_return[order],
        "rebuilt_bytes": _counts(found.rebuilt_bytes[order], is_known=sized == 1),
        "rebuild_s": _numbers(found.rebuild_s[order] * sized),
        "unplaced_replicas": found.unplaced[order],
        "survives": (found.is_survived & ~found.is_overfull)[order],
    }
    for y, r in enumerate(CARRIED_COLUMNS):
        resource = RESOURCES[r]
        name = f"{resource}_on_return" if y == ON_RETURN else str(resource)
        is_known = knows(given, resource)
        broker = np.where(is_known, found.peaks.broker_idx[order, y], ABSENT)
        unit = 1.0 if found.scale.is_use[r] else float(UNIT_ROW[r])
        scale = np.where(found.scale.is_use[r], 1.0, found.scale.unit[broker, r] / unit)
        most = found.peaks.value[order, y] * scale
        columns[f"{name}_most"] = _numbers(np.where(is_known, most, np.nan))
        columns[f"{name}_broker"] = _ids(state, broker)
    for y, resource in enumerate(HELD):
        is_known = found.scale.is_use[HELD_COLUMNS[y]] and knows(given, resource)
        level = np.where(is_known, found.levels[order, y], np.nan)
        columns[f"{resource}_rebuilt"] = _numbers(level)
    return columns


def _counts(values: Any, *, is_known: bool) -> Any:  # noqa: ANN401 - pyarrow has no types
    import pyarrow as pa

    return pa.array(values, type=pa.int64(), mask=np.full(len(values), not is_known))


def _texts(values: list[str | None]) -> Any:  # noqa: ANN401 - pyarrow has no types
    import pyarrow as pa

    return pa.array(values, type=pa.string())


def _numbers(values: Any) -> Any:  # noqa: ANN401 - pyarrow has no types
    """Return numbers as a column, null where they are not finite."""
    import pyarrow as pa

    return pa.array(values, type=pa.float64(), mask=~np.isfinite(values))


def _ids(state: ClusterState, rows: Any) -> Any:  # noqa: ANN401 - pyarrow has no types
    import pyarrow as pa

    ids = np.append(state.brokers.ids, ABSENT)[rows]
    return pa.array(ids, type=pa.int32(), mask=np.equal(rows, ABSENT))


@dataclass(frozen=True, eq=False, repr=False)
class LossResult(Screen):
    """
    Stages of one loss: now, lost, returned, elected.

    Parameters
    ----------
    scenario
        Figures of the losses.
    """

    scenario: Scenario

    @property
    def is_ok(self) -> bool:
        """Whether partitions, thresholds and the quorum all survive the loss."""
        return self.scenario.is_survived

    @cached_property
    def document(self) -> Mapping[str, Any]:
        """The document that `failures --broker 7 --format json` prints."""
        return loss_document(self.scenario, now=datetime.now(UTC))

    @cached_property
    def stages(self) -> Table:
        """
        A row per stage.

        Columns: `stage`; partitions `offline`, `gone`, `under_min_isr`, `at_min_isr`,
        `under_replicated`, `leader_not_preferred`; and for `out`, `cpu` and `leaders`
        the busiest live broker, ``out_broker``, with its load, ``out_load``.
        """
        import pyarrow as pa

        stages = self.document["stages"].items()
        return Table(pa.Table.from_pylist([_stage(*each) for each in stages]))

    @cached_property
    def partitions(self) -> Table:
        """
        A row for each partition that loses a replica, the worst first.

        Columns: `topic`, `partition`, `state`, `replicas`, `leader_before`, `leader`,
        `leader_returned`, `isr`, `elr`, `unclean_leader`, `unclean_lost_bytes`.
        """
        import pyarrow as pa

        fields = {"topic": "string", "partition": "int32", "state": "string"}
        leaders = ("leader_before", "leader", "leader_returned")
        lists = {"replicas": pa.list_(pa.int32()), "isr": pa.list_(pa.int32())}
        schema = pa.schema(
            {
                **{name: pa.type_for_alias(kind) for name, kind in fields.items()},
                **dict.fromkeys(leaders, pa.int32()),
                **lists,
                "elr": pa.list_(pa.int32()),
                "unclean_leader": pa.int32(),
                "unclean_lost_bytes": pa.int64(),
            }
        )
        rows = [_partition(row) for row in partitions_of(self.scenario, None)]
        return Table(pa.Table.from_pylist(rows, schema=schema))

    def cluster(self, stage: Literal["now", "lost", "returned", "elected"]) -> Snapshot:
        """
        Return the cluster at a stage; after a loss of brokers the quorum is unknown.

        Raises
        ------
        KeyError
            If there is no such stage.
        """
        state, now = self.scenario.stages[stage], self.scenario.now
        has_lost = bool((now.brokers.is_live & ~state.brokers.is_live).any())
        return self.scenario.snapshot.with_state(state, has_lost=has_lost)

    def __repr__(self) -> str:
        lines = scenario_screen(
            self.scenario, Path("snapshot"), has_unclean=True, now=datetime.now(UTC)
        )
        return without_command(lines)


def _stage(name: str, found: Mapping[str, Any]) -> dict[str, Any]:
    counts = {key: value for key, value in found.items() if key != "busiest"}
    loads = {
        f"{resource}_{key}": (each or {}).get(key)
        for resource, each in found["busiest"].items()
        for key in ("broker", "load")
    }
    return {"stage": name, **counts, **loads}


def _partition(row: PartitionRecord) -> dict[str, Any]:
    unclean = row.unclean
    return row.model_dump(exclude={"unclean"}) | {
        "unclean_leader": None if unclean is None else unclean.leader,
        "unclean_lost_bytes": None if unclean is None else unclean.lost_bytes_at_least,
    }


def try_failures(
    snapshot: Snapshot,
    *,
    pairs: bool = True,
    bandwidth: str | int = "50MB/s",
    capacity_threshold: Mapping[str, float] | None = None,
    sample: int = 200_000,
    seed: int = 1,
) -> FailuresResult:
    """
    Simulate the loss of every broker, log dir and rack, and of every pair.

    Parameters
    ----------
    snapshot
        The cluster.
    pairs
        Whether pairs are lost too.
    bandwidth
        Rate at which a broker sends, and receives, rebuilt replicas.
    capacity_threshold
        Fraction of each capacity that may be used, by resource.
    sample, seed
        Number of pairs drawn if there are more than 2,000 of a kind, and its seed.

    Raises
    ------
    BadInputError
        If options are wrong; has every problem.

    Examples
    --------
    >>> import planner
    >>> from planner.demo import SNAPSHOT_FILE
    >>> found = planner.try_failures(planner.read_snapshot(SNAPSHOT_FILE))
    >>> found.survives["broker"], found.table.to_rows()[0]["lost"]
    (False, '2')
    """
    state = required(snapshot).to_state()
    request = FailuresRequest(
        bandwidth=str(bandwidth), capacity_threshold=capacity_threshold or ()
    )
    with named_as_arguments():
        resolved = read_failures_request(request, snapshot, state)
    every = compute_all_failures(
        snapshot, state, resolved, has_pairs=pairs, sample=sample, seed=seed
    )
    return FailuresResult(every)


def lose(
    snapshot: Snapshot,
    *,
    brokers: Iterable[int] = (),
    racks: Iterable[str] = (),
    log_dirs: Iterable[str] = (),
    clean_shutdown: bool = False,
    eligible_leader_replicas: bool | None = None,
    bandwidth: str | int = "50MB/s",
    capacity_threshold: Mapping[str, float] | None = None,
) -> LossResult:
    """
    Simulate a loss, the return, and the election of preferred leaders.

    Parameters
    ----------
    snapshot
        The cluster.
    brokers, racks, log_dirs
        Lost domains, in this order; log dirs as ``"4:/data/d1"``.
    clean_shutdown
        Whether brokers are stopped in order instead of killed.
    eligible_leader_replicas
        Whether the feature is on (KIP-966); by default as in the snapshot.
    bandwidth, capacity_threshold
        As in `try_failures`.

    Raises
    ------
    BadInputError
        If arguments are wrong; has every problem.
    ValueError
        If nothing is lost.

    Examples
    --------
    >>> import planner
    >>> from planner.demo import SNAPSHOT_FILE
    >>> lost = planner.lose(planner.read_snapshot(SNAPSHOT_FILE), brokers=[7])
    >>> lost.is_ok, lost.document["binding"]["broker"]
    (True, 2)
    """
    state = required(snapshot).to_state()
    elr = {None: None, True: "on", False: "off"}[eligible_leader_replicas]
    request = FailuresRequest(
        broker=_id_texts(brokers),
        rack=_names(racks),
        log_dir=_names(log_dirs),
        bandwidth=str(bandwidth),
        capacity_threshold=capacity_threshold or (),
        elr=elr,
    )
    with named_as_arguments(NAMES):
        resolved = read_failures_request(request, snapshot, state)
    if resolved.loss is None:
        msg = "nothing is lost: give brokers, racks or log_dirs"
        raise ValueError(msg)
    return LossResult(
        play(snapshot, state, resolved, resolved.loss, is_crash=not clean_shutdown)
    )


def _id_texts(given: Iterable[int] | int) -> tuple[str, ...]:
    """Return broker ids as texts; a number is one id."""
    return (str(given),) if isinstance(given, int) else tuple(map(str, given))


def _names(given: Iterable[str]) -> tuple[str, ...]:
    """Return names; a text is one name, not its letters."""
    return (given,) if isinstance(given, str) else tuple(given)
