"""The change ``keys``: a topic's load as a sample of its keys spreads it."""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from placement.cluster_changes.key_spread import spread_by_shares
from placement.cluster_changes.replica_filling import open_brokers
from placement.cluster_changes.variant import Data, variant_of
from placement.failures.controller_decision import ElectionRules
from placement.model.cluster import UNKNOWN, BrokerState
from planner.errors import BadInputError
from planner.snapshot import Snapshot
from planner.what_if.changes.change_context import Changer, Context
from planner.what_if.changes.change_registry import make_change
from planner.what_if.changes.scenario_names import NameReader
from planner.what_if.changes.scenario_records import (
    KeysRecord,
    NewTopicRecord,
    PartitionsRecord,
)
from planner.what_if.scenarios_file import validate_scenarios
from support.clusters import clusters, make_state
from support.commands import run
from support.plans import skewed_document
from support.scenarios import changed, scenario

KEYS = ["order-1", "order-2", "order-1", "order-3", "order-1", "order-2"]


def two_topics():
    """Topic a with two partitions, topic b with one."""
    return make_state(
        {"a": [[0, 1], [1, 2]], "b": [[2, 0]]},
        racks="abc",
        size_bytes=[100, 50, 70],
        in_rate=[10.0, 20.0, 5.0],
        out_rate=[30.0, 40.0, 5.0],
        leader_cpu=2.0,
        follower_cpu=1.0,
    )


def keys_file(tmp_path: Path, lines=KEYS, name="keys.txt") -> str:
    path = tmp_path / name
    path.write_text("\n".join(lines) + "\n")
    return str(path)


def test_a_topic_is_as_skewed_as_its_keys(tmp_path):
    sample = keys_file(tmp_path)

    variant = changed(
        two_topics(), {"change": "keys", "topic": "a", "sample": sample, "count": 3}
    )

    # As `keys skew` places them in docs/keys.md: three records each on 0 and 1.
    partitions = variant.state.partitions
    assert partitions.partition.tolist() == [0, 1, 2, 0]
    assert partitions.in_bytes_per_s.tolist() == [15.0, 15.0, 0.0, 5.0]
    assert partitions.out_bytes_per_s.tolist() == [35.0, 35.0, 0.0, 5.0]
    assert partitions.size_bytes.tolist() == [75, 75, 0, 70]
    assert np.equal(variant.data, Data.EMPTY).sum() == 2
    (note,) = variant.notes
    assert "the busiest of 3 partitions, 0, has 1.50 x the mean rate" in note
    assert note.endswith("today 1.33 x")


def test_bytes_of_records_count_where_the_sample_has_them(tmp_path):
    sample = keys_file(
        tmp_path, ["key,bytes", "order-1,10", "order-2,30", "order-2,60"], "k.csv"
    )

    after = changed(
        two_topics(), {"change": "keys", "topic": "a", "sample": sample, "count": 3}
    ).state

    rates = after.partitions.in_bytes_per_s[:3]
    assert rates.tolist() == pytest.approx([27.0, 3.0, 0.0])


def test_today_has_the_default_count(tmp_path):
    change = {"change": "keys", "topic": "a", "sample": keys_file(tmp_path)}

    assert changed(two_topics(), change).state.num_partitions == 3


@given(st.data())
def test_the_load_of_the_topic_is_kept(data):
    state = data.draw(clusters(all_known=True))
    now = int(np.equal(state.partitions.topic_idx, 0).sum())
    assume(now > 0 and open_brokers(state, frozenset()).any())
    weights = data.draw(
        st.lists(st.integers(0, 9), min_size=now, max_size=now + 4).filter(any)
    )
    shares = np.array(weights) / sum(weights)

    variant = spread_by_shares(variant_of(state), 0, shares)

    before, after = state.partitions, variant.state.partitions
    rows = np.equal(after.topic_idx, 0)
    old = np.equal(before.topic_idx, 0)
    for name in ("in_bytes_per_s", "out_bytes_per_s", "leader_cpu_cores"):
        total = getattr(before, name)[old].sum()
        expected = [pytest.approx(total * share, rel=1e-9) for share in shares]
        assert getattr(after, name)[rows].tolist() == expected
        others = getattr(before, name)[~old].tolist()
        assert getattr(after, name)[~rows].tolist() == others
    total = before.size_bytes[old].sum()
    assert after.size_bytes[rows].sum() == pytest.approx(total, abs=2 * len(shares))
    assert rows.sum() == len(shares)


