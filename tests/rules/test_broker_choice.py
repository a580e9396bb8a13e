"""Log dirs that brokers choose: bounded against every order, named where overfull."""

import json
from collections.abc import Iterator
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from placement.check import CheckSettings, Target, check
from placement.check.rules.broker_dirs import most_of, open_dirs
from placement.log_dirs.kafka_dir_choice import candidates, most_arrivals
from placement.model.cluster import LogDirState
from support.clusters import Dir, make_state
from support.commands import run

GB = 10**9
CASE = Path(__file__).parents[1] / "data" / "cases" / "c36" / "s.json"
COUNTS = st.lists(st.integers(0, 4), min_size=1, max_size=4)


def choices(counts: tuple[int, ...], left: int) -> Iterator[tuple[int, ...]]:
    """Yield how many copies each log dir gets, for every way that ties are broken."""
    if not left:
        yield (0,) * len(counts)
        return
    for place, count in enumerate(counts):
        if count == min(counts):
            more = tuple(n + (k == place) for k, n in enumerate(counts))
            for rest in choices(more, left - 1):
                yield tuple(n + (k == place) for k, n in enumerate(rest))


@given(COUNTS, st.integers(0, 6))
def test_the_most_that_a_log_dir_gets_is_reached_by_some_order(counts, num_copies):
    every = list(choices(tuple(counts), num_copies))
    expected = [max(one[place] for one in every) for place in range(len(counts))]
    column = np.array(counts, dtype=np.int64)

    assert most_arrivals(column, column, num_copies).tolist() == expected
    found = [
        most_of(count, counts[:place] + counts[place + 1 :], num_copies)
        for place, count in enumerate(counts)
    ]
    assert found == expected


@given(st.data())
def test_no_departure_and_no_named_copy_brings_more(data):
    stays = data.draw(COUNTS)
    leaves = [data.draw(st.integers(0, 2)) for _ in stays]
    named = [data.draw(st.integers(0, 2)) for _ in stays]
    num_copies = data.draw(st.integers(0, 5))
    events = ["copy"] * num_copies
    events += [f"-{d}" for d, count in enumerate(leaves) for _ in range(count)]
    events += [f"+{d}" for d, count in enumerate(named) for _ in range(count)]
    now = [sum(pair) for pair in zip(stays, leaves, strict=True)]
    low = np.array(stays, dtype=np.int64)
    high = np.array(now, dtype=np.int64) + np.array(named, dtype=np.int64)

    got = [0] * len(stays)
    for event in data.draw(st.permutations(events)):
        if event == "copy":
            fewest = [d for d, count in enumerate(now) if count == min(now)]
            place = data.draw(st.sampled_from(fewest))
            got[place] += 1
            now[place] += 1
        else:
            now[int(event[1:])] += 1 if event[0] == "+" else -1

    assert (np.array(got) <= most_arrivals(low, high, num_copies)).all()


@pytest.mark.parametrize(
    ("states", "expected"),
    [
        pytest.param("ooo", [0, 1, 2], id="all-online"),
        pytest.param("oxo", [0, 2], id="no-failed-one"),
        pytest.param("oco", [0, 2], id="no-cordoned-one"),
        pytest.param("xcx", [1], id="the-only-live-one"),
        pytest.param("ccx", [0, 1], id="all-live-ones-cordoned"),
    ],
)
def test_log_dirs_that_a_broker_may_choose(states: str, expected: list[int]):
    letters = {
        "o": LogDirState.ONLINE,
        "c": LogDirState.CORDONED,
        "x": LogDirState.OFFLINE,
    }
    kinds = [letters[letter] for letter in states]
    dirs = [Dir(f"/d{n}", 100, state=kind) for n, kind in enumerate(kinds)]
    state = make_state([[0]], racks="a", log_dirs={0: dirs})

    assert np.flatnonzero(candidates(state)).tolist() == expected
    assert open_dirs([int(kind) for kind in kinds]) == expected


def crowded() -> dict[str, Any]:
    """Broker 4 with 72 % in its /d1 in one partition, and ten small ones in /d2."""
    sizes = [("/d1", 7.2 * 100), *[("/d2", 1.0)] * 10]
    held = [(4, path, size) for path, size in sizes]
    for broker in (1, 2, 3):
        held += [(broker, f"/d{1 + n % 2}", 100.0) for n in range(14)]
    return {
        "format": "kafka-planner/snapshot",
        "version": 1,
        "brokers": [
            {
                "id": broker,
                "rack": rack,
                "log_dirs": [
                    {"path": path, "size_bytes": 1000 * GB} for path in ("/d1", "/d2")
                ],
            }
            for broker, rack in zip((1, 2, 3, 4), "abcd", strict=True)
        ],
        "topics": [
            {
                "name": "t",
                "partitions": [
                    {
                        "partition": number,
                        "replicas": [broker],
                        "log_dirs": [path],
                        "size_bytes": int(size * GB),
                    }
                    for number, (broker, path, size) in enumerate(held)
                ],
            }
        ],
    }


