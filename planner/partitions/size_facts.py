"""Facts for the question of `partitions size`, with the assumptions made on the way."""

from dataclasses import dataclass, field

from placement.array_types import RowArray
from placement.model.cluster import ClusterState
from planner.partitions.size_options import SizeOptions


@dataclass(frozen=True, slots=True, kw_only=True)
class Assumption:
    """
    Value that no option gave.

    Parameters
    ----------
    option
        Option that replaces it.
    text
        Value and reason, as a phrase.
    """

    option: str
    text: str


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class SizeFacts:
    """
    Options and cluster of a question.

    Parameters
    ----------
    options
        Options of the command.
    state
        The cluster; `None` without a snapshot.
    topic
        Row of the topic; `None` for a new one.
    rows
        Rows of its partitions.
    cluster
        Configs of the cluster.
    assumptions
        Assumptions so far.
    """

    options: SizeOptions
    state: ClusterState | None
    topic: int | None
    rows: RowArray
    cluster: dict[str, str]
    assumptions: list[Assumption] = field(default_factory=list)

    def assume(self, option: str, text: str) -> None:
        """Record an assumption."""
        self.assumptions.append(Assumption(option=option, text=text))
