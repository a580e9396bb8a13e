"""Ours against brute force, bounds, and Kafka's own where these fall short."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assignment.assignors import ServerUniform, Sticky
from assignment.balanced import balanced_same, balanced_weights
from assignment.balanced.balanced_assignor import Balanced
from assignment.balanced.partition_classes import classes_of
from assignment.certificate import bound_busiest
from assignment.group import ABSENT
from assignment.make_group import MemberSpec, TopicSpec, make_group
from assignment.outcome import Assignment, is_moved
from placement.core.counts.kernels import largest_first
from support.groups import checked, group_of, groups, named

OURS = Balanced()


def all_assignments(group):
    """Every assignment in which all that is read is given to a subscriber."""
    subscribers = group.subscribers
    choices = [
        subscribers.of(topic).tolist() or [ABSENT]
        for topic in group.partitions.topic_idx.tolist()
    ]
    for chosen in product(*choices):
        yield Assignment(np.array(chosen, dtype=np.int32))


def ordered(group, assignment):
    """The lexicographic objective: sorted loads, deviation of topics, moves."""
    counts = sorted(assignment.counts(group.num_members).tolist(), reverse=True)
    off = 0 if racks_matter(group) else num_outside_shares(group, assignment)
    return counts, off, int(is_moved(group, assignment).sum())


def racks_matter(group):
    has_rack = any(rack != ABSENT for rack in group.members.rack_idx.tolist())
    return has_rack and len(group.partitions.racks.idx) > 0


def num_outside_shares(group, assignment):
    """Partitions above a reader's share of their topic, and those that lack to it."""
    found = 0
    for topic in range(len(group.topics)):
        rows = group.partitions_of(topic).tolist()
        readers = group.subscribers.of(topic).tolist()
        for member in readers:
            read = sum(1 for row in rows if assignment.member_idx[row] == member)
            low, high = len(rows) // len(readers), -(-len(rows) // len(readers))
            found += max(read - high, 0) + max(low - read, 0)
    return found


def is_small(group):
    sizes = group.subscribers.counts[group.partitions.topic_idx]
    return np.prod(np.maximum(sizes, 1).astype(float)) <= 5_000


def single_claims(group):
    """The same group, each partition claimed by its first owner alone."""
    seen, members = set(), []
    for member, rows in enumerate(group.owned):
        owned = {}
        for row in rows.tolist():
            if row not in seen:
                seen.add(row)
                topic, _, number = group.name_of(row).rpartition("-")
                owned.setdefault(topic, []).append(int(number))
        topics = [group.topics.names[t] for t in group.subscribed.of(member)]
        rack = group.members.rack_idx[member]
        members.append(
            MemberSpec(
                member_id=group.members.ids[member],
                topics=topics,
                owned=owned,
                rack=None if rack == ABSENT else group.racks[rack],
            )
        )
    topics = [
        TopicSpec(
            name=name,
            num_partitions=int(group.topics.num_partitions[t]),
            racks=[
                [group.racks[r] for r in group.partitions.racks.of(p)]
                for p in group.partitions_of(t).tolist()
            ],
        )
        for t, name in enumerate(group.topics.names)
    ]
    return make_group(topics, members)


@given(groups(max_partitions=3, max_members=4).filter(is_small).map(single_claims))
def test_equals_brute_force(group):
    assignment = checked(OURS, group)

    best = min(ordered(group, each) for each in all_assignments(group))
    assert ordered(group, assignment) == best


@given(groups(max_partitions=3, max_members=4, is_equal=True).map(single_claims))
def test_equals_brute_force_where_all_read_the_same(group):
    if not is_small(group):
        group = group.with_members(np.arange(1))
    assignment = checked(OURS, group)

    best = min(ordered(group, each) for each in all_assignments(group))
    assert ordered(group, assignment) == best


@given(groups())
def test_certificate_is_tight_and_below_every_other_assignment(group):
    solved = OURS.solve(group)
    certificate, moved = solved.certificate, is_moved(group, solved.assignment).sum()

    assert certificate.busiest.gap == 0
    assert certificate.moved.value == moved
    assert certificate.moved.lower_bound <= moved
    for other in (Sticky(), ServerUniform()):
        if all(group.topics.num_partitions):
            value = bound_busiest(group, other.assign(group)).value
            assert value >= certificate.busiest.value


