"""Context of the changes of scenarios: configs, growth, types, prices, problems."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from placement.cluster_changes.variant import Variant, variant_of
from placement.demand.topic_growth import Growth
from placement.failures.controller_decision import ElectionRules
from placement.model.cluster import ClusterState
from planner.io.records import Record
from planner.text.suggest import near
from planner.what_if.changes import scenario_records as r
from planner.what_if.changes.scenario_names import NameReader

if TYPE_CHECKING:
    from planner.what_if.changes.prices import Prices


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Context:
    """
    Facts besides the cluster that changes use.

    Parameters
    ----------
    configs
        Configs of the brokers.
    rules
        Rules by which Kafka elects leaders after a loss.
    growth
        Compound, linear and disk growth per day of each topic of today, by name; `None`
        where no growth is given.
    types
        Types of brokers by name.
    of_broker
        Names of the types of today's brokers by id.
    prices
        Prices of brokers and bytes; `None` where none are given.
    """

    configs: Mapping[str, str]
    rules: ElectionRules
    growth: "Mapping[str, tuple[float, float, float]] | None" = None
    types: Mapping[str, r.ScenarioTypeRecord] = field(default_factory=dict)
    of_broker: Mapping[int, str] = field(default_factory=dict)
    prices: "Prices | None" = None

    def start(self, state: ClusterState) -> Variant:
        """Return today's cluster as a variant without changes."""
        return replace(variant_of(state), types=self.of_broker)

    def growth_of(self, state: ClusterState) -> Growth | None:
        """Return the growth of the topics of a cluster; new topics do not grow."""
        if self.growth is None:
            return None
        rates = [self.growth.get(name, (0.0, 0.0, 0.0)) for name in state.topics.names]
        table = np.array(rates, dtype=np.float64).reshape(-1, 3)
        compound, linear, disk = (np.ascontiguousarray(column) for column in table.T)
        return Growth(
            compound_per_day=compound, linear_per_day=linear, disk_per_day=disk
        )


class Changer:
    """
    Tools of the functions that apply changes; collects every problem.

    Parameters
    ----------
    names
        Reader of names, which validates them against the cluster.
    context
        Facts besides the cluster.
    """

    def __init__(self, names: NameReader, context: Context) -> None:
        self.names = names
        self.context = context

    def refuse(self, place: str, value: object, rule: str, remedy: str) -> None:
        """Add a problem."""
        self.names.refuse(place, value, rule, remedy)

    def type_of(self, place: str, name: str | None) -> r.CapacitiesRecord | None:
        """Return the type that a change names; `None` if it names no known type."""
        if name is None:
            return None
        known = self.context.types
        if name not in known:
            rule = "must be a type of this file"
            self.refuse(f"{place}.type", name, rule, near(name, known))
        return known.get(name)

    def one_of(self, place: str, record: Record, keys: tuple[str, ...]) -> str:
        """Return the given key; add a problem unless exactly one of `keys` is given."""
        given = [key for key in keys if getattr(record, key) is not None]
        if len(given) != 1:
            rule = f"one of {', '.join(keys)} must be given"
            self.refuse(place, ", ".join(given), rule, "give one, remove the others")
            return keys[0]
        return given[0]


Maker = Callable[[Changer, Variant, Any, str], Variant]
"""Function that returns the cluster after a change; its last argument is the place."""
