"""
A controller's view of a reassignment: its start, its end and its cancellation.

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
        Broker ids as Kafka lists them: the target, then the removing replicas.
    adding, removing
        Broker ids of the target that are not in the previous list, and broker ids of
        the previous list that are not in the target; ascending.
    target
        The list wanted, preferred leader first.
    """

    replicas: tuple[int, ...]
    adding: tuple[int, ...]
    removing: tuple[int, ...]
    target: tuple[int, ...]

    @property
    def is_in_progress(self) -> bool:
        """Whether replicas are added or removed; a new order alone is done at once."""
        return bool(self.adding or self.removing)


@dataclass(frozen=True, slots=True, kw_only=True)
class SettledReplicas:
    """
    A partition after the end of its reassignment.

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
    Return the partition right after the request of its reassignment.

    Parameters
    ----------
    current, target
        Present and wanted broker ids, preferred leader first.

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

    Every added replica must be in sync, and at least one remaining replica must be in
    sync. If fewer replicas are added than removed, the whole target must be in sync.
    (Since KAFKA-19975; before, the whole target in any case.)

    Parameters
    ----------
    ongoing
        The partition.
    isr
        Broker ids in sync, in Kafka's order.
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
    Return the partition after the cancellation of its reassignment.

    Adding replicas are removed. The others keep their current order, which may differ
    from the order before the reassignment.

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