def written(path, document):
    path.write_text(json.dumps(document), encoding="utf-8")
    return path


def dirs_to(folder, broker: int = 4) -> set[str]:
    text = (folder / "reassignment.json").read_text("utf-8")
    entries = json.loads(text)["partitions"]
    return {
        path
        for entry in entries
        for on, path in zip(entry["replicas"], entry["log_dirs"], strict=True)
        if on == broker
    }


OPERATIONS = {
    "rebalance": ["rebalance", "--resources", "disk"],
    "add-brokers": ["add-brokers", "--broker-list", "4", "--resources", "disk"],
    "remove-brokers": [
        "remove-brokers", "--broker-list", "3", "--resources", "disk",
        "--destination-broker-list", "4,1", "--capacity-threshold", "disk=0.95",
    ],
}  # fmt: skip


@pytest.mark.parametrize("name", list(OPERATIONS))
def test_a_plan_names_the_log_dirs_that_a_broker_would_choose_badly(
    capsys, tmp_path, name: str
):
    snapshot, folder = written(tmp_path / "s.json", crowded()), tmp_path / "plan"
    goal, *options = OPERATIONS[name]

    done = run(capsys, "plan", goal, snapshot, *options, "-o", folder)

    assert done.code == 0
    # More of /d1 may be used where brokers are to leave.
    assert dirs_to(folder) - {"/d1"} == {"/d2"}
    assert name == "remove-brokers" or "/d1" not in dirs_to(folder)
    notes = json.loads((folder / "plan.json").read_text("utf-8"))["notes"]
    named = [note for note in notes if note["what"] == "log-dirs-named"]
    assert named[0]["where"] == {"broker": 4, "log_dir": "/d1", "resource": "disk"}
    assert run(capsys, "check", folder, "--snapshot", snapshot).code == 0


def test_the_plan_is_the_one_that_asking_for_log_dirs_gives(capsys, tmp_path):
    snapshot = written(tmp_path / "s.json", crowded())
    texts = []
    for name, more in (("own", []), ("asked", ["--with-log-dirs"])):
        folder = tmp_path / name
        run(capsys, "plan", "rebalance", snapshot, "--resources", "disk", *more,
            "-o", folder)  # fmt: skip
        texts.append((folder / "reassignment.json").read_text("utf-8"))

    assert texts[0] == texts[1]


def test_four_copies_that_the_broker_would_put_into_its_full_log_dir(capsys, tmp_path):
    # One partition in /d1 and ten in /d2: 4 x 100 GB would make it 1.12 TB of 1 TB.
    folder = tmp_path / "plan"

    run(capsys, "plan", "rebalance", CASE, "--resources", "disk", "-o", folder)

    entries = json.loads((folder / "reassignment.json").read_text("utf-8"))
    assert [one["log_dirs"] for one in entries["partitions"]] == [["/d2"]] * 4


def test_a_plan_that_may_not_name_log_dirs_warns(capsys, tmp_path):
    snapshot, folder = CASE, tmp_path / "plan"

    done = run(capsys, "plan", "rebalance", snapshot, "--resources", "disk",
               "--no-with-log-dirs", "-o", folder)  # fmt: skip

    assert done.code == 0
    assert dirs_to(folder) == {"any"}
    document = json.loads((folder / "plan.json").read_text("utf-8"))
    [note] = [one for one in document["notes"] if one["what"] == "log-dir-overfull"]
    assert note["where"] == {"broker": 4, "log_dir": "/d1", "resource": "disk"}
    assert (note["have"], note["need"]) == (800 * GB, 1120 * GB)
    assert "1,120 GB and may hold 800 GB" in note["message"]
    assert "1,120 GB" in " ".join(done.out.split())
    # As asked, so the check of the plan lists it and does not count it.
    checked = run(capsys, "check", folder, "--snapshot", snapshot, "--format", "json")
    [finding] = json.loads(checked.out)["findings"]
    assert (checked.code, finding["soft"]) == (0, True)


