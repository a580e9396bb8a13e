"""Majority of the controllers after a loss of brokers or racks."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass


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
    is_silent
        Whether it does not vote at present: it fetches nothing from the leader, or its
        broker is not live.
    """

    broker_id: int | None
    rack: str | None
    is_silent: bool = False


def keeps_majority(
    voters: Sequence[Voter], *, brokers: Collection[int], racks: Collection[str]
) -> bool | None:
    """
    Return whether a majority of the voters survives a loss; silent ones do not count.

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
        if voter.is_silent or voter.broker_id in brokers or voter.rack in racks:
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
