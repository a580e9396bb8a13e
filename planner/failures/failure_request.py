"""Options of `failures`, parsed for one snapshot."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from placement.array_types import BoolArray, IndexArray
from placement.draft.draft import DEFAULT_THRESHOLDS
from placement.failures.automatic_election import (
    DEFAULT_PERCENTAGE,
    FIRST_WITHOUT_THRESHOLD,
)
from placement.failures.controller_decision import ElectionRules
from placement.failures.controller_events import Loss
from placement.model.cluster import ABSENT, ClusterState
from placement.model.load import Resource
from planner.errors import InputProblem, raise_problems
from planner.kafka_releases import Release, oldest_release, release_of
from planner.options.declared.broker_lists import parse_broker_list
from planner.options.declared.option import Problems
from planner.options.declared.value_readers import (
    GivenFractions,
    read_fractions,
    read_rate,
)
from planner.snapshot.snapshot_document import Snapshot
from planner.text.suggest import near

UNCLEAN = "unclean.leader.election.enable"
ELR_FEATURE = "eligible.leader.replicas.version"
DEFAULT_BANDWIDTH = "50MB/s"


@dataclass(frozen=True, slots=True, kw_only=True)
class FailuresRequest:
    """
    Options of `failures`, unparsed.

    Parameters
    ----------
    broker, rack, log_dir
        Lost brokers as lists of ids, lost racks by name, lost log dirs as ``ID:PATH``.
        Without any, every single failure is computed.
    bandwidth
        Rate at which a broker sends, and at which it receives, copies of replicas.
    capacity_threshold
        ``RESOURCE=FRACTION`` texts, or fractions by resource.
    elr
        Whether eligible leader replicas are in use: ``on``, ``off``, or `None` for the
        feature of the snapshot.
    """

    broker: Sequence[str] = ()
    rack: Sequence[str] = ()
    log_dir: Sequence[str] = ()
    bandwidth: str = DEFAULT_BANDWIDTH
    capacity_threshold: GivenFractions = ()
    elr: str | None = None


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class FailuresOptions:
    """
    Options of `failures`, parsed for one snapshot.

    Parameters
    ----------
    loss
        Lost brokers and log dirs; `None` computes every single failure.
    names
        Names of the lost parts for screens, such as ``broker 7``.
    rules
        Rules by which Kafka elects leaders.
    thresholds
        Largest allowed use of each capacity, as a fraction above 0 up to 1.
    bandwidth_bytes_per_s
        Rate in bytes/s at which a broker sends, and at which it receives, copies.
    version
        Major and minor version of Kafka; `None` where unknown.
    is_automatic, percentage
        Whether Kafka elects preferred leaders automatically, and the threshold in
        percent that Kafka up to 3.9 applies.
    """

    loss: Loss | None
    names: tuple[str, ...]
    rules: ElectionRules
    thresholds: Mapping[Resource, float]
    bandwidth_bytes_per_s: int
    version: Release | None
    is_automatic: bool
    percentage: float


class _Reader:
    """Parser of the lost parts, one by one, which collects every problem."""

    def __init__(self, state: ClusterState) -> None:
        self.state = state
        self.problems: list[InputProblem] = []

    def refuse(self, option: str, value: str, rule: str, remedy: str) -> None:
        self.problems.append(InputProblem.of_option(option, value, rule, remedy))

    def brokers(self, texts: Sequence[str]) -> list[int]:
        """Return the rows of the brokers in the order of the lists."""
        rows: list[int] = []
        for text in texts:
            try:
                ids = parse_broker_list(text)
            except ValueError as error:
                remedy = "write ids and ranges: 1,2,5-9"
                self.refuse("--broker", text, str(error), remedy)
                continue
            found = self.state.brokers.rows_of(ids)
            unknown = [i for i, row in zip(ids, found, strict=True) if row == ABSENT]
            if unknown:
                value = ",".join(map(str, unknown))
                rule = "brokers must be in the snapshot"
                remedy = near(unknown[0], self.state.brokers.ids)
                self.refuse("--broker", value, rule, remedy)
            rows += [int(row) for row in found if row != ABSENT]
        return rows

    def racks(self, names: Sequence[str]) -> list[int]:
        """Return the rows of the brokers in the racks."""
        known = [rack for rack in self.state.brokers.racks if rack is not None]
        rows: list[int] = []
        for name in names:
            if name not in known:
                rule = "racks must be in the snapshot"
                self.refuse("--rack", name, rule, near(name, known))
                continue
            in_rack = np.equal(self.state.brokers.rack_idx, known.index(name))
            rows += np.nonzero(in_rack)[0].tolist()
        return rows

    def log_dirs(self, texts: Sequence[str]) -> list[int]:
        """Return the rows of log dirs, which are given as ``ID:PATH``."""
        dirs = self.state.log_dirs
        owners = self.state.brokers.ids[dirs.broker_idx].tolist()
        names = [f"{b}:{path}" for b, path in zip(owners, dirs.paths, strict=True)]
        rows = []
        for text in texts:
            if text in names:
                rows.append(names.index(text))
            else:
                rule = "log dirs must be in the snapshot, as ID:PATH"
                self.refuse("--log-dir", text, rule, near(text, names))
        return rows


def read_failures_request(
    request: FailuresRequest, snapshot: Snapshot, state: ClusterState
) -> FailuresOptions:
    """
    Parse the options for one snapshot.

    Raises
    ------
    BadInputError
        If any option is invalid; names every problem.
    """
    reader = _Reader(state)
    brokers = dict.fromkeys([*reader.brokers(request.broker)])
    brokers |= dict.fromkeys(reader.racks(request.rack))
    dirs = dict.fromkeys(reader.log_dirs(request.log_dir))
    limits, rate = Problems("--capacity-threshold"), Problems("--bandwidth")
    thresholds = read_fractions(request.capacity_threshold, limits)
    bandwidth = read_rate(request.bandwidth, rate)
    raise_problems("bad options", [*reader.problems, *limits.found, *rate.found])
    assert bandwidth is not None  # noqa: S101 - else there was a problem
    has_loss = bool(request.broker or request.rack or request.log_dir)
    loss = Loss(broker_idx=_rows(brokers), log_dir_idx=_rows(dirs))
    return FailuresOptions(
        loss=loss.with_stopped(state) if has_loss else None,
        names=_names_of(request),
        rules=election_rules(snapshot, state, elr=request.elr),
        thresholds=DEFAULT_THRESHOLDS
        | {Resource(name): value for name, value in thresholds.items()},
        bandwidth_bytes_per_s=bandwidth,
        version=_release_of(snapshot),
        is_automatic=snapshot.configs.get("auto.leader.rebalance.enable") != "false",
        percentage=_percentage(snapshot.configs),
    )


def _release_of(snapshot: Snapshot) -> Release | None:
    """Return the release of Kafka; `None` where only an older one is proven."""
    oldest = oldest_release(snapshot.kafka_version, snapshot.features)
    is_named = release_of(snapshot.kafka_version) is not None
    is_settled = oldest is not None and oldest >= FIRST_WITHOUT_THRESHOLD
    return oldest if is_named or is_settled else None


def _names_of(request: FailuresRequest) -> tuple[str, ...]:
    named = {
        "broker": request.broker,
        "rack": request.rack,
        "log dir": request.log_dir,
    }
    names = [f"{kind} {text}" for kind, texts in named.items() for text in texts]
    return tuple(dict.fromkeys(names))


def _rows(rows: Mapping[int, None]) -> IndexArray:
    return np.array(list(rows), dtype=np.int32)


def _percentage(configs: Mapping[str, str]) -> float:
    text = configs.get("leader.imbalance.per.broker.percentage", "")
    return float(text) if text.isdigit() else DEFAULT_PERCENTAGE


def election_rules(
    snapshot: Snapshot, state: ClusterState, *, elr: str | None = None
) -> ElectionRules:
    """Return the rules of elections by the features and configs of a snapshot."""
    has_elr = snapshot.features.get(ELR_FEATURE, 0) > 0 if elr is None else elr == "on"
    return ElectionRules(has_elr=has_elr, is_unclean=_unclean(snapshot, state))


def _unclean(snapshot: Snapshot, state: ClusterState) -> BoolArray | None:
    """Return ``(T,)`` true for topics with unclean elections; `None` without any."""
    default = snapshot.configs.get(UNCLEAN, "false")
    enabled = [
        configs.get(UNCLEAN, default).lower() == "true"
        for configs in state.topics.configs
    ]
    return np.array(enabled, dtype=np.bool_) if any(enabled) else None
