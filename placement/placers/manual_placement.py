"""
Placement by hand: ``0:1,1:0,0:1``, as in ``kafka-topics --replica-assignment``.

Commas separate partitions, and colons the replicas of a partition, preferred leader
first. Refusals and their messages are those of Kafka's tool and its controller.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from placement.errors import (
    AdminCommandFailedError,
    AdminOperationError,
    InvalidPartitionsError,
    InvalidReplicaAssignmentError,
    KafkaRefusalError,
)
from placement.placers.usable_brokers import PlacerBrokers

ReplicaLists = tuple[tuple[int, ...], ...]
MAX_INT32 = 2**31 - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """
    One error in a placement by hand.

    Parameters
    ----------
    place
        Position of the partition in the text, from 0; `None` for the whole text.
    error
        The exception that Kafka would throw.
    """

    place: int | None
    error: KafkaRefusalError


@dataclass(frozen=True, slots=True, kw_only=True)
class ManualAssignment:
    """
    A placement by hand as it was read, with all its errors.

    Parameters
    ----------
    lists
        Broker ids of each partition; empty for a partition that could not be read.
    refusals
        All errors, in the order in which Kafka would find them: Kafka reports the
        first.
    """

    lists: ReplicaLists
    refusals: tuple[Refusal, ...] = ()

    def checked(self) -> ReplicaLists:
        """
        Return the lists.

        Raises
        ------
        KafkaRefusalError
            The error that Kafka would throw, if there is any.
        """
        if self.refusals:
            raise self.refusals[0].error
        return self.lists


def read_replica_assignment(text: str) -> ManualAssignment:
    """
    Read a placement by hand, as Kafka's tool does before it connects to the cluster.

    Parameters
    ----------
    text
        Text such as ``0:1,1:0,0:1``. Trailing commas are ignored, as in Java.

    Examples
    --------
    >>> read_replica_assignment("0:1,1:0,0:1").checked()
    ((0, 1), (1, 0), (0, 1))
    """
    refusals: list[Refusal] = []
    lists: list[tuple[int, ...]] = []
    for place, part in enumerate(text.rstrip(",").split(",")):
        try:
            lists.append(_read_list(part))
        except InvalidReplicaAssignmentError as error:
            lists.append(())
            refusals.append(Refusal(place=place, error=error))
            continue
        refusals += _tool_refusals(place, lists)
    return ManualAssignment(lists=tuple(lists), refusals=tuple(refusals))


def _read_list(part: str) -> tuple[int, ...]:
    return tuple(_read_id(one) for one in part.split(":"))


def _read_id(text: str) -> int:
    digits = text.strip()
    is_number = digits.isascii() and digits.isdigit() and len(digits) <= 10
    if not is_number or int(digits) > MAX_INT32:
        msg = f'For input string: "{digits}"'
        raise InvalidReplicaAssignmentError(msg)
    return int(digits)


def _tool_refusals(place: int, lists: Sequence[tuple[int, ...]]) -> Iterator[Refusal]:
    listed, expected = lists[place], next(filter(None, lists))
    twice = [str(broker) for broker, count in Counter(listed).items() if count > 1]
    if twice:
        msg = (
            "Partition replica lists may not contain duplicate entries: "
            f"{','.join(twice)}"
        )
        yield Refusal(place=place, error=AdminCommandFailedError(msg))
    if len(listed) != len(expected):
        msg = (
            f"Partition {place} has different replication factor: "
            f"[{', '.join(map(str, listed))}]"
        )
        yield Refusal(place=place, error=AdminOperationError(msg))


def check_new_topic(
    assignment: ManualAssignment, brokers: PlacerBrokers
) -> ManualAssignment:
    """
    Add the errors that a controller would report when it creates the topic.

    Parameters
    ----------
    assignment
        The placement as read.
    brokers
        The registered brokers; those fenced or shutting down count as fenced.
    """
    return _with_controllers(assignment, brokers, first_number=0)


def check_added_partitions(
    assignment: ManualAssignment,
    brokers: PlacerBrokers,
    *,
    topic: str,
    current: Sequence[int],
    num_partitions: int,
) -> ManualAssignment:
    """
    Return the lists of the added partitions, with all errors.

    Parameters
    ----------
    assignment
        The placement as read: one list for every partition of the topic, existing ones
        included. Kafka's tool skips as many lists as the topic has partitions.
    brokers
        The registered brokers; those fenced or shutting down count as fenced.
    topic
        Name of the topic.
    current
        Replication factor of each existing partition of the topic.
    num_partitions
        New number of partitions of the topic.
    """
    count = len(current)
    growth = growth_refusal(topic, count, num_partitions)
    if growth is not None:
        return ManualAssignment(
            lists=(), refusals=(*assignment.refusals, Refusal(place=None, error=growth))
        )
    wanted, lists = num_partitions - count, assignment.lists[count:]
    added = ManualAssignment(lists=lists, refusals=assignment.refusals)
    if len(lists) != wanted:
        msg = (
            f"Attempted to add {wanted} additional partition(s), but only {len(lists)} "
            "assignment(s) were specified."
        )
        refusal = Refusal(place=None, error=InvalidReplicaAssignmentError(msg))
        return ManualAssignment(lists=lists, refusals=(*added.refusals, refusal))
    factor = current[0] if count else None
    return _with_controllers(added, brokers, first_number=count, factor=factor)


def growth_refusal(
    topic: str, current: int, wanted: int
) -> InvalidPartitionsError | None:
    """
    Return Kafka's error if the number of partitions does not grow, else `None`.

    Examples
    --------
    >>> str(growth_refusal("orders", 4, 3))
    'The topic orders currently has 4 partition(s); 3 would not be an increase.'
    """
    if wanted == current:
        return InvalidPartitionsError(f"Topic already has {current} partition(s).")
    if wanted < current:
        return InvalidPartitionsError(
            f"The topic {topic} currently has {current} partition(s); {wanted} would "
            "not be an increase."
        )
    return None


def _with_controllers(
    assignment: ManualAssignment,
    brokers: PlacerBrokers,
    *,
    first_number: int,
    factor: int | None = None,
) -> ManualAssignment:
    """Add the controller's errors, except for lists that the tool refused already."""
    refused_places = {refusal.place for refusal in assignment.refusals}
    found = list(assignment.refusals)
    for row, listed in enumerate(assignment.lists):
        place = first_number + row
        if place in refused_places:
            continue
        expected = factor if factor is not None else len(assignment.lists[0])
        for rule in _CONTROLLER_RULES:
            message = rule(listed, brokers, expected, place)
            if message is not None:
                error = InvalidReplicaAssignmentError(message)
                found.append(Refusal(place=place, error=error))
                break
    return ManualAssignment(lists=assignment.lists, refusals=tuple(found))


