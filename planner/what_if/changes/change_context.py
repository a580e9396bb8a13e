"""What the changes of scenarios need: names, the state of things, and complaints."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from placement.cluster_changes.variant import Variant, variant_of
from placement.demand.topic_growth import Growth
from placement.failures.controller_decision import ElectionRules
from placement.model.cluster import ClusterState
from planner.text.suggest import near
from planner.what_if.changes import scenario_records as r
from planner.what_if.changes.scenario_names import NameReader

if TYPE_CHECKING:
    from planner.what_if.changes.prices import Prices


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Context:
    """
    What changes need to know besides the cluster.

    Parameters
    ----------
    configs
        Configs of the brokers.
    rules
        Who may lead after a loss.
    growth
        How the topics of today grow, by name; `None` where nobody says.
    types
        Types of brokers, by name.
    of_broker
        Types of today's brokers, by id.
    prices
        What things cost; `None` where nobody says.
    """

    configs: Mapping[str, str]
    rules: ElectionRules
    growth: "Mapping[str, tuple[float, float, float]] | None" = None
    types: Mapping[str, r.ScenarioTypeRecord] = field(default_factory=dict)
    of_broker: Mapping[int, str] = field(default_factory=dict)
    prices: "Prices | None" = None

    def start(self, state: ClusterState) -> Variant:
        """Return today's cluster, before any change."""
        return replace(variant_of(state), types=self.of_broker)

    def growth_of(self, state: ClusterState) -> Growth | None:
        """Return the growth of the topics of a cluster; new ones do not grow."""
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
    What makes the changes of scenarios, and keeps every problem.

    Parameters
    ----------
    names
        Looks names up.
    context
        What changes need to know.
    """

    def __init__(self, names: NameReader, context: Context) -> None:
        self.names = names
        self.context = context

    def refuse(self, place: str, value: object, rule: str, remedy: str) -> None:
        """Keep a problem."""
        self.names.refuse(place, value, rule, remedy)

    def type_of(self, place: str, name: str | None) -> r.CapacitiesRecord | None:
        """Return the type that a change names, `None` where it names none."""
        if name is None:
            return None
        known = self.context.types
        if name not in known:
            rule = "must be a type of this file"
            self.refuse(f"{place}.type", name, rule, near(name, known))
        return known.get(name)

    def one_of(self, place: str, record: r.Record, keys: tuple[str, ...]) -> str:
        """Return the one key of several that is given."""
        given = [key for key in keys if getattr(record, key) is not None]
        if len(given) != 1:
            said = f"one of {', '.join(keys)} must be given"
            self.refuse(place, ", ".join(given), said, "give one, remove the others")
            return keys[0]
        return given[0]


Maker = Callable[[Changer, Variant, Any, str], Variant]
"""Returns the cluster after a change, which stands at a place of the file."""
