"""Growth of a topic: keys that move, by counting and by theory."""

from collections import Counter
from fractions import Fraction
from math import lcm

import pytest
from hypothesis import given
from hypothesis import strategies as st

import planner
from assignment.partitioners.balls_into_bins import moved_share, smallest_multiple
from keys.test_partitioners import ORACLES
from keys.test_skew import partition_of, sample_of
from planner.demo import SNAPSHOT_FILE
from planner.errors import BadInputError
from planner.keys.growth.growth_document import growth_document
from planner.keys.growth.growth_request import answer_growth
from planner.keys.growth.topic_facts import (
    KnownTopics,
    TopicFacts,
    known_topics,
    topic_facts,
)
from planner.keys.keys_screen import growth_screen
from planner.snapshot import Snapshot, read_snapshot
from support.commands import run
from support.plans import skewed_document, write_document
from support.snapshots import small_document

KEYS = st.lists(st.sampled_from("abcdefghij"), min_size=1, max_size=40)


def growth_of(keys, old, new, name="default", facts=None):
    growth = answer_growth(sample_of(keys), old, new, name)
    return growth_document(growth, facts or TopicFacts())


@given(st.integers(1, 40), st.integers(1, 40))
def test_the_share_by_theory_is_that_of_all_residues(old, more):
    new = old + more
    whole = lcm(old, new)
    moved = sum(residue % old != residue % new for residue in range(whole))

    assert moved_share(old, new) == pytest.approx(float(Fraction(moved, whole)))
    if new % old == 0:
        assert moved_share(old, new) == pytest.approx(1 - old / new)


@given(KEYS, st.integers(1, 9), st.integers(1, 9))
def test_moved_keys_are_those_of_counting(keys, old, more):
    new, counts = old + more, Counter(keys)
    moved = {k for k in counts if partition_of(k, old) != partition_of(k, new)}

    found = growth_of(keys, old, new)

    assert found["keys_moved"] == len(moved)
    assert found["moved_share"] == pytest.approx(len(moved) / len(counts))
    assert found["records_moved"] == sum(counts[key] for key in moved)
    assert {each["key"] for each in found["examples"]} <= moved
    assert len(found["examples"]) == min(10, len(moved))
    for each in found["examples"]:
        assert each["before"] == partition_of(each["key"], old)
        assert each["after"] == partition_of(each["key"], new)
        assert each["records"] == counts[each["key"]]
    assert found["smallest_multiple"] % old == 0
    assert new <= found["smallest_multiple"] < new + old


def test_many_keys_move_as_theory_says():
    keys = [f"customer-{n}" for n in range(20_000)]

    for old, new in ((6, 8), (8, 12), (6, 12), (10, 11)):
        found = growth_of(keys, old, new)
        assert found["moved_share"] == pytest.approx(moved_share(old, new), abs=0.015)


def test_a_multiple_moves_keys_by_multiples_of_the_old_count():
    keys = [f"k{n}" for n in range(500)]

    found = growth_of(keys, 6, 18)

    assert all((e["after"] - e["before"]) % 6 == 0 for e in found["examples"])
    assert [each["way"] for each in found["ways_around"]] == ["new-topic", "drain"]
    other = growth_of(keys, 6, 8)
    assert other["ways_around"][0]["way"] == "multiple"
    assert "12 partitions" in other["ways_around"][0]["message"]
    assert [row["partitions"] for row in other["counts"]] == [8, 12, 18, 24, 30]


@pytest.mark.parametrize("name", ["sarama", "consistent", "fnv1a", "kafka-python"])
def test_other_clients_move_other_keys(name):
    keys = [f"k{n}" for n in range(300)]
    moved = {
        key
        for key in keys
        if ORACLES[name](key.encode(), 6) != ORACLES[name](key.encode(), 8)
    }

    assert growth_of(keys, 6, 8, name)["keys_moved"] == len(moved)


def test_keys_that_do_not_decide_have_no_order_to_lose():
    found = growth_of(["a", "b"], 2, 4, "roundrobin")

    assert found["moved_share"] is None
    assert found["keys_moved"] == 0
    assert any("none has an order" in note for note in found["notes"])
    assert "Serves     4 partitions: no key of the sample moves" in growth_screen(found)


@pytest.mark.parametrize(("old", "new"), [(6, 6), (6, 5), (0, 5), (5, 10**7)])
def test_a_growth_that_is_none_is_refused(old, new):
    with pytest.raises(BadInputError, match="cannot grow"):
        answer_growth(sample_of(["a"]), old, new, "default")


@given(st.integers(1, 30), st.integers(1, 300))
def test_the_smallest_multiple_is_found_by_trying(old, new):
    tried = next(count for count in range(old, 400, old) if count >= new)

    assert smallest_multiple(old, new) == tried