@given(groups(has_racks=True).map(single_claims))
def test_racks_come_before_moves_and_after_evenness(group):
    if not is_small(group):
        group = group.with_members(np.arange(1))

    assignment = checked(OURS, group)

    def far(each):
        return sum(
            1
            for row, member in enumerate(each.member_idx.tolist())
            if member >= 0
            and (rack := group.members.rack_idx[member]) != ABSENT
            and len(group.partitions.racks.of(row))
            and rack not in group.partitions.racks.of(row)
        )

    def key(each):
        counts, off, moved = ordered(group, each)
        return counts, far(each), off, moved

    assert key(assignment) == min(key(each) for each in all_assignments(group))


@given(groups(has_racks=True), st.randoms(use_true_random=False))
def test_how_good_it_is_does_not_depend_on_the_order_of_members(group, random):
    order = list(range(group.num_members))
    random.shuffle(order)
    group = single_claims(group)
    other = group.with_members(np.array(order))

    first, second = (ordered(g, checked(OURS, g)) for g in (group, other))

    assert first == second


@given(groups(has_racks=True))
def test_asked_again_it_moves_nothing(group):
    assignment = checked(OURS, group)
    settled = with_owners(group, assignment)

    again = checked(OURS, settled)

    assert not is_moved(settled, again).any()


def with_owners(group, assignment):
    owned = named(group, assignment)
    topics = [
        TopicSpec(
            name=name,
            num_partitions=int(group.topics.num_partitions[t]),
            weights=group.partitions.weight[group.partitions_of(t)].tolist(),
            racks=[
                [group.racks[r] for r in group.partitions.racks.of(p)]
                for p in group.partitions_of(t).tolist()
            ],
        )
        for t, name in enumerate(group.topics.names)
    ]
    racks = group.members.rack_idx.tolist()
    members = [
        MemberSpec(
            member_id=member,
            topics=[group.topics.names[t] for t in group.subscribed.of(row)],
            owned=owned[member],
            rack=None if racks[row] == ABSENT else group.racks[racks[row]],
            capacity=float(group.members.capacity[row]),
        )
        for row, member in enumerate(group.members.ids)
    ]
    return make_group(topics, members)


CHAIN_OWNED = {
    "c0": {"t0": list(range(9))},
    "c1": {"t0": [9], "t1": list(range(9))},
    "c2": {"t1": list(range(9, 20))},
}


@pytest.mark.parametrize(
    ("assignor", "counts"),
    [
        pytest.param(Sticky(), [9, 10, 11], id="sticky"),
        pytest.param(ServerUniform(), [9, 10, 11], id="server-uniform"),
        pytest.param(OURS, [10, 10, 10], id="balanced"),
    ],
)
def test_sees_chains_over_several_topics(assignor, counts):
    members = {"c0": "t0", "c1": "t0 t1", "c2": "t1"}
    group = group_of({"t0": 10, "t1": 20}, members, CHAIN_OWNED)

    assert checked(assignor, group).counts(3).tolist() == counts


def test_moves_no_more_than_the_chain_has_links():
    members = {"c0": "t0", "c1": "t0 t1", "c2": "t1"}
    group = group_of({"t0": 10, "t1": 20}, members, CHAIN_OWNED)

    moved = OURS.solve(group).certificate.moved

    assert (moved.value, moved.lower_bound) == (2, 2)


def weighted(group, weights, capacity=None):
    partitions = replace(group.partitions, weight=np.array(weights, dtype=float))
    members = group.members
    if capacity is not None:
        members = replace(members, capacity=np.array(capacity, dtype=float))
    return replace(group, partitions=partitions, members=members)


@st.composite
def weighted_groups(draw, *, is_equal=False):
    group = draw(groups(max_partitions=4, max_members=4, is_equal=is_equal))
    if is_equal:
        group = single_claims(group)
    weight = st.sampled_from([0.0, 0.5, 1.0, 2.5, 7.0, 30.0])
    capacity = st.sampled_from([1.0, 1.0, 2.0, 0.5])
    return weighted(
        group,
        [draw(weight) for _ in range(group.num_partitions)],
        [draw(capacity) for _ in range(group.num_members)],
    )


@given(weighted_groups())
def test_weights_keep_every_rule_and_every_bound(group):
    checked(OURS, group)
    solved = OURS.solve(group)
    busiest, moved = solved.certificate.busiest, solved.certificate.moved

    use = solved.assignment.load(group) / group.members.capacity
    assert busiest.value == pytest.approx(use.max())
    assert busiest.lower_bound <= busiest.value
    assert moved.lower_bound <= moved.value