_SUBJECT = "The manual partition assignment includes"
Rule = Callable[[tuple[int, ...], PlacerBrokers, int, int], str | None]


def _registered_once(
    listed: tuple[int, ...], brokers: PlacerBrokers, expected: int, place: int
) -> str | None:
    if not listed:
        return f"{_SUBJECT} an empty replica list."
    # In ascending order of ids, as in the controller.
    for broker, count in sorted(Counter(listed).items()):
        if broker not in brokers.ids:
            return f"{_SUBJECT} broker {broker}, but no such broker is registered."
        if count > 1:
            return f"{_SUBJECT} the broker {broker} more than once."
    return None


def _same_factor(
    listed: tuple[int, ...], brokers: PlacerBrokers, expected: int, place: int
) -> str | None:
    if len(listed) == expected:
        return None
    return (
        f"{_SUBJECT} a partition with {len(listed)} replica(s), but this is not "
        f"consistent with previous partitions, which have {expected} replica(s)."
    )


def _one_active(
    listed: tuple[int, ...], brokers: PlacerBrokers, expected: int, place: int
) -> str | None:
    fenced = dict(zip(brokers.ids, brokers.is_fenced, strict=True))
    if not all(fenced[broker] for broker in listed):
        return None
    return (
        "All brokers specified in the manual partition assignment for partition "
        f"{place} are fenced or in controlled shutdown."
    )


_CONTROLLER_RULES: tuple[Rule, ...] = (_registered_once, _same_factor, _one_active)
