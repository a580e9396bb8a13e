"""
What a controller makes of a reassignment: its start, its end, and its cancellation.

One partition at a time, as KRaft's ``PartitionReassignmentReplicas`` and
``PartitionReassignmentRevert`` do it. For people and tests: plans are columns.
"""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class OngoingReassignment:
    """
    A partition while it is being reassigned.

    Parameters
    ----------
    replicas
        Broker ids as Kafka lists them: the target, then those that are removed.
    adding, removing
        Broker ids that the target has and the list before had not, and the other way
        round; ascending.
    target
        The list wanted, preferred leader first.
    """

    replicas: tuple[int, ...]
    adding: tuple[int, ...]
    removing: tuple[int, ...]
    target: tuple[int, ...]

    @property
    def is_in_progress(self) -> bool:
        """Whether anything is to be copied or dropped: a new order alone is at once."""
        return bool(self.adding or self.removing)


@dataclass(frozen=True, slots=True, kw_only=True)
class SettledReplicas:
    """
    A partition once its reassignment has ended.

    Parameters
    ----------
    replicas, isr
        Broker ids.
    is_unclean
        Whether no member of the ISR is left, so that data would be lost: Kafka then
        refuses to cancel unless the topic allows unclean elections.
    """

    replicas: tuple[int, ...]
    isr: tuple[int, ...]
    is_unclean: bool = False


def start_reassignment(
    current: Sequence[int], target: Sequence[int]
) -> OngoingReassignment:
    """
    Return the partition right after its reassignment was asked for.

    Parameters
    ----------
    current, target
        Broker ids before, and those wanted, preferred leader first.

    Examples
    --------
    >>> start_reassignment([6, 4], [1, 6]).replicas
    (1, 6, 4)
    """
    removing = tuple(sorted(set(current) - set(target)))
    return OngoingReassignment(
        replicas=(*target, *removing),
        adding=tuple(sorted(set(target) - set(current))),
        removing=removing,
        target=tuple(target),
    )


def complete_reassignment(
    ongoing: OngoingReassignment, isr: Sequence[int]
) -> SettledReplicas | None:
    """
    Return the partition if this ISR ends its reassignment, else `None`.

    Every replica that is added must be in sync, and something must be left in sync;
    where fewer are added than removed, the whole target must be. (Since KAFKA-19975;
    before, the whole target in any case.)

    Parameters
    ----------
    ongoing
        The partition.
    isr
        Broker ids in sync, in the order that Kafka keeps.
    """
    stays = tuple(broker for broker in isr if broker not in ongoing.removing)
    needed = set(ongoing.adding)
    if len(ongoing.adding) < len(ongoing.removing):
        needed = set(ongoing.target)
    is_done = ongoing.is_in_progress and bool(stays) and needed <= set(stays)
    return SettledReplicas(replicas=ongoing.target, isr=stays) if is_done else None


def cancel_reassignment(
    ongoing: OngoingReassignment, isr: Sequence[int]
) -> SettledReplicas:
    """
    Return the partition after its reassignment was cancelled.

    Replicas that were being added go; the others keep the order they have by then,
    which need not be the one before.

    Parameters
    ----------
    ongoing
        The partition.
    isr
        Broker ids in sync.
    """
    stays = tuple(b for b in ongoing.replicas if b not in ongoing.adding)
    in_sync = tuple(broker for broker in isr if broker not in ongoing.adding)
    return SettledReplicas(
        replicas=stays, isr=in_sync or stays[:1], is_unclean=not in_sync
    )
