"""Prices of a fleet, with other prices for some clusters."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import Field, ValidationError

from planner.errors import BadInputError, InputProblem
from planner.io.problems import problem, refuse_all
from planner.io.records import Record
from planner.io.toml_records import read_toml, shape_problems
from planner.what_if.changes.prices import Prices
from planner.what_if.changes.scenario_records import Name, Price, PricesRecord


class FleetTypeRecord(Record):
    """A type of brokers: its name, its price, and the tag whose value is the name."""

    name: Name
    price: Price
    tag: Name = "type"


class ClusterPricesRecord(Record):
    """Other prices for clusters whose complete id and tags match."""

    cluster: str | None = None
    tags: dict[str, str] = Field(default_factory=dict)
    broker: Price | None = None
    cross_rack_gb: Price | None = None
    remote_gb: Price | None = None


class FleetPricesRecord(Record):
    """A file of prices."""

    prices: PricesRecord
    types: list[FleetTypeRecord] = Field(default_factory=list)
    clusters: list[ClusterPricesRecord] = Field(default_factory=list)


_KEYS = frozenset(
    key
    for record in (
        FleetPricesRecord,
        PricesRecord,
        ClusterPricesRecord,
        FleetTypeRecord,
    )
    for key in record.model_fields
)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class FleetPrices:
    """
    Prices of the clusters of a fleet.

    Parameters
    ----------
    record
        Contents of the file of prices.
    """

    record: FleetPricesRecord

    @property
    def unit(self) -> str:
        """Currency and span of time, as in ``EUR a month``."""
        common = self.record.prices
        return f"{common.currency} a {common.per}".strip()

    def of(self, cluster_id: str | None, tags: Mapping[str, str]) -> Prices:
        """Return the prices of a cluster, by its id and its tags."""
        common = self.record.prices
        own = next(
            (each for each in self.record.clusters if _is_of(each, cluster_id, tags)),
            ClusterPricesRecord(),
        )
        return Prices(
            types={each.name: each.price for each in self.record.types},
            broker=_first(own.broker, common.broker),
            cross_rack_gb=_first(own.cross_rack_gb, common.cross_rack_gb),
            remote_gb=_first(own.remote_gb, common.remote_gb),
            per=common.per,
            currency=common.currency,
        )

    def of_broker(self, prices: Prices, tags: Mapping[str, str]) -> float | None:
        """Return the price of a broker by its tags; `None` if there is no price."""
        for each in self.record.types:
            if tags.get(each.tag) == each.name:
                return each.price
        return prices.broker


def read_fleet_prices(path: Path) -> FleetPrices:
    """
    Read a file of prices.

    Raises
    ------
    BadInputError
        If the file is invalid, with every problem.
    """
    file, document = str(path), read_toml(path, _refused)
    try:
        record = FleetPricesRecord.model_validate(document)
    except ValidationError as error:
        problems = shape_problems(error, file, _KEYS, "see docs/fleets.md")
        raise _refused(file, problems) from error
    problems = [
        problem(
            file,
            f"clusters[{at}].cluster",
            each.cluster,
            f"must be a regular expression: {reason}",
            "correct it; it matches complete ids",
        )
        for at, each in enumerate(record.clusters)
        if (reason := _why_no_pattern(each.cluster))
    ]
    if problems:
        raise _refused(file, problems)
    return FleetPrices(record=record)


def _is_of(
    record: ClusterPricesRecord, cluster_id: str | None, tags: Mapping[str, str]
) -> bool:
    pattern = record.cluster
    if pattern is not None and not re.fullmatch(pattern, cluster_id or ""):
        return False
    return all(tags.get(name) == value for name, value in record.tags.items())


def _first(own: float | None, common: float | None) -> float | None:
    return common if own is None else own


def _why_no_pattern(text: str | None) -> str:
    try:
        re.compile(text or "")
    except re.error as error:
        return str(error)
    return ""


def _refused(file: str, problems: Sequence[InputProblem]) -> BadInputError:
    return refuse_all(f"{file} is not a list of prices", problems)
