"""Files cut so that Kafka can store the throttle lists of their topics."""

import json
from collections.abc import Mapping, Sequence
from itertools import pairwise

import numpy as np
import pytest

from placement.check.waves.throttle_lists import WaveProperties, file_findings
from placement.model.cluster import ClusterState
from placement.model.load import Resource, weigh
from placement.waves.wave_settings import WaveSettings
from planner.plan.documents.wave_records import WavesRecord
from planner.plan.folder.plan_folder import plan_files
from planner.plan.input.wave_input import read_waves
from planner.plan.waves.wave_document import to_document
from planner.plan.waves.wave_files import check_planned, plan_waves, wave_files
from planner.plan.waves.wave_throttles import least_throttle
from support.clusters import make_state
from support.commands import run
from support.plans import planned_for, write_document
from waves.reassignments import reassignment_to

MOST_BYTES = 32_767
"""KAFKA-17993."""
OPEN = WaveSettings(max_in=10**6, max_out=10**6, thresholds={Resource.DISK: 1.0})


def naive_lists(now: Mapping, then: Mapping) -> dict[tuple[str, str], str]:
    """Return the two configs of each topic, as Kafka's tool puts them together."""
    entries: dict[tuple[str, str], list[str]] = {}
    for (topic, number), new in then.items():
        old = now[topic, number]
        comes = [b for b in new if b not in old]
        for which, brokers in (("leader", old), ("follower", comes)):
            told = [f"{number}:{broker}" for broker in brokers]
            entries.setdefault((which, topic), []).extend(told)
    return {key: ",".join(sorted(each)) for key, each in entries.items()}


def wide_state(num_partitions: int, **columns: object) -> ClusterState:
    """Return a topic that no file of Kafka's tool can throttle, beside a small one."""
    return make_state(
        {"a": [[1001, 1002]], "wide": [[1001, 1002, 1003]] * num_partitions},
        ids=[1001, 1002, 1003, 1004],
        racks={1001: "a", 1002: "b", 1003: "c", 1004: "c"},
        **columns,
    )


def moved(state: ClusterState) -> list[list[int]]:
    """Return lists in which the fourth broker takes the place of the third."""
    lists = [state.brokers_of(p) for p in range(state.num_partitions)]
    return [[1004 if b == 1003 else b for b in row] for row in lists]


@pytest.mark.not_quick
@pytest.mark.parametrize(("count", "parts"), [(1203, 0), (1204, 2), (2600, 3)])
def test_no_file_of_a_wave_makes_a_throttle_list_too_long(count, parts):
    state = wide_state(count, size_bytes=1)
    waves = plan_waves(reassignment_to(state, moved(state)), weigh(state), OPEN)

    told = to_document(waves)

    WavesRecord.model_validate(told)
    assert check_planned(waves) == ()
    assert [len(wave["parts"]) for wave in told["waves"]] == [parts]
    assert told["waves"][0]["wildcard_topics"] == (["wide"] if parts else [])
    now = {("wide", n): [1001, 1002, 1003] for n in range(count)}
    then = {("wide", n): [1001, 1002, 1004] for n in range(count)}
    for name, file, starts in wave_files(waves):
        ends = [*starts[1:], len(file)]
        both = (then, now) if "rollback" in name else (now, then)
        for begin, end in zip(starts, ends, strict=True):
            keys = [("wide", n) for n in range(begin, end)]
            lists = naive_lists(*({key: side[key] for key in keys} for side in both))
            assert max(map(len, lists.values())) <= MOST_BYTES
        for begin, end in pairwise(starts):
            # One partition more would have been too many.
            keys = [("wide", n) for n in range(begin, end + 1)]
            lists = naive_lists(*({key: side[key] for key in keys} for side in both))
            assert max(map(len, lists.values())) > MOST_BYTES


@pytest.fixture
def wide(tmp_path):
    partitions = [
        {"partition": n, "replicas": [1001, 1002, 1003], "size_bytes": 1}
        for n in range(1300)
    ]
    topics = [{"name": "wide", "partitions": partitions}]
    brokers = [{"id": 1001 + b, "rack": "abcc"[b]} for b in range(4)]
    document = {
        "format": "kafka-planner/snapshot",
        "version": 1,
        "brokers": brokers,
        "topics": topics,
    }
    return document, write_document(document, tmp_path / "s.json")


def test_the_files_of_a_plan_are_cut_too(wide):
    document, _ = wide
    plan = planned_for(
        document, "remove-brokers", broker_list="1003", effort="quick"
    ).plan

    files = dict(plan_files(plan))

    for name in ("reassignment", "rollback"):
        parts = [files[f"{name}-{number:03d}.json"] for number in (1, 2)]
        cut = [entry for part in parts for entry in json.loads(part)["partitions"]]
        assert cut == json.loads(files[f"{name}.json"])["partitions"]