def test_unknown_sizes_and_rates_stay_unknown():
    state = make_state(
        {"a": [[0], [1]]}, racks="ab", size_bytes=[UNKNOWN, 5], in_rate=[np.nan, 1.0]
    )

    after = spread_by_shares(variant_of(state), 0, np.array([0.5, 0.5])).state

    assert after.partitions.size_bytes.tolist() == [UNKNOWN, UNKNOWN]
    assert np.isnan(after.partitions.in_bytes_per_s).all()


@pytest.mark.parametrize(
    ("fields", "place", "words"),
    [
        pytest.param({"topic": "aa"}, "topic", "did you mean a?", id="topic"),
        pytest.param({"count": 1}, "count", "partitions only grow", id="fewer"),
        pytest.param(
            {"partitioner": "defautl"}, "partitioner", "did you mean default", id="name"
        ),
        pytest.param(
            {"partitioner": "os:system"}, "partitioner", "must be one of", id="code"
        ),
        pytest.param({"sample": "none.txt"}, "sample", "no such file", id="no-file"),
        pytest.param(
            {"key_type": "int"}, "sample", "must be an integer", id="key-type"
        ),
        pytest.param({"key_type": "str"}, "sample", "must be one of", id="type"),
    ],
)
def test_what_cannot_be_is_named(tmp_path, fields, place, words):
    snapshot = Snapshot.from_document(skewed_document())
    change = {"change": "keys", "topic": "a", "sample": keys_file(tmp_path, ["x"])}

    with pytest.raises(BadInputError) as caught:
        validate_scenarios(
            {"scenarios": [scenario("s", {**change, **fields})]},
            snapshot,
            snapshot.to_state(),
        )

    (found,) = caught.value.problems
    assert found.place == f"scenarios[0].changes[0].{place}"
    assert words in f"{found.rule} {found.remedy}"


@pytest.mark.parametrize("kind", ["keys", "partitions", "new-topic"])
def test_a_cluster_without_brokers_for_replicas_is_named(tmp_path, kind):
    state = make_state({"a": [[0]]}, racks="a", states={0: BrokerState.DEAD})
    names = NameReader("file")
    context = Context(configs={}, rules=ElectionRules())
    change = {
        "keys": KeysRecord(
            change="keys", topic="a", sample=keys_file(tmp_path), count=3
        ),
        "partitions": PartitionsRecord(change="partitions", count=3),
        "new-topic": NewTopicRecord(change="new-topic", name="n", partitions=1),
    }[kind]

    make_change(Changer(names, context), variant_of(state), change, "here")

    (problem,) = names.problems
    assert problem.place.startswith("here")
    assert "brokers that take replicas: 0" in problem.rule


def test_the_sample_of_another_topic_is_refused(tmp_path):
    lines = [json.dumps({"key": "x", "topic": "b"})]
    sample = keys_file(tmp_path, lines, "k.jsonl")
    snapshot = Snapshot.from_document(skewed_document())
    change = {"change": "keys", "topic": "a", "sample": sample}

    with pytest.raises(BadInputError, match="another topic"):
        validate_scenarios(
            {"scenarios": [scenario("s", change)]}, snapshot, snapshot.to_state()
        )


def test_the_command_says_how_skewed_the_topic_is(tmp_path, capsys):
    snapshot = tmp_path / "c.json"
    snapshot.write_text(json.dumps(skewed_document()))
    sample = keys_file(tmp_path)
    scenarios = tmp_path / "s.toml"
    scenarios.write_text(
        '[[scenarios]]\nname = "keyed"\nthen = "nothing"\n'
        'changes = [{change = "keys", topic = "a", count = 20, '
        f'sample = "{sample}"}}]\n'
    )

    outcome = run(capsys, "what-if", snapshot, scenarios, "--format", "json")

    (row,) = outcome.document["scenarios"]
    assert any("the busiest of 20 partitions" in note for note in row["notes"])
