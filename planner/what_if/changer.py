"""What the changes of scenarios need: names, the state of things, and complaints."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from placement.cluster import ClusterState
from placement.failures.decision import ElectionRules
from placement.scenarios.variant import Variant
from placement.sizing.growth import Growth
from planner.what_if import records as r
from planner.what_if.names import NameReader


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
    """

    configs: Mapping[str, str]
    rules: ElectionRules
    growth: "Mapping[str, tuple[float, float, float]] | None" = None

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
