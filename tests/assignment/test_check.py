import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assignment.check import RULES, check, check_named
from support.groups import group_of, groups

GROUP = group_of(
    {"t0": 2, "t1": 1, "nobody": 3},
    {"c0": "t0", "c1": "t0 t1"},
    {"c0": {"t0": [0, 1]}},
)
GOOD = {"c0": {"t0": [0]}, "c1": {"t0": [1], "t1": [0]}}


@pytest.mark.parametrize(
    ("assignment", "rules"),
    [
        pytest.param(GOOD, [], id="each-partition-once"),
        pytest.param(
            {**GOOD, "c9": {"t0": [0]}}, ["unknown-member"], id="no-such-member"
        ),
        pytest.param(
            {**GOOD, "c0": {"t0": [0], "x": [0]}}, ["unknown-topic"], id="no-such-topic"
        ),
        pytest.param(
            {**GOOD, "c0": {"t0": [0, 2, -1]}},
            ["unknown-partition", "unknown-partition"],
            id="no-such-partition",
        ),
        pytest.param(
            {"c0": {"t0": [0], "t1": [0]}, "c1": {"t0": [1]}},
            ["not-subscribed"],
            id="topic-not-read",
        ),
        pytest.param(
            {"c0": {"t0": [0, 1]}, "c1": {"t0": [1], "t1": [0]}},
            ["assigned-twice"],
            id="two-members",
        ),
        pytest.param(
            {"c0": {"t0": [0, 0]}, "c1": {"t0": [1], "t1": [0]}},
            ["assigned-twice"],
            id="twice-to-one-member",
        ),
        pytest.param({"c0": {"t0": [0, 1]}}, ["unassigned"], id="left-out"),
        pytest.param({}, ["unassigned"] * 3, id="nothing-at-all"),
    ],
)
def test_finds_what_is_wrong(assignment, rules):
    _, findings = check_named(GROUP, assignment)

    assert [finding.rule for finding in findings] == rules
    assert set(rules) <= set(RULES)


@pytest.mark.parametrize(
    ("member_idx", "rules"),
    [
        pytest.param([0, -1, 1, -1, -1, -1], [], id="its-owner-gives-it-up-first"),
        pytest.param([0, 1, -1, -1, -1, -1], ["unassigned"], id="nobody-had-it"),
    ],
)
def test_cooperative_rounds_may_only_leave_out_what_is_owned(member_idx, rules):
    findings = check(GROUP, np.array(member_idx), is_cooperative=True)

    assert [finding.rule for finding in findings] == rules


def test_a_finding_names_its_place():
    _, (finding,) = check_named(
        GROUP, {**GOOD, "c0": {"t0": [0], "t1": [0]}, "c1": {"t0": [1]}}
    )

    assert finding.to_dict() == {
        "rule": "not-subscribed",
        "message": "c0 is given t1-0, but does not read t1",
        "member": "c0",
        "topic": "t1",
        "partition": 0,
    }


@given(groups(), st.data())
def test_agrees_with_counting_one_by_one(group, data):
    idx = st.integers(-1, group.num_members - 1)
    chosen = [data.draw(idx) for _ in range(group.num_partitions)]

    found = {
        (f.rule, f.topic, f.partition)
        for f in check(group, np.array(chosen, dtype=int))
    }

    expected = set()
    for row, member in enumerate(chosen):
        topic, _, number = group.name_of(row).rpartition("-")
        readers = group.subscribers.of(int(group.partitions.topic_idx[row])).tolist()
        if member < 0 and readers:
            expected.add(("unassigned", topic, int(number)))
        elif member >= 0 and member not in readers:
            expected.add(("not-subscribed", topic, int(number)))
    assert found == expected
