import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assignment.balanced.partition_classes import classes_of
from assignment.group import ABSENT
from assignment.make_group import MemberSpec, TopicSpec, make_group


def naive(group):
    """Return the classes one partition at a time: by readers, and by racks."""
    known = {}
    found = []
    for row in range(group.num_partitions):
        readers = tuple(group.subscribers.of(group.partitions.topic_idx[row]).tolist())
        racks = frozenset(group.partitions.racks.of(row).tolist())
        found.append(
            known.setdefault((readers, racks), len(known)) if readers else ABSENT
        )
    return found


@st.composite
def racked(draw):
    names = [f"r{number:03}" for number in range(draw(st.sampled_from([2, 70, 130])))]
    some = st.lists(st.sampled_from(names), max_size=3)
    topics = [
        TopicSpec(
            name=name, num_partitions=size, racks=[draw(some) for _ in range(size)]
        )
        for name, size in zip(
            "tuv", draw(st.tuples(*[st.integers(0, 5)] * 3)), strict=True
        )
    ]
    reads = st.lists(st.sampled_from("tuv"), unique=True)
    members = [
        MemberSpec(member_id=f"m{at}", rack=rack, topics=draw(reads))
        for at, rack in enumerate(names[-2:])
    ]
    return make_group(topics, members)


@settings(max_examples=60)
@given(racked())
def test_partitions_of_the_same_readers_and_racks_are_one_class(group):
    if not len(group.partitions.racks.idx):
        return

    found = classes_of(group)

    assert found.class_idx.tolist() == naive(group)
    assert found.price is not None
    for row, number in enumerate(found.class_idx.tolist()):
        near = set(group.partitions.racks.of(row).tolist())
        if number == ABSENT:
            continue
        edges = range(found.start[number], found.start[number + 1])
        for edge in edges:
            rack = int(group.members.rack_idx[found.member_idx[edge]])
            assert found.price[edge] == int(bool(near) and rack not in near)


@pytest.mark.parametrize("racks", [None, [["a"], ["b"], ["a"]]])
def test_racks_count_where_both_sides_have_them(racks):
    group = make_group(
        [TopicSpec(name="t", num_partitions=3, racks=racks)],
        [MemberSpec(member_id="m", rack="a", topics=["t"])],
    )

    found = classes_of(group)

    assert found.num_classes == (1 if racks is None else 2)
    assert np.diff(found.start).tolist() == [1] * found.num_classes
