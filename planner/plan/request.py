"""What the command line says about a plan, as settings of `placement`."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from placement.cluster import ClusterState
from placement.load import RESOURCES, Resource
from placement.rules.draft import DEFAULT_THRESHOLDS, Settings
from placement.targets import DEFAULT_BAND
from placement.waves.cut import Order, WaveSettings
from planner.errors import BadInputError, InputProblem
from planner.plan.waves import settings_document
from planner.units import parse_bytes, parse_rate

WIDEST_BAND = 10
MOST_MOVES = 2**62
MOST_BROKERS = 100_000
"""A range of broker ids longer than this is a slip of the pen."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanRequest:
    """
    The options of a plan, as given; see interface.md for each.

    Parameters
    ----------
    goal
        Name of the operation.
    broker_list
        Broker ids the operation is about, or `None`.
    band, capacity_threshold
        ``RESOURCE=FRACTION`` texts; a band may also be a fraction for all.
    resources
        Names joined by commas, or `None`.
    topic, topics, exclude_topics
        Names, and regular expressions that match whole names.
    destination_broker_list, exclude_brokers_for_replicas, exclude_brokers_for_leaders
        Broker lists such as ``1,2,5-9``.
    rebalance
        Whether the operation may also move what it need not.
    max_moves, max_bytes
        Caps on copies and on their bytes; bytes with or without a unit.
    prefer, move_cost_bytes
        ``bytes`` or ``moves``, and the price of a move in bytes.
    effort, seed
        How much work, and of which random numbers.
    waves
        Whether the plan is cut into waves; any of the next options asks for it too.
    max_moves_in, max_moves_out, max_moves_per_broker
        Copies that a broker gets, sends, and both together, in a wave; `None`: 5, 5
        and no such cap.
    bandwidth
        What a broker sends, and gets, such as ``50MB/s``; or `None`.
    order
        Which copies go first; or `None`: the shortest.
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
    prefer: str = "bytes"
    move_cost_bytes: str | None = None
    effort: str = "normal"
    seed: int = 1
    waves: bool = False
    max_moves_in: int | None = None
    max_moves_out: int | None = None
    max_moves_per_broker: int | None = None
    bandwidth: str | None = None
    order: str | None = None


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Wishes:
    """
    A request read for one cluster.

    Parameters
    ----------
    broker_ids
        Of ``--broker-list``; `None` where not given.
    settings
        For `placement.planning`.
    document
        What plan.json says under `settings`.
    waves
        How the plan is cut into waves; `None`: not at all.
    """

    broker_ids: tuple[int, ...] | None
    settings: Settings
    document: dict[str, Any]
    waves: WaveSettings | None = None


class _Reader:
    """Reads options one by one and keeps every problem."""

    def __init__(self, state: ClusterState) -> None:
        self.state = state
        self.problems: list[InputProblem] = []

    def refuse(self, option: str, value: object, rule: str, remedy: str) -> None:
        self.problems.append(
            InputProblem(
                file="command line",
                place=option,
                value=str(value),
                rule=rule,
                remedy=remedy,
            )
        )

    def brokers(self, option: str, text: str | None) -> tuple[int, ...] | None:
        if text is None:
            return None
        try:
            ids = parse_broker_list(text)
        except ValueError as error:
            self.refuse(option, text, str(error), "write ids and ranges: 1,2,5-9")
            return None
        rows = self.state.brokers.rows_of(ids)
        unknown = [i for i, row in zip(ids, rows, strict=True) if row < 0]
        if unknown:
            known = ",".join(map(str, self.state.brokers.ids.tolist()[:50]))
            self.refuse(
                option,
                ",".join(map(str, unknown)),
                "brokers must be in the snapshot",
                f"it has {known or 'none'}",
            )
        return ids

    def bytes_of(self, option: str, text: str | None) -> int | None:
        if text is None:
            return None
        try:
            return parse_bytes(text)
        except ValueError as error:
            self.refuse(option, text, str(error), "write 500GB, 2TiB or 1000000")
            return None

    def count(self, option: str, value: int | None) -> int | None:
        if value is not None and not 0 <= value < MOST_MOVES:
            rule = f"must be a number from 0 to {MOST_MOVES - 1}"
            self.refuse(option, value, rule, "leave it out for no cap")
        return value

    def bands(self, texts: Sequence[str]) -> dict[Resource, float]:
        """Read ``[RESOURCE=]FRACTION``; one without a name is for all others."""
        for_all: dict[Resource, float] = {}
        named: dict[Resource, float] = {}
        for text in texts:
            name, has_name, number = text.rpartition("=")
            value = _number(number)
            if value is None or not 0 <= value <= WIDEST_BAND:
                rule = f"must be a fraction from 0 to {WIDEST_BAND}"
                self.refuse("--band", text, rule, "write 0.10, or disk=0.05")
            elif not has_name:
                for_all = dict.fromkeys(RESOURCES, value)
            elif name in set(RESOURCES):
                named[Resource(name)] = value
            else:
                self._unknown_resource("--band", name)
        return for_all | named

    def rate(self, option: str, text: str | None) -> int | None:
        """Read a rate above 0."""
        if text is None:
            return None
        try:
            value = parse_rate(text)
        except ValueError as error:
            self.refuse(option, text, str(error), "write 50MB/s")
            return None
        if not value:
            self.refuse(option, text, "must be above 0", "write 50MB/s")
        return value

    def thresholds(self, texts: Sequence[str]) -> dict[Resource, float]:
        """Read ``RESOURCE=FRACTION`` of the resources that have capacities."""
        found: dict[Resource, float] = {}
        for text in texts:
            name, _, number = text.rpartition("=")
            value = _number(number)
            if name in DEFAULT_THRESHOLDS and value is not None and 0 < value <= 1:
                found[Resource(name)] = value
                continue
            known = ", ".join(DEFAULT_THRESHOLDS)
            rule = f"must be RESOURCE=FRACTION, of {known} and above 0 up to 1"
            self.refuse("--capacity-threshold", text, rule, "write disk=0.8")
        return found

    def resources(self, text: str | None) -> tuple[Resource, ...] | None:
        if text is None:
            return None
        names = [name.strip() for name in text.split(",")]
        for name in names:
            if name not in set(RESOURCES):
                self._unknown_resource("--resources", name)
        return tuple(resource for resource in RESOURCES if resource in names)

    def _unknown_resource(self, option: str, name: str) -> None:
        known = ", ".join(RESOURCES)
        self.refuse(option, name, "must name a resource", f"one of {known}")

    def pattern(self, option: str, text: str | None) -> re.Pattern[str] | None:
        if text is None:
            return None
        try:
            return re.compile(text)
        except re.error as error:
            rule = f"must be a regular expression: {error}"
            self.refuse(option, text, rule, "mend it; it matches whole names")
            return None

    def names(self, topics: Sequence[str]) -> set[str]:
        known = set(self.state.topics.names)
        for name in topics:
            if name not in known:
                rule = "topics must be in the snapshot"
                self.refuse("--topic", name, rule, "check the name")
        return set(topics)


def parse_broker_list(text: str) -> tuple[int, ...]:
    """
    Read a broker list: ids and ranges joined by commas.

    Raises
    ------
    ValueError
        If it is not one, or names a broker twice.

    Examples
    --------
    >>> parse_broker_list("1,5-7")
    (1, 5, 6, 7)
    """
    ids = read_broker_ids(text)
    if len(set(ids)) != len(ids):
        msg = "must name each broker once"
        raise ValueError(msg)
    return ids


def read_broker_ids(text: str) -> tuple[int, ...]:
    """
    Read ids and ranges joined by commas, one that is named twice included twice.

    Raises
    ------
    ValueError
        If it is no such list.
    """
    ids: list[int] = []
    for part in text.split(","):
        match = re.fullmatch(r"\s*(\d{1,10})(?:-(\d{1,10}))?\s*", part)
        if match is None:
            msg = "must be broker ids"
            raise ValueError(msg)
        low = int(match[1])
        high = int(match[2]) if match[2] is not None else low
        if high < low or high - low > MOST_BROKERS or high >= 2**31:
            msg = "ranges must ascend, ids must fit 32 bits"
            raise ValueError(msg)
        ids += range(low, high + 1)
    return tuple(ids)


def _number(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if np.isfinite(value) else None


def read_request(request: PlanRequest, state: ClusterState) -> Wishes:
    """
    Read the options of a plan for one cluster.

    Raises
    ------
    BadInputError
        With every option that is wrong.
    """
    reader = _Reader(state)
    broker_ids = reader.brokers("--broker-list", request.broker_list)
    bands = reader.bands(request.band)
    thresholds = reader.thresholds(request.capacity_threshold)
    resources = reader.resources(request.resources)
    excluded = _excluded_topics(reader, request)
    lists = {
        name: reader.brokers("--" + name.replace("_", "-"), getattr(request, name))
        for name in (
            "destination_broker_list",
            "exclude_brokers_for_replicas",
            "exclude_brokers_for_leaders",
        )
    }
    waves = _waves(reader, request, thresholds)
    max_moves = reader.count("--max-moves", request.max_moves)
    max_bytes = reader.bytes_of("--max-bytes", request.max_bytes)
    move_cost = reader.bytes_of("--move-cost-bytes", request.move_cost_bytes)
    if reader.problems:
        msg = "bad options"
        raise BadInputError(msg, reader.problems)
    destination = lists["destination_broker_list"]
    all_bands = {r: bands.get(r, DEFAULT_BAND) for r in RESOURCES}
    settings = Settings(
        bands=all_bands,
        resources=resources,
        capacity_thresholds={**DEFAULT_THRESHOLDS, **thresholds},
        destination_brokers=None if destination is None else frozenset(destination),
        excluded_for_replicas=frozenset(lists["exclude_brokers_for_replicas"] or ()),
        excluded_for_leaders=frozenset(lists["exclude_brokers_for_leaders"] or ()),
        excluded_topics=excluded,
        frees_the_rest=request.rebalance,
        max_moves=max_moves,
        max_bytes=max_bytes,
        prefers_moves=request.prefer == "moves",
        price_per_move_bytes=move_cost or 0,
        effort=request.effort,
        seed=request.seed,
    )
    return Wishes(
        broker_ids=broker_ids,
        settings=settings,
        document=_document(request, settings, broker_ids, lists)
        | {"waves": settings_document(waves)},
        waves=waves,
    )


def _waves(
    reader: _Reader, request: PlanRequest, thresholds: dict[Resource, float]
) -> WaveSettings | None:
    """Return how waves are cut, `None` where nothing asks for them."""
    options = {
        "max_in": request.max_moves_in,
        "max_out": request.max_moves_out,
        "max_shared": request.max_moves_per_broker,
        "bandwidth_bytes_per_s": reader.rate("--bandwidth", request.bandwidth),
        "order": None if request.order is None else Order(request.order),
    }
    given = {name: value for name, value in options.items() if value is not None}
    if not given and not request.waves:
        return None
    if reader.problems:
        return None
    disk = {**DEFAULT_THRESHOLDS, **thresholds}[Resource.DISK]
    return WaveSettings(**given, thresholds={Resource.DISK: disk})  # type: ignore[arg-type] # by name


def _excluded_topics(reader: _Reader, request: PlanRequest) -> Any:  # noqa: ANN401
    """Return ``(T,)`` true for topics left out, or `None` where all are in."""
    named = reader.names(request.topic)
    wanted = reader.pattern("--topics", request.topics)
    unwanted = reader.pattern("--exclude-topics", request.exclude_topics)
    if not named and wanted is None and unwanted is None:
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
    """Return what changes the plan: no paths, no threads."""
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
    return document | {
        "topic": sorted(request.topic),
        "topics": request.topics,
        "exclude_topics": request.exclude_topics,
        "max_moves": settings.max_moves,
        "max_bytes": settings.max_bytes,
        "prefer": request.prefer,
        "move_cost_bytes": settings.price_per_move_bytes or None,
        "rebalance": request.rebalance,
        "effort": request.effort,
        "seed": request.seed,
    }
