"""Prices of a scenarios file."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from placement.model.cluster import ClusterState
from planner.what_if.changes.scenario_names import NameReader
from planner.what_if.changes.scenario_records import PricesRecord, ScenarioTypeRecord

SECONDS = {
    "hour": 3600.0,
    "day": 86_400.0,
    "month": 86_400 * 365.2425 / 12,
    "year": 86_400 * 365.2425,
}
GB = 1e9


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Prices:
    """
    Prices of brokers, cross-rack traffic and remote storage.

    Parameters
    ----------
    types
        Price of a broker of each type for one period.
    broker
        Price of a broker without a type for one period, or `None`.
    cross_rack_gb
        Price of a GB that is sent between racks, or `None`.
    remote_gb
        Price of a GB in remote storage for one period, or `None`.
    per
        The period: ``hour``, ``day``, ``month`` or ``year``.
    currency
        Name or symbol of the currency; may be empty.
    """

    types: Mapping[str, float]
    broker: float | None
    cross_rack_gb: float | None
    remote_gb: float | None
    per: str
    currency: str

    @property
    def has_brokers(self) -> bool:
        """Whether any broker has a price."""
        return bool(self.types) or self.broker is not None


def read_prices(
    record: PricesRecord | None,
    types: Sequence[ScenarioTypeRecord],
    state: ClusterState,
    names: NameReader,
) -> tuple[Prices | None, dict[int, str]]:
    """
    Return prices, and the types of today's brokers by id; collect every problem.

    Parameters
    ----------
    record, types
        Records of the file.
    state
        Today's cluster.
    names
        Reader of names, which collects problems.
    """
    of_broker: dict[int, str] = {}
    for at, each in enumerate(types):
        if [one.name for one in types].index(each.name) != at:
            rule = "each type must have a name of its own"
            names.refuse(f"types[{at}].name", each.name, rule, "rename one")
        if each.brokers is not None:
            place = f"types[{at}].brokers"
            ids = names.brokers(place, each.brokers, state)
            for twice in sorted(set(ids) & of_broker.keys()):
                rule = f"broker {twice} is {of_broker[twice]} already"
                names.refuse(place, twice, rule, "name each broker once")
            of_broker |= dict.fromkeys(ids, each.name)
    if record is None and not types:
        return None, {}
    prices_record = record or PricesRecord()
    prices = Prices(
        types={each.name: each.price for each in types},
        broker=prices_record.broker,
        cross_rack_gb=prices_record.cross_rack_gb,
        remote_gb=prices_record.remote_gb,
        per=prices_record.per,
        currency=prices_record.currency,
    )
    _refuse_unpriced(prices, of_broker, state, names)
    return prices, of_broker


def _refuse_unpriced(
    prices: Prices, of_broker: Mapping[int, str], state: ClusterState, names: NameReader
) -> None:
    without = sorted(set(state.brokers.ids.tolist()) - of_broker.keys())
    if prices.has_brokers and prices.broker is None and without:
        rule = "every broker of today must have a price"
        remedy = 'name it in brokers = "…" of a type, or add [prices] broker = 1.0'
        names.refuse("types", without, rule, remedy)
