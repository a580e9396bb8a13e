"""Majority of the controllers after a loss of brokers or racks."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from placement.model.cluster import ClusterState
from planner.snapshot.snapshot_document import Snapshot


@dataclass(frozen=True, slots=True, kw_only=True)
class Voter:
    """
    A controller that votes in the quorum.

    Parameters
    ----------
    broker_id
        Id of the broker in the same process; `None` for a controller of its own.
    rack
        Rack of the controller; `None` where unknown.
    """

    broker_id: int | None
    rack: str | None


def voters_of(snapshot: Snapshot, state: ClusterState) -> list[Voter]:
    """Return the voters; a voter in the process of a broker has the broker's rack."""
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
    Return whether a majority of the voters survives a loss.

    Parameters
    ----------
    voters
        All voters of the quorum.
    brokers, racks
        Ids of lost brokers and names of lost racks.

    Returns
    -------
    `None` where the answer depends on unknown racks, or no voters are known.
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
    """Return `False` if any verdict is; `None` if any is unknown, or without any."""
    answers = list(verdicts)
    if False in answers:
        return False
    return True if answers and None not in answers else None


def any_broker(voters: Sequence[Voter], ids: Iterable[int]) -> bool | None:
    """Return whether the majority survives the loss of any one broker."""
    return over_all(keeps_majority(voters, brokers=[b], racks=()) for b in ids)


def any_rack(voters: Sequence[Voter], racks: Iterable[str]) -> bool | None:
    """Return whether the majority survives the loss of any one rack."""
    names = {*racks, *(voter.rack for voter in voters if voter.rack is not None)}
    return over_all(
        keeps_majority(voters, brokers=(), racks=[name]) for name in sorted(names)
    )
