"""Skew: shares, hot keys, causes, sweeps, intervals and comparisons, by counting."""

import time
from collections import Counter
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assignment.partitioners.balls_into_bins import expected_max_over_mean
from keys.test_hashes import naive_murmur2
from keys.test_partitioners import ORACLES
from planner.errors import BadInputError
from planner.keys.formats.read_sample import SampleBuilder
from planner.keys.keys_request import SkewRequest, answer_skew
from planner.keys.keys_screen import skew_screen
from planner.keys.sample_options import SampleOptions
from planner.keys.sample_rows import SampleRows
from planner.keys.skew_causes import DecidingKeys
from planner.keys.skew_document import skew_document
from planner.text.format import percent_text

KEYS = st.lists(st.sampled_from("abcdefgh"), min_size=1, max_size=40)


def sample_of(keys, sizes=None, partitions=None, weights=None, **options):
    builder = SampleBuilder("sample", SampleOptions(**options))
    builder.add(
        SampleRows(
            keys=pa.array(keys),
            sizes=None if sizes is None else pa.array(sizes, pa.int64()),
            partitions=None if partitions is None else pa.array(partitions, pa.int32()),
        )
    )
    return builder.build(
        weights=None if weights is None else np.array(weights, float),
        num_partitions=None,
    )


def skew_of(sample, count, *names, **options):
    request = SkewRequest(
        partitions=count, partitioners=names or ("default",), **options
    )
    return skew_document(answer_skew(sample, request.options()))


def partition_of(key, count):
    return (naive_murmur2(key.encode()) & 0x7FFFFFFF) % count


@given(KEYS, st.integers(1, 9), st.data())
def test_shares_are_those_of_counting(keys, count, data):
    sizes = data.draw(
        st.lists(st.integers(0, 99), min_size=len(keys), max_size=len(keys))
    )
    records, bytes_on = Counter(), Counter()
    for key, size in zip(keys, sizes, strict=True):
        records[partition_of(key, count)] += 1
        bytes_on[partition_of(key, count)] += size

    found = skew_of(sample_of(keys, sizes), count)

    for row in found["partitions"]:
        assert row["records"] == records[row["partition"]]
        assert row["bytes"] == bytes_on[row["partition"]]
        assert row["share"] == pytest.approx(row["records"] / len(keys))
    most = max(records.values())
    assert found["max_over_mean"] == pytest.approx(most * count / len(keys))
    assert found["sample"]["keys"] == len(set(keys))
    assert found["sample"]["bytes"] == sum(sizes)


@given(KEYS, st.integers(1, 9))
def test_hot_keys_are_the_most_common_and_bound_the_skew(keys, count):
    counts = Counter(keys)

    found = skew_of(sample_of(keys), count, num_hot=3)

    records = [each["records"] for each in found["hot_keys"]]
    assert records == sorted(counts.values(), reverse=True)[:3]
    for each in found["hot_keys"]:
        assert each["records"] == counts[each["key"]]
        assert each["partition"] == partition_of(each["key"], count)
    least = max(1, max(counts.values()) * count / len(keys))
    assert found["least_max_over_mean"] == pytest.approx(least)
    assert found["max_over_mean"] >= least - 1e-9
    causes = found["causes"]
    assert 1 + causes["hot_keys"] + causes["hashing"] == pytest.approx(
        found["max_over_mean"]
    )


@given(KEYS)
def test_of_equally_hot_keys_the_hottest_alone_is_a_cause(keys):
    """With fewer keys than partitions every key is hot: no load can be even."""
    distinct = sorted(set(keys))
    found = skew_of(sample_of(distinct * 3), 5)

    causes = found["causes"]
    assert causes["hot_keys"] == pytest.approx(found["least_max_over_mean"] - 1)


def test_several_hot_keys_are_a_cause_though_none_is_over_the_mean():
    # 20 keys have 80 % of the records: none of them over 4 %, the mean being 8 %.
    keys = [f"hot-{n}" for n in range(20)] * 400 + [f"cold-{n}" for n in range(2_000)]

    found = skew_of(sample_of(keys), 12)

    assert found["least_max_over_mean"] == 1
    assert found["expected_max_over_mean"] < 1.2
    excess = found["max_over_mean"] - 1
    assert excess > 0.5
    causes = found["causes"]
    assert causes["hot_keys"] > 0.8
    assert causes["hot_keys"] + causes["hashing"] == pytest.approx(excess)
    even = skew_of(sample_of([f"k{n}" for n in range(2_000)]), 12)
    assert even["causes"]["hot_keys"] == 0
    assert even["causes"]["hashing"] == pytest.approx(even["max_over_mean"] - 1)