@pytest.mark.not_quick
def test_check_reads_the_parts_of_a_wave(capsys, wide, tmp_path):
    _, snapshot = wide
    plan = tmp_path / "plan"
    caps = ("--max-moves-in", 2000, "--max-moves-out", 2000, "--effort", "quick")
    made = run(
        capsys,
        *("plan", "remove-brokers", snapshot, "--broker-list", 1003),
        *(*caps, "-o", plan),
    )
    assert made.code == 0, made.out
    fine = run(capsys, "check", plan, "--snapshot", snapshot)
    first, second = (plan / f"waves/wave-001-{n:03d}.json" for n in (1, 2))
    lists = [*map(len, read_waves(plan).properties[0].parts)]

    first.write_text((plan / "waves/wave-001.json").read_text())
    spoiled = run(capsys, "check", plan, "--snapshot", snapshot, "--format", "json")
    second.unlink()
    missing = run(capsys, "check", plan, "--snapshot", snapshot)

    assert fine.code == 0, fine.out
    assert sum(lists) == 1300
    assert spoiled.code == 3
    told = [one for one in spoiled.document["findings"] if not one["existing"]]
    assert {one["rule"] for one in told} == {"wave-throttle"}
    assert len(told) == 2
    assert missing.code == 2


@pytest.mark.parametrize(
    ("told", "messages"),
    [
        pytest.param(WaveProperties(), 2, id="not-told"),
        pytest.param(WaveProperties(wildcards={"wide"}), 1, id="not-cut"),
    ],
)
def test_the_checker_finds_a_list_that_kafka_cannot_store(told, messages):
    now = {("wide", n): [1001, 1002, 1003] for n in range(1300)}
    then = {("wide", n): [1001, 1002, 1004] for n in range(1300)}

    found = list(file_findings(1, now, then, told))

    assert [one.rule for one in found] == ["wave-throttle"] * messages
    assert all(one.where.topic == "wide" for one in found)


@pytest.mark.not_quick
def test_one_partition_alone_cannot_be_cut():
    many = list(range(1000, 6000))
    now, then = {("t", 0): many}, {("t", 0): [*many[:-1], 9]}

    assert [*file_findings(1, now, then, WaveProperties(wildcards={"t"}))] == []
    assert len([*file_findings(1, now, then, WaveProperties())]) == 1


def test_a_wildcard_throttles_every_replica_of_its_topic():
    state = make_state(
        {"a": [[0, 1]], "b": [[0, 1], [1, 2], [2, 0]]},
        racks="abcd",
        size_bytes=10,
        in_rate=[100.0, 10.0, 20.0, 30.0],
    )
    change = reassignment_to(state, [[0, 1], [0, 3], [1, 2], [2, 0]])
    waves = plan_waves(change, weigh(state), OPEN)
    (step,) = waves.steps

    listed, wild = (least_throttle(waves, step, chosen) for chosen in ((), [1]))

    # Leader 0 sends b-0 to a follower and a copy; with * broker 0 follows b-2 at 30.
    assert listed == 20
    assert wild == 30


def naive_wildcard(state: ClusterState, topic: int, moving: Mapping[int, Sequence]):
    """Return what each broker sends and gets of a topic that ``*`` stands for."""
    need = np.zeros((2, state.num_brokers))
    for p in np.nonzero(state.partitions.topic_idx == topic)[0].tolist():
        old, rate = state.brokers_of(p), state.partitions.in_bytes_per_s[p]
        comes = [b for b in moving.get(p, ()) if b not in old]
        leader = old[0]
        need[0, leader] += rate * (len(old) - 1 + len(comes))
        for broker in [*old[1:], *comes]:
            need[1, broker] += rate
    return need.max()


def test_a_wildcard_counts_what_a_naive_sum_does():
    rng = np.random.default_rng(1)
    before = [rng.permutation(6)[:3].tolist() for _ in range(40)]
    after = [[*row[:2], (row[2] + 1) % 6] for row in before]
    pairs = zip(before, after, strict=True)
    after = [new if len(set(new)) == 3 else old for old, new in pairs]
    state = make_state(
        before, racks="abcdef", size_bytes=1, in_rate=rng.uniform(1, 9, 40)
    )
    waves = plan_waves(reassignment_to(state, after), weigh(state), OPEN)

    found = least_throttle(waves, waves.steps[0], [0])

    naive = naive_wildcard(state, 0, dict(enumerate(after)))
    assert found == pytest.approx(np.ceil(naive))
