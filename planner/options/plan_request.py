"""Options of a plan, and their conversion to settings of `placement`."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from placement.draft.draft import DEFAULT_THRESHOLDS, Settings
from placement.model.cluster import ClusterState
from placement.model.load import RESOURCES, Resource
from placement.model.targets import DEFAULT_BAND
from placement.waves.wave_settings import Order, WaveSettings
from planner.options.new_brokers import NewBroker, read_new_brokers, with_new_brokers
from planner.options.operation_options import OwnOptions, OwnWishes, read_own
from planner.options.option_reader import OptionReader
from planner.options.rule_options import (
    RuleRequest,
    RuleWishes,
    preset_band,
    read_rules,
)
from planner.options.wave_settings import settings_document

BROKER_LISTS = (
    "destination_broker_list",
    "exclude_brokers_for_replicas",
    "exclude_brokers_for_leaders",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanRequest:
    """
    Options of a plan, as given (docs/rules.md describes each).

    Parameters
    ----------
    goal
        Name of the operation.
    broker_list
        Ids of the brokers that the operation concerns, or `None`.
    band, capacity_threshold
        ``RESOURCE=FRACTION`` texts; a band may also be a fraction for all resources.
    resources
        Names of resources joined by commas, or `None`.
    topic, topics, exclude_topics
        Names of topics, and regular expressions that match whole names.
    destination_broker_list, exclude_brokers_for_replicas, exclude_brokers_for_leaders
        Broker lists such as ``1,2,5-9``.
    rebalance
        Whether the operation may also make moves that it does not require.
    max_moves, max_bytes, max_cross_rack_bytes
        Caps on the number of copies, on their bytes, and on the bytes copied across
        racks; bytes with or without a unit.
    prefer, move_cost_bytes
        ``bytes`` or ``moves``, and the price of a move in bytes.
    topic_slack
        Replicas of a topic that a broker may get above its share of the topic; or
        `None`.
    transient_disk
        Whether replicas that leave a disk count there until all copies are done.
    effort, seed
        Amount of work of the search, and seed of its random numbers.
    deadline
        Seconds after which the search returns its incumbent, or `None`.
    waves
        Whether the plan is divided into waves; any of the next options implies it.
    max_moves_in, max_moves_out, max_moves_per_broker
        Caps on the copies that a broker receives, sends, and both together, in a wave;
        `None`: 5, 5 and no cap.
    max_moves_per_partition
        Cap on the replicas that a partition gets in a wave; `None`: 1.
    bandwidth
        Rate at which a broker sends, and receives, copies, such as ``50MB/s``; or
        `None`.
    order
        Order of the copies; `None`: the shortest first.
    order_followers
        Whether `leaders` may reorder any list to spread the next leaders.
    own
        Options of this operation alone.
    empty
        Log dirs that `log-dirs` empties: ``3:/data/d1``.
    with_log_dirs
        Whether a log dir is also chosen for each copy; `None`: only if the broker's own
        choice would overfill one.
    rules
        Options of optional rules.
    """

    goal: str
    broker_list: str | None = None
    band: Sequence[str] = ()
    capacity_threshold: Sequence[str] = ()
    resources: str | None = None
    topic: Sequence[str] = ()
    topics: str | None = None
    exclude_topics: str | None = None
    destination_broker_list: str | None = None
    exclude_brokers_for_replicas: str | None = None
    exclude_brokers_for_leaders: str | None = None
    rebalance: bool = False
    max_moves: int | None = None
    max_bytes: str | None = None
    max_cross_rack_bytes: str | None = None
    prefer: str = "bytes"
    move_cost_bytes: str | None = None
    effort: str = "normal"
    seed: int = 1
    topic_slack: int | None = 2
    transient_disk: bool = False
    deadline: float | None = None
    waves: bool = False
    max_moves_in: int | None = None
    max_moves_out: int | None = None
    max_moves_per_broker: int | None = None
    max_moves_per_partition: int | None = None
    bandwidth: str | None = None
    order: str | None = None
    order_followers: bool = False
    own: OwnOptions = field(default_factory=OwnOptions)
    empty: Sequence[str] = ()
    with_log_dirs: bool | None = None
    rules: RuleRequest = field(default_factory=RuleRequest)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Wishes:
    """
    Options of a plan, parsed for one cluster.

    Parameters
    ----------
    broker_ids
        Ids of ``--broker-list``; `None` if not given.
    settings
        Settings for `placement.planning.plan`.
    document
        Entries of plan.json under `settings`.
    request
        Options as given, for those of a single operation.
    waves
        Settings of the waves; `None`: no waves.
    state
        The cluster, including new brokers.
    arrivals
        The new brokers.
    own
        Parsed options of this operation alone.
    """

    broker_ids: tuple[int, ...] | None
    settings: Settings
    document: dict[str, Any]
    request: PlanRequest
    state: ClusterState
    arrivals: tuple[NewBroker, ...] = ()
    waves: WaveSettings | None = None
    own: OwnWishes = field(default_factory=OwnWishes)


def check_request(request: PlanRequest, state: ClusterState | None) -> None:
    """
    Check the options of a plan without using them.

    Parameters
    ----------
    request
        The options.
    state
        The cluster; `None`: brokers and topics are not looked up.

    Raises
    ------
    BadInputError
        With every option that is wrong.
    """
    reader = OptionReader(state)
    arrivals = read_new_brokers(reader, request.own.new_broker)
    if state is not None:
        reader.state = with_new_brokers(state, arrivals)
    read_options(reader, request)
    _excluded_topics(reader, request)
    reader.raise_problems()


def read_request(request: PlanRequest, state: ClusterState) -> Wishes:
    """
    Parse the options of a plan for one cluster.

    Raises
    ------
    BadInputError
        With every option that is wrong.
    """
    reader = OptionReader(state)
    arrivals = read_new_brokers(reader, request.own.new_broker)
    state = reader.state = with_new_brokers(state, arrivals)
    read = read_options(reader, request)
    excluded = _excluded_topics(reader, request)
    reader.raise_problems()
    destination = read.lists["destination_broker_list"]
    band = preset_band(request.rules) or DEFAULT_BAND
    settings = Settings(
        bands={r: read.bands.get(r, band) for r in RESOURCES},
        resources=read.resources,
        capacity_thresholds={**DEFAULT_THRESHOLDS, **read.thresholds},
        destination_brokers=None if destination is None else frozenset(destination),
        excluded_for_replicas=read.listed("exclude_brokers_for_replicas"),
        excluded_for_leaders=read.listed("exclude_brokers_for_leaders"),
        excluded_topics=excluded,
        frees_the_rest=request.rebalance,
        max_moves=read.max_moves,
        max_bytes=read.max_bytes,
        max_cross_rack_bytes=read.max_cross_rack_bytes,
        prefers_moves=request.prefer == "moves",
        price_per_move_bytes=read.move_cost_bytes or 0,
        effort=request.effort,
        seed=request.seed,
        names_log_dirs=request.with_log_dirs,
        is_disk_transient=request.transient_disk,
        topic_slack=request.topic_slack,
        deadline_s=read.deadline_s,
    )
    settings = read.rules.applied(settings)
    return Wishes(
        broker_ids=read.broker_ids,
        settings=settings,
        document=_document(request, settings, read.broker_ids, read.lists)
        | {"waves": settings_document(read.waves)}
        | dict(read.rules.document)
        | read.own.document
        | _arrivals_document(request),
        request=request,
        state=state,
        arrivals=tuple(arrivals),
        waves=read.waves,
        own=read.own,
    )


def _arrivals_document(request: PlanRequest) -> dict[str, Any]:
    """Return the entries of plan.json for new brokers, if there are any."""
    texts = request.own.new_broker
    return {"new_broker": list(texts)} if texts else {}


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class ReadOptions:
    """Options of a request, each parsed by itself."""

    broker_ids: tuple[int, ...] | None
    bands: dict[Resource, float]
    thresholds: dict[Resource, float]
    resources: tuple[Resource, ...] | None
    lists: dict[str, tuple[int, ...] | None]
    waves: WaveSettings | None
    max_moves: int | None
    max_bytes: int | None
    max_cross_rack_bytes: int | None
    move_cost_bytes: int | None
    deadline_s: float | None
    own: OwnWishes
    rules: RuleWishes

    def listed(self, name: str) -> frozenset[int]:
        """Return the brokers of a list; empty if it is not given."""
        return frozenset(self.lists[name] or ())


def read_options(reader: OptionReader, request: PlanRequest) -> ReadOptions:
    """Parse the options one by one; the reader keeps the problems."""
    broker_ids = reader.brokers("--broker-list", request.broker_list)
    bands = reader.bands(request.band)
    thresholds = reader.thresholds(request.capacity_threshold)
    return ReadOptions(
        broker_ids=broker_ids,
        bands=bands,
        thresholds=thresholds,
        resources=reader.resources(request.resources),
        lists={
            name: reader.brokers("--" + name.replace("_", "-"), getattr(request, name))
            for name in BROKER_LISTS
        },
        waves=_waves(reader, request, thresholds),
        max_moves=reader.count("--max-moves", request.max_moves),
        max_bytes=reader.bytes_of("--max-bytes", request.max_bytes),
        max_cross_rack_bytes=reader.bytes_of(
            "--max-cross-rack-bytes", request.max_cross_rack_bytes
        ),
        move_cost_bytes=reader.bytes_of("--move-cost-bytes", request.move_cost_bytes),
        deadline_s=reader.seconds("--deadline", request.deadline),
        own=read_own(reader, request.goal, request.own),
        rules=read_rules(reader, request.rules),
    )


def _waves(
    reader: OptionReader, request: PlanRequest, thresholds: dict[Resource, float]
) -> WaveSettings | None:
    """Return the settings of waves; `None` if no option asks for waves."""
    caps = {
        "max_in": ("--max-moves-in", request.max_moves_in),
        "max_out": ("--max-moves-out", request.max_moves_out),
        "max_shared": ("--max-moves-per-broker", request.max_moves_per_broker),
        "max_per_partition": (
            "--max-moves-per-partition",
            request.max_moves_per_partition,
        ),
    }
    options = {
        **{name: _cap(reader, *given) for name, given in caps.items()},
        "bandwidth_bytes_per_s": reader.rate("--bandwidth", request.bandwidth),
        "order": _order(reader, request.order),
    }
    given = {name: value for name, value in options.items() if value is not None}
    if not given and not request.waves:
        return None
    if reader.problems:
        return None
    limits = {**DEFAULT_THRESHOLDS, **thresholds}
    return WaveSettings(**given, thresholds=limits)  # type: ignore[arg-type] # by name


def _cap(reader: OptionReader, option: str, value: int | None) -> int | None:
    if value is not None and value < 1:
        reader.refuse(option, value, "must be 1 or more", "give 5, or leave it out")
    return value


def _order(reader: OptionReader, text: str | None) -> Order | None:
    if text is None or text in {*Order}:
        return None if text is None else Order(text)
    reader.refuse(
        "--order", text, "must be an order of copies", f"one of {', '.join(Order)}"
    )
    return None


def _excluded_topics(reader: OptionReader, request: PlanRequest) -> Any:  # noqa: ANN401
    """Return ``(T,)`` true for excluded topics; `None` if there is none."""
    named = reader.names(request.topic)
    wanted = reader.pattern("--topics", request.topics)
    unwanted = reader.pattern("--exclude-topics", request.exclude_topics)
    if (not named and wanted is None and unwanted is None) or reader.state is None:
        return None
    chosen = named or wanted is not None
    return np.array(
        [
            bool(
                (
                    chosen
                    and name not in named
                    and not (wanted and wanted.fullmatch(name))
                )
                or (unwanted and unwanted.fullmatch(name))
            )
            for name in reader.state.topics.names
        ],
        dtype=np.bool_,
    )


def _document(
    request: PlanRequest,
    settings: Settings,
    broker_ids: tuple[int, ...] | None,
    lists: dict[str, tuple[int, ...] | None],
) -> dict[str, Any]:
    """Return the settings that affect the plan: no paths, no threads."""
    document: dict[str, Any] = {
        "band": {str(r): settings.bands[r] for r in RESOURCES},
        "resources": None
        if settings.resources is None
        else [str(r) for r in settings.resources],
        "capacity_threshold": {
            str(r): value for r, value in settings.capacity_thresholds.items()
        },
        "broker_list": None if broker_ids is None else sorted(broker_ids),
    }
    for name, ids in lists.items():
        document[name] = None if ids is None else sorted(ids)
    if request.goal == "leaders":
        document["order_followers"] = request.order_followers
    if request.goal == "log-dirs":
        document["empty"] = sorted(request.empty)
    if request.with_log_dirs is not None:
        document["with_log_dirs"] = request.with_log_dirs
    return document | {
        "topic": sorted(request.topic),
        "topics": request.topics,
        "exclude_topics": request.exclude_topics,
        "max_moves": settings.max_moves,
        "max_bytes": settings.max_bytes,
        "max_cross_rack_bytes": settings.max_cross_rack_bytes,
        "prefer": request.prefer,
        "move_cost_bytes": settings.price_per_move_bytes or None,
        "rebalance": request.rebalance,
        "topic_slack": request.topic_slack,
        "transient_disk": request.transient_disk,
        "deadline": settings.deadline_s,
        "effort": request.effort,
        "seed": request.seed,
    }
