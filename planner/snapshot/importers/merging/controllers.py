"""Controllers among the nodes: voters, and observers that are no brokers."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from planner.errors import InputProblem
from planner.snapshot.importers.inputs.import_source import Source
from planner.snapshot.importers.merging.ledger import RecordLedger
from planner.snapshot.importers.merging.visibility import named


@dataclass(slots=True)
class Quorum:
    """
    The controllers' quorum.

    Parameters
    ----------
    controllers
        Members by id, as records of a snapshot.
    unplaced
        Observers that may be controllers or brokers.
    leaders
        Nodes that files name as the leader: at most one if the files agree.
    """

    controllers: list[dict[str, Any]] = field(default_factory=list)
    unplaced: list[int] = field(default_factory=list)
    leaders: list[int] = field(default_factory=list)

    def notes(self) -> tuple[str, ...]:
        """Return notes for readers of the snapshot."""
        found = []
        if self.unplaced:
            found.append(
                f"nodes {named(self.unplaced)} observe the quorum, and no file lists "
                "the brokers: not counted as controllers; add --list-endpoints"
            )
        if len(self.leaders) > 1:
            found.append(
                f"files name several leaders of the quorum, nodes {named(self.leaders)}"
                ", as they are of different times: the leader is unknown"
            )
        return tuple(found)


def quorum_of(
    nodes: RecordLedger,
    brokers: Mapping[int, Mapping[str, Any]],
    *,
    knows_brokers: bool,
) -> Quorum:
    """
    Return the quorum from the nodes that files name.

    Parameters
    ----------
    nodes
        Nodes by id, with `voter` and, if a file has it, `combined`.
    brokers
        Every broker that files name.
    knows_brokers
        Whether some file lists all brokers, so that an observer that is none of them is
        a controller.
    """
    leaders = [
        node for node, values in sorted(nodes.values.items()) if values.get("leader")
    ]
    found = Quorum(leaders=leaders)
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
                    **({"leader": True} if leaders == [node] else {}),
                    **_fetch_age(values),
                }
            )
        elif not is_broker:
            found.unplaced.append(node)
    return found


def voter_problems(sources: Sequence[Source]) -> Iterator[InputProblem]:
    """Yield a problem for each file that names other voters than the first one."""
    listing = [one for one in sources if one.lists_voters]
    for other in listing[1:]:
        first, mine = _voters(listing[0]), _voters(other)
        if mine != first:
            yield InputProblem(
                file=other.file,
                place="voters",
                value=named(sorted(mine)),
                rule=f"must be those of {listing[0].file}, {named(sorted(first))}: "
                "each output lists every voter",
                remedy="take both files at the same time, or leave one out",
            )


def _voters(source: Source) -> set[int]:
    return {one.key for one in source.controllers if one.values["voter"]}


def _fetch_age(values: Mapping[str, Any]) -> dict[str, int]:
    age = values.get("fetch_age_ms")
    return {} if age is None else {"fetch_age_ms": age}