def test_a_snapshot_says_whether_the_topic_is_compacted():
    snapshot = read_snapshot(SNAPSHOT_FILE)
    by_policy = {
        "compact" in dict(configs or {}).get("cleanup.policy", "delete"): topic
        for topic, configs in zip(
            snapshot.topics["topic"].to_pylist(),
            snapshot.topics["configs"].to_pylist(),
            strict=True,
        )
    }
    assert set(by_policy) == {True, False}

    for is_compacted, topic in by_policy.items():
        facts, count = topic_facts(known_topics(snapshot, topic), topic, [])
        found = growth_of([f"k{n}" for n in range(50)], count, 2 * count, facts=facts)
        compacted = found["compacted"]
        assert compacted["topic"] is is_compacted
        assert compacted["keys"] == (found["keys_moved"] if is_compacted else 0)


def test_joined_topics_must_be_known_and_are_named():
    snapshot = read_snapshot(SNAPSHOT_FILE)
    first, second = snapshot.topics["topic"].to_pylist()[:2]

    known = known_topics(snapshot, first)

    facts, _ = topic_facts(known, first, [second])

    assert growth_of(["a"], 1, 2, facts=facts)["co_partitioned"] == [second]
    # Joined topics need as many partitions: those that have others are named.
    counts = Counter(snapshot.partitions["topic"].to_pylist())
    others = [name for name in counts if counts[name] != counts[first]][:1]
    facts, count = topic_facts(known, first, [first, *others])
    notes = growth_of(["a"], count, count + 1, facts=facts)["notes"]
    (note,) = [note for note in notes if "not co-partitioned" in note]
    assert f"{others[0]} has {counts[others[0]]}, and this topic {count}" in note
    with pytest.raises(BadInputError) as caught:
        topic_facts(known, first, ["no-such-topic"])
    assert caught.value.problems[0].value == '"no-such-topic"'


def test_internal_topics_of_kafka_streams_that_must_grow_too_are_named():
    counts = {
        "orders": 6,
        "app-orders-by-day-changelog": 6,
        "app-KSTREAM-AGGREGATE-repartition": 6,
        "app-other-changelog": 12,
        "payments": 6,
    }
    known = KnownTopics(place="snapshot", counts=counts, policy="delete")

    facts, count = topic_facts(known, "orders", [])
    found = growth_of(["a"], count, 12, facts=facts)

    names = ["app-KSTREAM-AGGREGATE-repartition", "app-orders-by-day-changelog"]
    assert found["streams_topics"] == names
    (note,) = [note for note in found["notes"] if note.startswith("internal topics")]
    assert note.endswith(f"if their application reads it: {', '.join(names)}")


def test_of_many_internal_topics_of_kafka_streams_a_note_names_ten():
    internal = {f"app-{n:02}-changelog": 6 for n in range(13)}
    known = KnownTopics(place="snapshot", counts={"t": 6, **internal}, policy="delete")

    facts, _ = topic_facts(known, "t", [])
    found = growth_of(["a"], 6, 12, facts=facts)

    assert found["streams_topics"] == list(internal)
    assert any(note.endswith("app-09-changelog and 3 more") for note in found["notes"])


@pytest.mark.parametrize(
    ("policy", "is_compacted"),
    [("delete", False), ("compact", True), ("compact,delete", True), (None, None)],
)
def test_a_policy_that_is_hidden_leaves_open_whether_a_topic_is_compacted(
    policy, is_compacted
):
    known = KnownTopics(place="h:9092", counts={"t": 6}, policy=policy)

    facts, count = topic_facts(known, "t", [])

    assert (facts.is_compacted, count) == (is_compacted, 6)


@pytest.mark.parametrize(
    ("add", "is_compacted", "words"),
    [
        pytest.param(1, None, "order. With", id="deleted"),
        pytest.param(
            2, "compact,delete", "old values of these keys stay", id="compact"
        ),
    ],
)
def test_a_plan_of_more_partitions_notes_the_keys_that_move(add, is_compacted, words):
    document = small_document()
    topic = document["topics"][0]
    old = len(topic["partitions"])
    if is_compacted:
        topic["configs"] = {"cleanup.policy": is_compacted}
    snapshot = Snapshot.from_document(document)

    plan = planner.add_partitions(snapshot, topic["name"], old + add)

    (note,) = [n for n in plan.document["notes"] if n["what"] == "keys-move"]
    share = f"{100 * moved_share(old, old + add):.0f} %"
    assert share in note["message"]
    assert words in note["message"]
    assert f"--from {old} --to {old + add}" in note["message"]
    fresh = planner.new_topic(snapshot, "fresh", 3, 1)
    assert not [n for n in fresh.document["notes"] if n["what"] == "keys-move"]


