"""The rule of broker sets, and its tables joined with those of other rules."""

from collections import Counter

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from placement.draft.rule_tables import Eligibility, class_tables
from placement.model.load import Resource
from placement.rules.broker_sets import BrokerSets, home_sets
from rules.rule_plans import MET, SETS, after, changed_lists, planned
from support.clusters import clusters, make_state
from support.naive import lists_of


def test_topics_move_to_their_set_and_are_balanced_there():
    state = make_state(
        {"g": [[0], [0], [0], [2]], "s": [[2], [2]]}, ids=[0, 1, 2, 3],
        racks="abab", broker_sets=SETS,
    )  # fmt: skip

    found = planned(state, BrokerSets(np.array([0, 1])), resources=(Resource.REPLICAS,))

    held = {
        topic: Counter(
            row[0] for (t, _), row in lists_of(after(found)).items() if t == topic
        )
        for topic in ("g", "s")
    }
    assert found.solution.status in MET
    assert held == {"g": {0: 2, 1: 2}, "s": {2: 1, 3: 1}}
    assert found.targets.target[:, 4].tolist() == [2, 2, 1, 1]


def test_topics_belong_to_the_set_of_their_majority():
    state = make_state(
        {"a": [[0], [0], [2]], "b": [[3]], "c": [[4]]}, ids=[0, 1, 2, 3, 4],
        broker_sets=SETS,
    )  # fmt: skip

    assert home_sets(state).tolist() == [0, 1, 2]


@settings(max_examples=30)
@given(clusters(min_brokers=3), st.data())
def test_no_replica_comes_to_another_set(state, data):
    count = len(state.brokers.broker_sets) + 1
    chosen = data.draw(
        st.lists(
            st.integers(0, count - 1),
            min_size=len(state.topics.names),
            max_size=len(state.topics.names),
        )
    )
    rule = BrokerSets(np.array(chosen, dtype=np.int64))

    found = planned(state, rule, effort="quick")

    own = state.brokers.broker_set_idx.tolist()
    rows = {b: own[n] for n, b in enumerate(state.brokers.ids.tolist())}
    before = lists_of(state)
    for (topic, number), listed in changed_lists(found).items():
        wanted = chosen[state.topics.names.index(topic)]
        for broker in set(listed) - set(before[topic, number]):
            assert (rows[broker] if rows[broker] >= 0 else count - 1) == wanted


@given(st.data())
def test_joined_tables_allow_what_each_allows(data):
    partitions, brokers = data.draw(st.integers(0, 6)), data.draw(st.integers(1, 5))
    rules = []
    for _ in range(data.draw(st.integers(0, 3))):
        classes = data.draw(st.integers(1, 3))
        rows = [data.draw(st.integers(0, classes - 1)) for _ in range(partitions)]
        cells = [data.draw(st.booleans()) for _ in range(classes * brokers)]
        allowed = np.array(cells, dtype=np.bool_).reshape(classes, brokers)
        rules.append(Eligibility(np.array(rows, dtype=np.int64), allowed))

    joined = class_tables(rules, partitions, brokers)

    for p in range(partitions):
        for b in range(brokers):
            assert joined.is_eligible[
                joined.group_class[p], joined.bin_class[b]
            ] == all(rule.allowed[rule.partition_class[p], b] for rule in rules)