def test_records_without_keys_thin_out_what_is_expected():
    keys = ["a", "b", "c"]

    alone = skew_of(sample_of(keys * 100), 6)
    mixed = skew_of(sample_of([*keys, None] * 100, [1] * 400), 6, batch_bytes=1)

    above = alone["expected_max_over_mean"] - 1
    assert mixed["expected_max_over_mean"] == pytest.approx(1 + 0.75 * above)


WEIGHTS = {
    "equal": np.ones(300),
    "zipf": 1 / np.arange(1, 1001),
    "mild-zipf": 1 / np.arange(1, 5001) ** 0.7,
    "lognormal": np.exp(np.random.default_rng(2).normal(0, 2, 3000)),
    "some-hot": np.concatenate([np.full(20, 4.0), np.full(5000, 0.004)]),
    "one-hot": np.concatenate([[200.0], np.ones(2000)]),
}


@pytest.mark.parametrize("partitions", [3, 12, 48])
@pytest.mark.parametrize("weights", WEIGHTS)
def test_the_expected_skew_of_hot_keys_is_that_of_random_hashes(weights, partitions):
    records = WEIGHTS[weights]
    rng = np.random.default_rng(9)
    hashed = rng.integers(partitions, size=(500, len(records)))
    loads = [np.bincount(row, records, partitions).max() for row in hashed]
    seen = np.mean(loads) * partitions / records.sum()

    _, expected = DecidingKeys.of(records).expected_skews(partitions)

    assert expected - 1 == pytest.approx(seen - 1, rel=0.17)


@given(KEYS)
def test_a_sweep_is_one_skew_per_count(keys):
    sample = sample_of(keys)

    found = skew_of(sample, 3, sweep="2-4,7")["sweep"]

    assert [each["partitions"] for each in found] == [2, 3, 4, 7]
    for each in found:
        alone = skew_of(sample, each["partitions"])
        assert each["max_over_mean"] == alone["max_over_mean"]
        assert each["expected_max_over_mean"] == alone["expected_max_over_mean"]


@pytest.mark.parametrize(
    ("keys", "partitions"),
    [(1, 6), (3, 2), (40, 6), (1000, 12), (5000, 3), (10_000, 48), (30_000, 100)],
)
def test_the_expected_skew_is_that_of_balls_thrown_into_bins(keys, partitions):
    rng = np.random.default_rng(7)
    thrown = rng.multinomial(keys, [1 / partitions] * partitions, size=4000)
    seen = thrown.max(axis=1) * partitions / keys

    expected = expected_max_over_mean(keys, partitions)

    assert abs(expected - seen.mean()) < 5 * seen.std() / 4000**0.5 + 5e-4


def test_a_long_sweep_is_expected_in_seconds():
    began = time.process_time()

    for count in range(3, 503):
        expected_max_over_mean(2_719, count)

    # Transforms of all limits, of odd lengths, took a minute.
    assert time.process_time() - began < 10


def test_the_expected_skew_of_three_keys_on_two_partitions_is_exact():
    # 2 of 8 ways put all three together, 6 put two: (2 · 3 + 6 · 2) / 8 over 1.5.
    assert expected_max_over_mean(3, 2) == pytest.approx(18 / 8 / 1.5)
    assert expected_max_over_mean(5, 1) == 1


@pytest.mark.parametrize("other", sorted(ORACLES))
@given(keys=KEYS, count=st.integers(2, 9))
def test_keys_apart_are_those_that_two_clients_place_differently(other, keys, count):
    counts = Counter(keys)
    theirs = {key: ORACLES[other](key.encode(), count) for key in counts}
    apart = {key for key in counts if theirs[key] != partition_of(key, count)}

    (found,) = skew_of(sample_of(keys), count, "default", other)["compared"]

    assert found["keys_apart"] == len(apart)
    assert found["records_apart"] == sum(counts[key] for key in apart)
    for each in found["examples"]:
        assert each["partition"] == partition_of(each["key"], count)
        expected = theirs[each["key"]]
        assert each["other"] == (None if expected < 0 else expected)


