"""Records without keys while brokers are slow or away, by Kafka's own formula."""

import json
import random
from bisect import bisect_right
from itertools import accumulate

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import planner
from assignment.partitioners.built_in import draw_weights
from planner.errors import BadInputError
from support.commands import run

RECORDS, BATCH = 24_000, 100


def frequency_table(queues, included):
    """
    Return the cumulative frequency table of Kafka's ``BuiltInPartitioner``.

    Queue sizes are inverted by the longest plus one. Without a table Kafka draws any
    partition that has a leader.
    """
    sizes = [queues[p] for p in included]
    if not sizes or (len(set(sizes)) == 1 and len(sizes) == len(queues)):
        return None
    return list(accumulate(max(sizes) + 1 - size for size in sizes))


def kafka_shares(count, slow, away=(), *, is_adaptive=True, timeout=0, batches=20_000):
    """Return the share of batches of each partition, drawn as Kafka's class does."""
    draws = random.Random(7)
    with_leader = [p for p in range(count) if p not in away]
    queues, waits, drawn = [0.0] * count, [0] * count, [0] * count
    for _ in range(batches):
        included = [p for p in with_leader if not timeout or waits[p] < timeout]
        table = frequency_table([int(q) for q in queues], included)
        number = draws.randrange(2**31)
        has_table = all(drawn[p] for p in with_leader) and table is not None
        if not has_table or not is_adaptive:
            partition = with_leader[number % len(with_leader)]
        else:
            partition = included[bisect_right(table, number % table[-1])]
        drawn[partition] += 1
        queues[partition] += 1
        for p in range(count):
            is_stuck = queues[p] > 0 and slow.get(p) == 0
            waits[p] = waits[p] + 1 if is_stuck else 0
            queues[p] = max(queues[p] - slow.get(p, count) / count, 0)
    return [each / batches for each in drawn]


def shown(document):
    return [row["share"] for row in document["partitions"]]


def shares(count, names="builtin", **options):
    """Return the share of each partition of records that fill a batch each."""
    found = planner.keys_skew(
        [None] * RECORDS,
        partitions=count,
        partitioner=names,
        record_bytes=BATCH,
        batch_bytes=BATCH,
        **options,
    )
    return shown(found.document)


@given(st.lists(st.integers(0, 6), min_size=2, max_size=6), st.data())
def test_chances_are_those_of_the_cumulative_frequency_table(queues, data):
    rows = range(len(queues))
    included = sorted(data.draw(st.sets(st.sampled_from(list(rows)), min_size=1)))
    table = frequency_table(queues, included)

    weights = draw_weights(
        np.array(queues, float), np.array([p in included for p in rows])
    )

    if table is None:
        assert len(set(weights)) == 1
    else:
        drawn = [included[bisect_right(table, n)] for n in range(table[-1])]
        assert weights.tolist() == [drawn.count(p) for p in rows]


@pytest.mark.parametrize(
    ("slow", "away", "is_adaptive", "timeout"),
    [
        pytest.param({2: 0.5}, [], True, 0, id="half-the-pace"),
        pytest.param({2: 0.5, 0: 0.1}, [], True, 0, id="two-slow"),
        pytest.param({2: 0.5}, [], False, 0, id="not-adaptive"),
        pytest.param({2: 0}, [], True, 0, id="stalled"),
        pytest.param({2: 0}, [], True, 20, id="stalled-and-unavailable"),
        pytest.param({}, [1], True, 0, id="away"),
        pytest.param({2: 0.2}, [1], True, 0, id="away-and-slow"),
        pytest.param({2: 0.2}, [1], False, 0, id="away-not-adaptive"),
        pytest.param({0: 0, 2: 0, 3: 0}, [1], True, 5, id="none-available"),
    ],
)
def test_shares_are_those_of_kafka(slow, away, is_adaptive, timeout):
    expected = kafka_shares(4, slow, away, is_adaptive=is_adaptive, timeout=timeout)

    found = shares(
        4,
        slow=slow,
        away=away,
        adaptive=is_adaptive,
        availability_timeout=timeout,
    )

    assert found == pytest.approx(expected, abs=0.015)


def test_a_slow_partition_receives_what_its_broker_takes():
    assert shares(4, slow={2: 0.5})[2] == pytest.approx(0.5 / 4, abs=0.01)


def test_keys_are_placed_alike_whether_brokers_are_slow_or_away():
    words = {"partitions": 3, "partitioner": "default"}
    keys = ["a", "b", "c"] * 20

    found = planner.keys_skew(keys, slow={0: 0.5}, away=[1], **words)

    plain = planner.keys_skew(keys, **words)
    assert found.document["partitions"] == plain.document["partitions"]


@pytest.fixture
def sample(tmp_path):
    path = tmp_path / "nulls.jsonl"
    line = json.dumps({"key": None, "bytes": 16_384})
    path.write_text(f"{line}\n" * 3_000)
    return path


def test_the_command_takes_the_same_options(capsys, sample):
    words = ["keys", "skew", sample, "--partitions", "3", "--partitioner", "builtin"]
    words += ["--slow", "2=0.5", "--away", "1"]

    adaptive = run(capsys, *words, "--format", "json").document
    uniform = run(capsys, *words, "--no-adaptive", "--format", "json").document

    drawn = [
        [row["share"] for row in each["partitions"]] for each in (adaptive, uniform)
    ]
    assert drawn[0] == pytest.approx([5 / 6, 0, 1 / 6], abs=0.02)
    assert drawn[1] == pytest.approx([1 / 2, 0, 1 / 2], abs=0.03)
    assert any(
        "partition 2 takes 50 % of an even share; partition 1 has no leader" in note
        for note in adaptive["notes"]
    )


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (["--slow", "2"], "--slow: must be PARTITION=FACTOR"),
        (["--slow", "1=2"], "--slow: must be PARTITION=FACTOR"),
        (["--slow", "3=0.5"], "--slow: must be a partition from 0 to 2"),
        (["--away", "3"], "--away: must be a partition from 0 to 2"),
        (["--slow", "1=0", "--slow", "1=0.5"], "--slow: names partition 1 again"),
        (["--slow", "1=0", "--away", "1"], "--away: names partition 1 again"),
        (["--away", "0", "--away", "1", "--away", "2"], "must leave a partition with"),
        (["--availability-timeout", "9"], "needs a broker that takes nothing"),
        (
            ["--slow", "1=0", "--availability-timeout", "9", "--no-adaptive"],
            "has no effect with --no-adaptive",
        ),
        (["--slow", "1=0", "--sweep", "3-6"], "is for one number of partitions"),
        (["--slow", "1=0", "--max-keys", "9"], "--max-keys"),
        (
            ["--slow", "1=0", "--partitioner", "roundrobin"],
            "--slow: does not draw partitions by the queues",
        ),
        (
            ["--no-adaptive", "--partitioner", "roundrobin"],
            "--no-adaptive: does not draw",
        ),
        (["--away", "1", "--partitioner", "uniform-sticky"], "--away: does not draw"),
    ],
)
def test_what_the_simulation_does_not_use_is_refused(capsys, sample, words, problem):
    outcome = run(capsys, "keys", "skew", sample, "--partitions", "3", *words)

    assert outcome.code == 2
    assert problem in " ".join(outcome.err.split())


def test_python_names_its_arguments_in_problems():
    with pytest.raises(BadInputError, match="slow"):
        planner.keys_skew([None], partitions=2, slow={5: 0.5})
