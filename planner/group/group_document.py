"""A group in memory: the records of its file, and their conversion to columns."""

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
    A group with every field of its file.

    Parameters
    ----------
    record
        The content of the file. `from_document` makes and validates it.
    notes
        Assumptions of the import, a sentence each.
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
            The parsed JSON value.
        file
            Name of the file in problems.
        notes
            Assumptions of the import, a sentence each.

        Raises
        ------
        BadInputError
            If the document is not a group; names every problem.
        """
        try:
            record = GroupRecord.model_validate(document)
        except ValidationError as error:
            raise refuse(file, shape_problems(error, file)) from error
        if problems := contradictions(record, file):
            raise refuse(file, problems)
        return cls(record, tuple(notes))

    @property
    def num_members(self) -> int | None:
        """Number of members; `None` where it is unknown."""
        listed = self.record.num_members
        if listed is None:
            return len(self.record.members)
        return None if listed == "unknown" else listed

    @property
    def has_owners(self) -> bool:
        """Whether it is known which member owns which partitions."""
        members = self.record.members
        is_named = self.num_members == len(members)
        return is_named and all(not member.num_owned for member in members)

    def to_document(self) -> dict[str, Any]:
        """Return the JSON document, without keys that the file left out."""
        return self.record.model_dump(exclude_unset=True)

    def to_group(self) -> "Group":
        """Return the group as columns, the input of assignors."""
        from assignment.make_group import make_group

        return make_group(
            [topic_spec(topic) for topic in self.record.topics],
            [member_spec(member) for member in self.record.members],
            group_id=self.record.group_id,
        )


def topic_spec(topic: TopicRecord) -> "TopicSpec":
    """Convert the record of a topic to the input of the columns."""
    from assignment.make_group import TopicSpec

    return TopicSpec(
        name=topic.name,
        num_partitions=topic.partitions,
        weights=topic.weights,
        racks=topic.racks,
        topic_id=topic.topic_id,
    )


def member_spec(member: MemberRecord) -> "MemberSpec":
    """Convert the record of a member to the input of the columns."""
    from assignment.group import NOT_SENT
    from assignment.make_group import MemberSpec

    def sent(generation: int | None) -> int:
        return NOT_SENT if generation is None else generation

    is_given = "subscription_generation" in member.model_fields_set
    subscribed = sent(member.subscription_generation) if is_given else None
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
    Return the lag of each partition in messages; `None` where it is unknown.

    An offset that was committed past the end of the log has no known lag: records were
    lost, or the topic was deleted and created again.
    """
    committed, ends = topic.committed_offsets, topic.log_end_offsets
    if committed is None or ends is None:
        return [None] * topic.partitions
    return [
        None if at is None or end is None or at > end else end - at
        for at, end in zip(committed, ends, strict=True)
    ]