def test_the_client_that_placed_the_records_is_recognised():
    keys = [f"key-{n}" for n in range(200)]
    placed = [ORACLES["sarama"](key.encode(), 12) for key in keys]

    found = skew_of(sample_of(keys, partitions=placed), 12)

    first = found["placed_as"][0]
    assert first["share"] == 1
    assert first["partitioner"] in {"fnv1a", "fnv1a-random", "sarama"}
    assert any("sarama" in note for note in found["notes"])
    nowhere = skew_of(sample_of(keys, partitions=[0] * 200), 12)
    assert any("no known partitioner" in note for note in nowhere["notes"])


def test_the_client_is_recognised_on_the_partitions_that_the_topic_has():
    keys = [f"key-{n}" for n in range(200)]
    placed = [ORACLES["default"](key.encode(), 12) for key in keys]
    sample = replace(sample_of(keys, partitions=placed), num_partitions=12)

    found = skew_of(sample, 24)

    assert found["placed_as"][0]["share"] == 1
    assert any("are where default" in note for note in found["notes"])


def test_partitions_beyond_those_of_the_topic_are_noted():
    found = skew_of(sample_of(["a", "b"], partitions=[2, 7]), 3)

    assert found["placed_as"] == []
    (note,) = [each for each in found["notes"] if "partition 7" in each]
    assert "at least 8 partitions: give --partitions 8 or more" in note


def test_records_without_keys_are_simulated_and_counted():
    sample = sample_of(["a", None, None, "b"] * 500, [10] * 2000)

    found = skew_of(sample, 4, batch_bytes=100)

    assert found["sample"]["null_keys"] == 1000
    assert sum(row["records"] for row in found["partitions"]) == 2000
    null = next(each for each in found["hot_keys"] if each["key"] is None)
    assert (null["records"], null["partition"]) == (1000, None)
    assert any("simulated" in note for note in found["notes"])
    assert found["least_max_over_mean"] == 1  # of 500 records a key, not of 1000


@pytest.mark.parametrize("name", ["default", "uniform-sticky", "builtin"])
def test_records_of_unknown_size_fill_batches_too(name):
    # Without a key and without sizes a record would have no bytes, and fill no batch.
    found = skew_of(sample_of([None] * 60_000 + ["a"]), 4, name)

    assert found["max_over_mean"] < 1.1
    assert any("of 1,000 bytes each; --record-bytes" in n for n in found["notes"])
    sized = skew_of(sample_of([None] * 60_000, record_bytes=1_000), 4, name)
    assert not any("--record-bytes" in note for note in sized["notes"])


@pytest.mark.parametrize("name", ["murmur2-random", "roundrobin"])
def test_records_placed_one_by_one_need_no_sizes(name):
    found = skew_of(sample_of([None] * 100), 4, name)

    assert not any("--record-bytes" in note for note in found["notes"])


def test_a_partitioner_that_ignores_keys_says_so():
    found = skew_of(sample_of(["a", "b"] * 10), 2, "roundrobin")

    assert found["max_over_mean"] == 1
    assert found["expected_max_over_mean"] is None
    assert any("does not place records with keys" in n for n in found["notes"])


def test_shares_of_a_weighted_sample_are_estimates_that_hold_the_truth():
    rng = np.random.default_rng(5)
    # Partition 0 has 9,000 records, partition 1 has 1,000: 200 of each are read.
    topic = {0: rng.integers(0, 40, 9000), 1: rng.integers(40, 60, 1000)}
    truth = Counter(
        partition_of(str(key), 4) for keys in topic.values() for key in keys.tolist()
    )
    keys, partitions, weights = [], [], []
    for number, all_keys in topic.items():
        keys += [str(key) for key in all_keys[-200:].tolist()]
        partitions += [number] * 200
        weights += [len(all_keys) / 200] * 200

    found = skew_of(sample_of(keys, None, partitions, weights), 4)

    assert found["sample"]["estimated"]
    assert found["sample"]["records"] == 400
    for row in found["partitions"]:
        exact = truth[row["partition"]] / 10_000
        assert row["low"] <= row["share"] <= row["high"]
        assert row["low"] - 0.03 <= exact <= row["high"] + 0.03
    assert sum(row["records"] for row in found["partitions"]) == 10_000