@given(weighted_groups().filter(is_small))
def test_bounds_with_weights_hold_for_every_assignment(group):
    certificate = OURS.solve(group).certificate
    bound = certificate.busiest.lower_bound

    for each in all_assignments(group):
        use = (each.load(group) / group.members.capacity).max()
        assert use >= bound * (1 - 1e-12)
        if use <= certificate.busiest.value:
            assert is_moved(group, each).sum() >= certificate.moved.lower_bound


@given(weighted_groups())
def test_asked_again_with_weights_it_only_moves_to_be_less_busy(group):
    assignment = checked(OURS, group)
    settled = with_owners(group, assignment)

    again = checked(OURS, settled)

    before, after = (
        (each.load(settled) / settled.members.capacity).max()
        for each in (assignment, again)
    )
    assert not is_moved(settled, again).any() or after < before


def excess(group, assignment):
    """The largest load above what a member may carry, in shares, and the sum of all."""
    capacity = group.members.capacity
    is_read = group.is_read[group.partitions.topic_idx]
    share = group.partitions.weight[is_read].sum() * capacity / capacity.sum()
    is_owned = (classes_of(group).owner_idx != ABSENT).any()
    most = 1 + (OURS.tolerance if is_owned else 0.0)
    over = np.maximum(assignment.load(group) / np.maximum(share, 1e-300) - most, 0)
    return round(over.max(), 7), over.sum()


@settings(max_examples=60)
@given(weighted_groups(is_equal=True).filter(is_small))
def test_weights_equal_brute_force_where_all_read_the_same(group):
    if group.has_equal_weights or not group.is_read.any():
        return
    assignment = checked(OURS, group)

    largest, summed = excess(group, assignment)
    near = [
        (excess(group, each), int(is_moved(group, each).sum()))
        for each in all_assignments(group)
    ]
    assert largest == min(of for (of, _), _ in near)
    fewest = min(
        moved for (of, total), moved in near if of <= largest and total <= summed + 1e-7
    )
    assert is_moved(group, assignment).sum() == fewest


def test_shares_of_weights_go_by_capacity():
    group = group_of({"t0": 5}, {"c0": "t0", "c1": "t0", "c2": "t0"})
    group = weighted(group, [1, 2, 3, 4, 6], capacity=[1, 1, 2])

    fair = balanced_weights._fair_shares(group, classes_of(group))

    assert fair.share == pytest.approx([4, 4, 8])
    assert fair.bound == pytest.approx(4)


def test_what_cp_sat_says_of_weights_stands_beside_what_is_checked():
    # 24 in all, and no two of these make 12.
    group = group_of({"t0": 4}, {"c0": "t0", "c1": "t0"})
    group = weighted(group, [10, 6, 5, 3])

    busiest = OURS.solve(group).certificate.busiest

    assert (busiest.value, busiest.lower_bound) == (13.0, 12.0)
    assert busiest.solver_bound == pytest.approx(13.0)
    assert busiest.is_least


@pytest.mark.parametrize(
    ("weights", "capacity", "loads"),
    [
        pytest.param([5, 4, 3, 3, 3], [1, 1], [9, 9], id="needs-a-swap"),
        pytest.param([10, 1, 1, 1], [1, 1], [10, 3], id="one-heavy"),
        pytest.param([1, 1, 1, 1, 1, 1], [1, 2], [2, 4], id="capacity"),
        pytest.param([0, 0, 0], [1, 1, 1], [0, 0, 0], id="weigh-nothing"),
    ],
)
def test_small_weights(weights, capacity, loads):
    members = {f"c{n}": "t0" for n in range(len(capacity))}
    group = weighted(group_of({"t0": len(weights)}, members), weights, capacity)

    assignment = checked(OURS, group)

    assert sorted(assignment.load(group).tolist()) == sorted(loads)


def test_a_member_within_the_tolerance_gives_nothing_up():
    owned = {"c0": {"t0": [0, 1]}, "c1": {"t0": [2, 3]}}
    members = {"c0": "t0", "c1": "t0"}
    group = weighted(group_of({"t0": 4}, members, owned), [52, 51, 50, 48])

    patient = checked(Balanced(tolerance=0.05), group)
    strict = checked(Balanced(tolerance=0.0), group)

    assert not is_moved(group, patient).any()
    assert strict.load(group).max() < patient.load(group).max()


@settings(max_examples=20)
@given(weighted_groups())
def test_compiled_kernels_answer_the_same(group):
    plain = OURS.assign(group)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(largest_first, "MIN_ITEMS_COMPILED", 0)
        compiled = OURS.assign(group)

    assert compiled.member_idx.tolist() == plain.member_idx.tolist()


