"""Whether the controllers keep their majority."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from placement.model.cluster import ClusterState
from planner.snapshot.snapshot_document import Snapshot


@dataclass(frozen=True, slots=True, kw_only=True)
class Voter:
    """
    A member of the controllers' quorum that votes.

    Parameters
    ----------
    broker_id
        The broker it shares a process with; `None` where it stands apart.
    rack
        Its rack, or `None` where nobody told.
    """

    broker_id: int | None
    rack: str | None


def voters_of(snapshot: Snapshot, state: ClusterState) -> list[Voter]:
    """Return the voters; one that is a broker too stands in that broker's rack."""
    racks = {
        int(broker): state.brokers.racks[rack]
        for broker, rack in zip(state.brokers.ids, state.brokers.rack_idx, strict=True)
    }
    return [
        _voter(controller, racks)
        for controller in snapshot.controllers
        if controller.get("voter") is not False
    ]


def _voter(controller: Mapping[str, Any], racks: Mapping[int, str | None]) -> Voter:
    node = int(controller["id"])
    is_broker = node in racks and controller.get("combined") is not False
    rack = controller.get("rack") or (racks[node] if is_broker else None)
    return Voter(broker_id=node if is_broker else None, rack=rack)


def keeps_majority(
    voters: Sequence[Voter], *, brokers: Collection[int], racks: Collection[str]
) -> bool | None:
    """
    Tell whether a majority of the voters survives a loss.

    Parameters
    ----------
    voters
        The quorum.
    brokers, racks
        Ids of brokers and names of racks that are lost.

    Returns
    -------
    `None` where that depends on racks that nobody told, or nobody told the quorum.
    """
    if not voters:
        return None
    known, unknown = 0, 0
    for voter in voters:
        if voter.broker_id in brokers or voter.rack in racks:
            known += 1
        elif racks and voter.rack is None:
            unknown += 1
    most = (len(voters) - 1) // 2
    if known > most:
        return False
    return True if known + unknown <= most else None


def over_all(verdicts: Iterable[bool | None]) -> bool | None:
    """Return `False` if any is, else `None` if any is or there are none."""
    told = list(verdicts)
    if False in told:
        return False
    return True if told and None not in told else None


def any_broker(voters: Sequence[Voter], ids: Iterable[int]) -> bool | None:
    """Tell whether the majority survives the loss of any one broker."""
    return over_all(keeps_majority(voters, brokers=[b], racks=()) for b in ids)


def any_rack(voters: Sequence[Voter], racks: Iterable[str]) -> bool | None:
    """Tell whether the majority survives the loss of any one rack."""
    names = {*racks, *(voter.rack for voter in voters if voter.rack is not None)}
    return over_all(
        keeps_majority(voters, brokers=(), racks=[name]) for name in sorted(names)
    )