def test_a_partition_read_whole_is_no_estimate():
    """Partition 0 has 1,000 records, of which 10 are read; partition 1 is read."""
    keys = ["a"] * 10 + ["b", "c"] * 200
    partitions, weights = [0] * 10 + [1] * 400, [100.0] * 10 + [1.0] * 400

    found = skew_of(sample_of(keys, None, partitions, weights), 3)

    widths = {row["key"]: row["high"] - row["low"] for row in found["hot_keys"]}
    # Ten equal keys do not prove that the other 990 are equal.
    assert 0.05 < widths["a"] < 0.4
    whole = skew_of(sample_of(keys, None, partitions, [1.0] * 410), 3)
    for row in (*whole["hot_keys"], *whole["partitions"]):
        assert row["low"] == row["share"] == row["high"]


class DrawnTopic:
    """A topic of two partitions, and samples of as many records of each."""

    def __init__(self, rng) -> None:
        self.rng = rng
        self.keys = [rng.zipf(1.5, 5_000) % 50, rng.integers(0, 50, 1_000)]
        # Records of a key are alike: hot keys have larger ones.
        self.sizes = [
            (100 / (1 + keys % 7) + rng.gamma(2, 50, len(keys))).astype(int)
            for keys in self.keys
        ]
        self.every = np.concatenate(self.keys)

    def sample(self, read):
        rows = [self.rng.choice(len(keys), read, replace=False) for keys in self.keys]
        pairs = list(zip(self.keys, self.sizes, rows, strict=True))
        return sample_of(
            [str(key) for keys, _, at in pairs for key in keys[at].tolist()],
            [size for _, sizes, at in pairs for size in sizes[at].tolist()],
            [0] * read + [1] * read,
            [len(keys) / read for keys in self.keys for _ in range(read)],
        )

    def totals(self, count):
        """Return true records and bytes on each partition."""
        on = [partition_of(str(key), count) for key in self.every.tolist()]
        sizes = np.concatenate(self.sizes)
        return np.bincount(on, minlength=count), np.bincount(on, sizes, count)


@pytest.mark.parametrize("read", [20, 200])
def test_bounds_of_estimated_shares_hold_in_95_of_100_samples(read):
    topic = DrawnTopic(np.random.default_rng(11))
    held: dict[str, list[bool]] = {"records": [], "bytes": [], "max": []}

    for _ in range(60):
        found = skew_of(topic.sample(read), 4, num_hot=3)
        records, sizes = topic.totals(4)
        for row in found["partitions"]:
            at = row["partition"]
            exact = records[at] / records.sum(), sizes[at] / sizes.sum()
            held["records"].append(row["low"] <= exact[0] <= row["high"])
            held["bytes"].append(row["bytes_low"] <= exact[1] <= row["bytes_high"])
        for key in found["hot_keys"] if read > 20 else ():
            exact = (topic.every == int(key["key"])).mean()
            held["records"].append(key["low"] <= exact <= key["high"])
        for name, sums in (("", records), ("bytes_", sizes)):
            low, high = (found[f"{name}max_over_mean_{s}"] for s in ("low", "high"))
            assert low <= found[f"{name}max_over_mean"] <= high
            held["max"].append(low <= sums.max() / sums.mean() <= high)

    assert {name for name, each in held.items() if np.mean(each) < 0.92} == set()


@given(st.data())
def test_bounds_of_bytes_are_those_of_cochrans_formula(data):
    """Compare with the combined ratio estimator, summed over single records."""
    records = st.tuples(
        st.sampled_from("abcdef"), st.integers(1, 99), st.integers(0, 2)
    )
    drawn = data.draw(st.lists(records, min_size=1, max_size=30))
    sizes = {number: data.draw(st.integers(30, 60)) for number in range(3)}
    read = Counter(number for _, _, number in drawn)
    weights = [sizes[number] / read[number] for _, _, number in drawn]
    keys, values, partitions = (list(each) for each in zip(*drawn, strict=True))

    found = skew_of(sample_of(keys, values, partitions, weights), 2)

    total = sum(w * v for w, v in zip(weights, values, strict=True))
    for row in found["partitions"]:
        share = row["bytes_share"]
        variance = sum(
            sizes[number] ** 2
            * (1 - count / sizes[number])
            * np.var(differences(drawn, number, row["partition"], share), ddof=1)
            / (count + 2)
            for number, count in read.items()
        )
        half = 1.959964 * variance**0.5 / total
        expected = (max(share - half, 0), min(share + half, 1))
        assert (row["bytes_low"], row["bytes_high"]) == pytest.approx(
            expected, abs=1e-4
        )