def test_heaviest_first_comes_close_on_many_partitions():
    rng = np.random.default_rng(1)
    topics, members = {"t0": 20_000}, {f"c{n}": "t0" for n in range(50)}
    group = weighted(group_of(topics, members), rng.lognormal(0, 1, 20_000))

    busiest = OURS.solve(group).certificate.busiest

    assert busiest.gap <= 0.001


def test_different_subscriptions_with_weights_come_close():
    rng = np.random.default_rng(2)
    topics = {f"t{n}": 40 for n in range(30)}
    members = {
        f"c{n}": rng.choice(sorted(topics), 8, replace=False).tolist()
        for n in range(40)
    }
    group = group_of(topics, members)
    group = weighted(group, rng.lognormal(0, 0.5, group.num_partitions))

    busiest = OURS.solve(group).certificate.busiest

    assert busiest.gap <= 0.05


def test_members_without_subscriptions():
    group = group_of({"t0": 2}, {"c0": []})

    solved = OURS.solve(group)

    assert solved.assignment.member_idx.tolist() == [ABSENT, ABSENT]
    assert solved.certificate.busiest.value == 0


def test_more_members_than_partitions_leaves_some_idle():
    group = group_of({"t0": 2}, dict.fromkeys(["c0", "c1", "c2"], "t0"))

    assert checked(OURS, group).counts(3).tolist() == [1, 1, 0]


LARGE = {"num_topics": 60, "partitions_each": 40, "num_members": 50}


def large_group(num_topics, partitions_each, num_members):
    topics = [
        TopicSpec(name=f"t{n:02}", num_partitions=partitions_each)
        for n in range(num_topics)
    ]
    names = [topic.name for topic in topics]
    members = [
        MemberSpec(member_id=f"c{n:02}", topics=names) for n in range(num_members)
    ]
    return make_group(topics, members)


@pytest.mark.parametrize("stays", [40, 50])
def test_beyond_the_exact_sizes_topics_go_round_the_members(monkeypatch, stays):
    monkeypatch.setattr(balanced_same, "MAX_EDGES_SAME", 0)
    group = large_group(**LARGE)
    first = checked(OURS, group)
    few = with_owners(group, first).with_members(np.arange(stays))
    settled = with_owners(few, checked(OURS, few))
    grown = add_members(settled, 5)

    joined = checked(OURS, grown)

    assert widths(group, first.member_idx).max() == 1
    for one, made in ((settled, checked(OURS, settled)), (grown, joined)):
        counts = made.counts(one.num_members)
        assert counts.max() - counts.min() <= 1
        assert widths(one, made.member_idx).max() <= 3
    had = settled.owned.counts
    fewest = int(
        np.maximum(had - joined.counts(grown.num_members)[: len(had)], 0).sum()
    )
    assert is_moved(grown, joined).sum() == fewest


def widths(group, member_idx):
    """By how many partitions the readers of each topic differ, all reading all."""
    shape = (len(group.topics), group.num_members)
    read = np.zeros(shape, dtype=int)
    np.add.at(read, (group.partitions.topic_idx, member_idx), 1)
    return read.max(axis=1) - read.min(axis=1)


def add_members(group, count):
    """The group and newcomers that own nothing."""
    owned = {m: named_rows(group, row) for row, m in enumerate(group.members.ids)}
    topics = [
        TopicSpec(name=name, num_partitions=int(group.topics.num_partitions[t]))
        for t, name in enumerate(group.topics.names)
    ]
    names = list(group.topics.names)
    members = [
        MemberSpec(member_id=m, topics=names, owned=owned.get(m, {}))
        for m in (*group.members.ids, *(f"new{n}" for n in range(count)))
    ]
    return make_group(topics, members)


def named_rows(group, member):
    found = {}
    for row in group.owned.of(member).tolist():
        topic, _, number = group.name_of(row).rpartition("-")
        found.setdefault(topic, []).append(int(number))
    return found


@settings(max_examples=25)
@given(groups(is_equal=True).map(single_claims))
def test_compiled_or_not_the_same_partitions_are_dealt(group):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(balanced_same, "MAX_EDGES_SAME", 0)
        plain, solved = checked(OURS, group), OURS.solve(group)
        patch.setattr(largest_first, "MIN_ITEMS_COMPILED", 0)
        compiled = checked(OURS, group)

    assert plain.member_idx.tolist() == compiled.member_idx.tolist()
    least = solved.certificate.moved
    assert is_moved(group, plain).sum() == least.value == least.lower_bound