@pytest.mark.parametrize(
    ("count", "words"),
    [
        pytest.param(20, ["75 % of the keys", "30 partitions", "50 %"], id="mixed"),
        pytest.param(30, ["50 % of the keys"], id="multiple"),
    ],
)
def test_the_screen_and_the_runbook_of_more_partitions_warn_of_moved_keys(
    count, words, tmp_path, capsys
):
    snapshot = write_document(skewed_document(), tmp_path / "s.json")
    arguments = ("plan", "add-partitions", snapshot, "--topic", "a")
    folder = tmp_path / "plan"

    outcome = run(capsys, *arguments, "--partitions", count, "-o", folder)

    assert outcome.code == 0, outcome.err
    shown = " ".join(outcome.out.split())
    runbook = " ".join((folder / "RUNBOOK.md").read_text().split())
    for text in (shown, runbook):
        assert f"keys grow SAMPLE --from 15 --to {count}" in text
        assert all(each in text for each in words)
        assert ("a multiple of 15" in text) == (len(words) > 1)


def notes_of(plan):
    return [n["message"] for n in plan.document["notes"] if n["what"] == "keys-move"]


def test_a_plan_of_more_partitions_counts_the_keys_of_a_sample(tmp_path):
    snapshot = Snapshot.from_document(skewed_document())
    keys = [f"k{n % 40}" for n in range(100)]
    sample = tmp_path / "some keys.txt"
    sample.write_text("\n".join(keys))
    counts = Counter(keys)
    moved = {k for k in counts if partition_of(k, 15) != partition_of(k, 20)}

    plan = planner.add_partitions(snapshot, "a", 20, keys=sample)

    (note,) = notes_of(plan)
    assert f"default puts {len(moved)} keys of 40 in {sample} on other" in note
    share = round(100 * len(moved) / 40)
    assert f"({share} %; by theory 75 %), with" in note
    found = planner.keys_grow(sample, old=15, new=20).document
    assert f"{100 * found['records_moved_share']:.0f} % of the records" in note
    assert f"{found['max_over_mean_after']:.2f} x afterwards" in note
    multiple = next(row for row in found["counts"] if row["partitions"] == 30)
    assert f"it would be {100 * multiple['moved_share']:.0f} %" in note
    assert note.endswith(f"keys grow '{sample}' --from 15 --to 20")


def test_a_sample_of_a_plan_is_read_with_its_options(tmp_path, capsys):
    snapshot = write_document(skewed_document(), tmp_path / "s.json")
    sample = tmp_path / "k.csv"
    sample.write_text("id,topic\n7,a\n8,a\n9,a\n")
    command = ("plan", "add-partitions", snapshot, "--topic", "a", "--partitions", 30)
    reading = ("--key-column", "id", "--key-type", "long", "--partitioner", "sarama")

    outcome = run(capsys, *command, "--keys", sample, *reading, "--schema-id", 5)

    assert outcome.code == 0, outcome.err
    shown = " ".join(outcome.out.split())
    assert "sarama puts" in shown
    assert f"{sample} --from 15 --to 30 --partitioner sarama --key-column id" in shown
    assert "--key-type long --schema-id 5" in shown
    none = run(capsys, *command, "--keys", sample, *reading[:4])
    assert none.code == 0
    ignored = (*reading[:4], "--partitioner", "roundrobin")
    turn = run(capsys, *command, "--keys", sample, *ignored)
    assert "no order is lost" in " ".join(turn.out.split())


@pytest.mark.parametrize(
    ("options", "words"),
    [
        pytest.param(("--keys", "no-such.txt"), "no-such.txt", id="no-file"),
        pytest.param(("--key-type", "long"), "add --keys FILE", id="no-sample"),
        pytest.param(
            ("--keys", "k.jsonl", "--partitioner", "murmur"),
            "must be one of",
            id="name",
        ),
        pytest.param(("--keys", "k.jsonl"), "another topic", id="other-topic"),
        pytest.param(
            ("--keys", "k.jsonl", "--schema-id", 2**31), "must be from 0", id="schema"
        ),
    ],
)
def test_samples_of_a_plan_that_are_wrong_are_refused(
    options, words, tmp_path, capsys, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    snapshot = write_document(skewed_document(), tmp_path / "s.json")
    (tmp_path / "k.jsonl").write_text('{"key": "x", "topic": "b"}\n')
    command = ("plan", "add-partitions", snapshot, "--topic", "a", "--partitions", 30)

    outcome = run(capsys, *command, *options)

    assert (outcome.code, outcome.out) == (2, "")
    assert words in " ".join(outcome.err.split())