def differences(drawn, number, partition, share):
    """Return the bytes in a partition less its part of all, with two records more."""
    own = [(key, size) for key, size, other in drawn if other == number]
    mean = sum(size for _, size in own) / len(own)
    return [
        *(size * ((partition_of(key, 2) == partition) - share) for key, size in own),
        *(mean * (1 - share), -mean * share),
    ]


def test_bounds_of_the_skew_hold_for_all_partitions_at_once():
    """The more partitions, the more deviations: Bonferroni's inequality."""
    topic = DrawnTopic(np.random.default_rng(3))

    for count in (1, 4, 40):
        found = skew_of(topic.sample(100), count)
        rows = found["partitions"]
        low, high = found["max_over_mean_low"], found["max_over_mean_high"]
        assert low <= max(1, count * max(row["low"] for row in rows)) + 1e-6
        assert high >= count * max(row["high"] for row in rows) - 1e-3
        assert 1 <= low <= found["max_over_mean"] <= high <= count


def test_a_skew_that_is_no_estimate_has_no_bounds():
    found = skew_of(sample_of(["a", "b"], [1, 2]), 2)

    names = ("max_over_mean", "bytes_max_over_mean")
    assert {found[f"{name}_{side}"] for name in names for side in ("low", "high")} == {
        None
    }
    assert {row["bytes_low"] for row in found["partitions"]} == {None}
    unsized = skew_of(sample_of(["a", "b"], None, [0, 0], [2.0, 2.0]), 2)
    assert unsized["max_over_mean_low"] is not None
    assert unsized["bytes_max_over_mean_low"] is None
    assert {row["bytes_high"] for row in unsized["partitions"]} == {None}


def test_the_screen_shows_the_bounds_of_an_estimated_skew():
    sample = sample_of(["a"] * 8 + ["b"] * 8, [5] * 16, [0] * 16, [10.0] * 16)

    found = skew_of(sample, 3)
    shown = " ".join(" ".join(skew_screen(found)).split())

    low, high = found["max_over_mean_low"], found["max_over_mean_high"]
    assert f"x the mean ({low:.3f} to {high:.3f}), by bytes" in shown
    row = found["partitions"][1]
    text = f"{percent_text(row['bytes_low'])} to {percent_text(row['bytes_high'])}"
    assert text in shown


def test_keys_under_two_schemas_are_noted():
    keys = [b"\0\0\0\0\x01abc".hex(), b"\0\0\0\0\x02abc".hex()]

    found = skew_of(sample_of(keys, key_type="hex"), 6)

    assert any("schema id" in note for note in found["notes"])


@pytest.mark.parametrize(
    ("options", "place"),
    [
        ({"partitioners": ("murmur",)}, "--partitioner"),
        ({"partitioners": ("no.such:Thing",)}, "--partitioner"),
        ({"partitioners": ("math:tau",)}, "--partitioner"),
        ({"partitioners": ("math:no_such",)}, "--partitioner"),
        ({"sweep": "5-3"}, "--sweep"),
        ({"sweep": "0"}, "--sweep"),
        ({"sweep": "x"}, "--sweep"),
        ({"sweep": "1-5000"}, "--sweep"),
        ({"partitions": 0}, "--partitions"),
    ],
)
def test_wrong_options_are_named(options, place):
    with pytest.raises(BadInputError) as caught:
        SkewRequest(**{"partitions": 3, **options}).options()

    assert [problem.place for problem in caught.value.problems] == [place]


def test_a_users_class_and_function_place_keys(tmp_path, monkeypatch):
    code = (
        "class Mine:\n    def partition(self, key, count):\n        return 1\n"
        "def last(key, count):\n    return count - 1\n"
        "def wrong(key, count):\n    return count\n"
    )
    (tmp_path / "my_partitioners.py").write_text(code)
    monkeypatch.chdir(tmp_path)
    sample = sample_of(["a", "b"])

    for name, partition in (("Mine", 1), ("last", 2)):
        found = skew_of(sample, 3, f"my_partitioners:{name}")
        assert found["partitions"][partition]["records"] == 2
    with pytest.raises(BadInputError) as caught:
        skew_of(sample, 3, "my_partitioners:wrong")
    assert "returned 3" in caught.value.problems[0].rule