def test_lists_written_by_hand_are_judged_by_what_the_broker_chooses(capsys, tmp_path):
    snapshot, folder = CASE, tmp_path / "plan"
    run(capsys, "plan", "rebalance", snapshot, "--resources", "disk",
        "--no-with-log-dirs", "-o", folder)  # fmt: skip

    by_hand = folder / "reassignment.json"
    done = run(capsys, "check", by_hand, "--snapshot", snapshot, "--format", "json")

    [finding] = json.loads(done.out)["findings"]
    assert done.code == 3
    assert finding["rule"] == "log-dir-capacity"
    assert (finding["where"]["broker"], finding["where"]["log_dir"]) == (4, "/d1")
    assert "1.12 TB" in finding["message"]


def test_where_the_choice_is_fine_nothing_changes(capsys, tmp_path):
    document = crowded()
    # As many small partitions in one log dir as in the other: copies alternate.
    for number, entry in enumerate(document["topics"][0]["partitions"][:10]):
        entry["log_dirs"] = [f"/d{1 + number % 2}"]
        entry["size_bytes"] = GB
    snapshot = written(tmp_path / "s.json", document)
    texts = []
    for name, more in (("own", []), ("refused", ["--no-with-log-dirs"])):
        folder = tmp_path / name
        run(capsys, "plan", "rebalance", snapshot, "--resources", "disk", *more,
            "-o", folder)  # fmt: skip
        texts.append((folder / "reassignment.json").read_text("utf-8"))
        assert dirs_to(folder) == {"any"}
    settled = json.loads((tmp_path / "own" / "plan.json").read_text("utf-8"))

    assert texts[0] == texts[1]
    assert "with_log_dirs" not in settled["settings"]
    assert not [one for one in settled["notes"] if "log-dir" in one["what"]]


def test_the_file_and_the_environment_refuse_names_too(capsys, tmp_path, monkeypatch):
    snapshot, folder = written(tmp_path / "s.json", crowded()), tmp_path / "plan"
    config = tmp_path / "planner.toml"
    config.write_text("[plan]\nresources = ['disk']\n[operation.rebalance]\n"
                      "with_log_dirs = false\n", encoding="utf-8")  # fmt: skip

    run(capsys, "plan", "rebalance", snapshot, "--config", config, "-o", folder)
    assert dirs_to(folder) == {"any"}

    monkeypatch.setenv("PLANNER_WITH_LOG_DIRS", "false")
    again = tmp_path / "again"
    run(capsys, "plan", "rebalance", snapshot, "--resources", "disk", "-o", again)
    assert dirs_to(again) == {"any"}


@given(
    st.lists(st.integers(0, 3), min_size=2, max_size=3),
    st.lists(st.integers(1, 9), min_size=1, max_size=4),
)
@settings(max_examples=40)
def test_the_checker_finds_what_some_order_overfills(counts, sizes):
    """Every order of creation and tie is tried, on one broker with equal log dirs."""
    limit = 12
    paths = [f"/d{d}" for d in range(len(counts))]
    held = [
        path for path, count in zip(paths, counts, strict=True) for _ in range(count)
    ]
    state = make_state(
        [[0]] * len(held) + [[1]] * len(sizes),
        racks="ab",
        size_bytes=[1] * len(held) + sizes,
        log_dirs={0: [Dir(path, limit) for path in paths], 1: [Dir("/x", 10**6)]},
        dirs=[[path] for path in held] + [["/x"]] * len(sizes),
    )
    numbers = range(len(held), len(held) + len(sizes))
    target = Target.from_lists(
        ["t"] * len(sizes), list(numbers), [[0]] * len(sizes), None
    )

    findings = check(state, target, CheckSettings(capacity_thresholds={"disk": 1.0}))
    found = {one.where.log_dir for one in findings if one.rule == "log-dir-capacity"}

    expected = set()
    for order in set(permutations(sizes)):
        for shares in fillings(tuple(counts), order):
            for path, count, more in zip(paths, counts, shares, strict=True):
                if more and count + more > limit:
                    expected.add(path)
    assert found == expected


def fillings(counts: tuple[int, ...], order: tuple[int, ...]) -> set[tuple[int, ...]]:
    """Return the bytes that each log dir may get of copies created in an order."""
    if not order:
        return {(0,) * len(counts)}
    found = set()
    for place, count in enumerate(counts):
        if count == min(counts):
            more = tuple(n + (k == place) for k, n in enumerate(counts))
            for rest in fillings(more, order[1:]):
                size = order[0]
                found.add(tuple(n + size * (k == place) for k, n in enumerate(rest)))
    return found
