"""The brokers from which a placer may choose, in Kafka's form."""

from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from placement.model.cluster import ClusterState

BrokerIdArray = npt.NDArray[np.int32]


@dataclass(frozen=True, slots=True, kw_only=True)
class PlacerBrokers:
    """
    Brokers with their racks, in the order in which they were listed.

    Parameters
    ----------
    ids
        Kafka's broker ids, each once.
    racks
        Rack of each broker; `None` for a broker without a rack.
    is_fenced
        Whether each broker is fenced; if omitted, none is.

    Raises
    ------
    ValueError
        If the columns differ in length, or an id is listed twice.
    """

    ids: tuple[int, ...]
    racks: tuple[str | None, ...]
    is_fenced: tuple[bool, ...] = field(default=())

    def __post_init__(self) -> None:
        fenced = self.is_fenced or (False,) * len(self.ids)
        object.__setattr__(self, "is_fenced", fenced)
        if not len(self.ids) == len(self.racks) == len(fenced):
            msg = f"{len(self.ids)} brokers need as many racks and fences."
            raise ValueError(msg)
        if len(set(self.ids)) != len(self.ids):
            msg = f"each broker must be listed once, got {self.ids}."
            raise ValueError(msg)

    def __len__(self) -> int:
        return len(self.ids)

    @classmethod
    def of(
        cls, state: ClusterState, chosen: npt.NDArray[np.integer[Any]] | None = None
    ) -> Self:
        """
        Return brokers of a cluster by ascending id.

        Parameters
        ----------
        state
            The cluster.
        chosen
            Rows of the brokers to use; the live ones if omitted. Brokers that are not
            live count as fenced.
        """
        brokers = state.brokers
        rows = np.nonzero(brokers.is_live)[0] if chosen is None else np.sort(chosen)
        return cls(
            ids=tuple(brokers.ids[rows].tolist()),
            racks=tuple(brokers.racks[rack] for rack in brokers.rack_idx[rows]),
            is_fenced=tuple((~brokers.is_live[rows]).tolist()),
        )

    def without_racks(self) -> Self:
        """Return the same brokers without racks."""
        return type(self)(
            ids=self.ids, racks=(None,) * len(self), is_fenced=self.is_fenced
        )
