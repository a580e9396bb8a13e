"""Which nodes are controllers: voters, and the observers that are no brokers."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from planner.snapshot.importers.ledger import RecordLedger
from planner.snapshot.importers.visibility import named


@dataclass(slots=True)
class Quorum:
    """
    The controllers' quorum.

    Parameters
    ----------
    controllers
        Its members, as a snapshot says them, by id.
    unplaced
        Observers that may be controllers or brokers.
    """

    controllers: list[dict[str, Any]] = field(default_factory=list)
    unplaced: list[int] = field(default_factory=list)

    def notes(self) -> tuple[str, ...]:
        """Return what the reader of the snapshot should know."""
        if not self.unplaced:
            return ()
        return (
            f"nodes {named(self.unplaced)} observe the quorum, and no file lists the "
            "brokers: not taken as controllers; --list-endpoints would tell",
        )


def quorum_of(
    nodes: RecordLedger,
    brokers: Mapping[int, Mapping[str, Any]],
    *,
    knows_brokers: bool,
) -> Quorum:
    """
    Tell the controllers among the nodes that files name.

    Parameters
    ----------
    nodes
        Nodes by id, with `voter` and, where a file says it, `combined`.
    brokers
        Every broker that files name.
    knows_brokers
        Whether some file lists them all, so that an observer that is none of them is
        a controller.
    """
    found = Quorum()
    for node, values in sorted(nodes.values.items()):
        is_broker = node in brokers
        if values["voter"] or not (is_broker or not knows_brokers):
            rack = brokers[node].get("rack") if is_broker else None
            found.controllers.append(
                {
                    "id": node,
                    **({} if rack is None else {"rack": rack}),
                    "voter": values["voter"],
                    "combined": is_broker or values.get("combined", False),
                }
            )
        elif not is_broker:
            found.unplaced.append(node)
    return found
