"""A group in memory: the records of its file, and the columns they come to."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

from pydantic import ValidationError

from planner.group.group_problems import contradictions, refuse, shape_problems
from planner.group.group_records import GroupRecord, MemberRecord, TopicRecord

if TYPE_CHECKING:
    from assignment.group import Group
    from assignment.make_group import MemberSpec, TopicSpec


@dataclass(frozen=True, slots=True)
class GroupDocument:
    """
    A group as in its file, without loss.

    Parameters
    ----------
    record
        What the file says. Make one with `from_document`, which checks it.
    notes
        What had to be assumed where it was imported.
    """

    record: GroupRecord
    notes: tuple[str, ...] = ()

    @classmethod
    def from_document(
        cls, document: object, *, file: str = "group", notes: Sequence[str] = ()
    ) -> Self:
        """
        Make a group from its JSON document, parsed.

        Parameters
        ----------
        document
            What `json.load` returns.
        file
            What problems name as their file.
        notes
            What had to be assumed.

        Raises
        ------
        BadInputError
            If it is not a group; names every problem.
        """
        try:
            record = GroupRecord.model_validate(document)
        except ValidationError as error:
            raise refuse(file, shape_problems(error, file)) from error
        if problems := contradictions(record, file):
            raise refuse(file, problems)
        return cls(record, tuple(notes))

    def to_document(self) -> dict[str, Any]:
        """Return the JSON document; what the file left out is left out."""
        return self.record.model_dump(exclude_unset=True)

    def to_group(self) -> "Group":
        """Return the group as the columns that assignors work on."""
        from assignment.make_group import make_group

        return make_group(
            [topic_spec(topic) for topic in self.record.topics],
            [member_spec(member) for member in self.record.members],
            group_id=self.record.group_id,
        )


def topic_spec(topic: TopicRecord) -> "TopicSpec":
    """Return what a file says of a topic, for the columns."""
    from assignment.make_group import TopicSpec

    return TopicSpec(
        name=topic.name,
        num_partitions=topic.partitions,
        weights=topic.weights,
        racks=topic.racks,
        topic_id=topic.topic_id,
    )


def member_spec(member: MemberRecord) -> "MemberSpec":
    """Return what a file says of a member, for the columns."""
    from assignment.group import NOT_SENT
    from assignment.make_group import MemberSpec

    def sent(generation: int | None) -> int:
        return NOT_SENT if generation is None else generation

    is_said = "subscription_generation" in member.model_fields_set
    subscribed = sent(member.subscription_generation) if is_said else None
    return MemberSpec(
        member_id=member.member_id,
        instance_id=member.group_instance_id,
        rack=member.rack,
        capacity=1.0 if member.capacity is None else member.capacity,
        topics=member.topics,
        pattern=member.pattern,
        owned=member.owned or {},
        generation=sent(member.generation),
        subscription_generation=subscribed,
        user_data=member.user_data,
    )


def lags_of(topic: TopicRecord) -> list[int | None]:
    """
    Return messages behind the end by partition; `None` where not known.

    It is not known where an offset was committed past the end of the log: records were
    lost, or the topic was made anew.
    """
    committed, ends = topic.committed_offsets, topic.log_end_offsets
    if committed is None or ends is None:
        return [None] * topic.partitions
    return [
        None if at is None or end is None or at > end else end - at
        for at, end in zip(committed, ends, strict=True)
    ]
