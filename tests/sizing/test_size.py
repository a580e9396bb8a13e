"""Sizing whole clusters: the number, its proof, and the placement that shows it."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from placement.cluster_changes.variant import variant_of
from placement.demand.broker_demand import Wanted
from placement.demand.topic_growth import steady_growth
from placement.draft.draft import DEFAULT_THRESHOLDS, Settings
from placement.model.load import Resource
from placement.sizing.capacity_horizon import lasting_of
from placement.sizing.cluster_size import SizingTask, fewest_like, headroom
from placement.sizing.follower_spread import spread_successors
from placement.sizing.survival_check import unfit
from placement.synthetic import Size, make_instance
from planner.demo import SNAPSHOT_FILE
from planner.errors import BadInputError
from planner.sizing.broker_types import validate_types
from planner.sizing.size_cluster import SizeRequest, is_sound, size
from planner.sizing.sizing_document import SizeRecord
from planner.snapshot import Snapshot, read_snapshot
from planner.text.format import SCREEN_WIDTH
from support.clusters import Dir, make_state
from support.commands import run
from support.plans import planned_for, skewed_document
from support.profile import sampled
from support.scenarios import usual_assumptions

TYPES = """
[[types]]
name = "large"
price = 2.7
disk = "3TB"
network_in = "300MB/s"
network_out = "600MB/s"
"""


@pytest.fixture(scope="module")
def demo() -> Snapshot:
    return read_snapshot(SNAPSHOT_FILE)


@pytest.mark.parametrize(
    ("survives", "brokers", "lost"),
    [
        # 5.4 TB on disks of 1 TB that may be 80 % full, a third in each rack.
        pytest.param("nothing", 9, "", id="nothing-lost"),
        pytest.param("broker", 12, "broker", id="any-broker"),
        pytest.param("broker,rack", 12, "broker", id="any-broker-any-rack"),
    ],
)
def test_the_demo_needs(demo: Snapshot, survives: str, brokers: int, lost: str):
    answer = size(demo, SizeRequest(survives=survives))

    sizing = answer.sizing
    assert (sizing.brokers, sizing.is_exact) == (brokers, True)
    assert sizing.bound is not None
    assert (sizing.bound.resource, sizing.bound.lost) == ("disk", lost)
    assert sizing.bound.need is not None
    assert not sizing.bound.need.is_met
    assert answer.is_checked is True
    assert sizing.shown is not None
    assert unfit(sizing.shown.state, answer.task.wanted) == ""


ROWS = [[0, 1, 2], [3, 4, 5], [1, 2, 0], [4, 5, 3], [2], [5], [0], [3]]


@pytest.mark.parametrize("code", ["fenced", "shutting-down", "dead", "log dir"])
def test_what_is_out_today_is_sized_as_if_it_were_back(code: str):
    document = Snapshot.from_state(
        make_state(
            ROWS,
            racks="abcabc",
            disk_bytes=100,
            size_bytes=20,
            log_dirs={b: [Dir("/a", 50), Dir("/b", 50)] for b in range(6)},
            dirs=[["/a"] * len(row) for row in ROWS],
        )
    ).to_document()
    whole = size(Snapshot.from_document(document), SizeRequest(survives="nothing"))
    broker = document["brokers"][5]
    if code == "log dir":
        broker["log_dirs"][0]["state"] = "offline"
    else:
        broker["state"] = code
    broker.pop("disk_bytes", None)
    for one in document["topics"][0]["partitions"]:
        if 5 in one["replicas"]:
            one["isr"] = [b for b in one["replicas"] if b != 5] or [5]
            one["leader"] = one["isr"][0] if one["isr"] != [5] else None

    answer = size(Snapshot.from_document(document), SizeRequest(survives="nothing"))

    assert answer.sizing.shown is not None
    assert answer.sizing.brokers == whole.sizing.brokers
    assert answer.is_checked is True
    held = answer.sizing.shown.state.brokers.ids[
        answer.sizing.shown.state.replicas.broker_idx
    ]
    assert code == "log dir" or 5 not in held


@pytest.mark.slow
def test_so_many_months_ahead_is_the_cluster_that_has_grown(capsys, files: Path):
    Path("grown.toml").write_text(
        "[[scenarios]]\nname = 'later'\n"
        "changes = [{change = 'grow', per_month = 0.05, months = 12}]\n"
    )
    chosen = ("--survive", "nothing", "--format", "json")
    later = ("--scenarios", "grown.toml", "--scenario", "later")
    ahead = ("--growth", "5%/month", "--months", "12")

    now, grown, planned = (
        run(capsys, "size", "demo.json.gz", *chosen, *options).document
        for options in ((), later, ahead)
    )

    # A third of 5.4 TB x 1.05^12 in each rack: over four disks of 1 TB, 80 % full.
    assert (now["brokers"], grown["brokers"], planned["brokers"]) == (9, 15, 15)
    assert planned["bound"] == grown["bound"]
    assert planned["status"] == "exact"
    assert planned["is_checked"] is True


@pytest.mark.slow
def test_one_broker_fewer_than_proven_has_no_plan():
    document = skewed_document()
    for broker in document["brokers"]:
        for log_dir in broker["log_dirs"]:
            log_dir["size_bytes"] = 420
    answer = size(Snapshot.from_document(document), SizeRequest(survives="nothing"))

    sizing = answer.sizing
    assert sizing.is_exact
    assert sizing.brokers < 6
    gone = ",".join(str(b) for b in range(sizing.brokers, 7))
    planned = planned_for(
        document, "remove-brokers", broker_list=gone, rebalance=True, effort="quick"
    )
    assert planned.plan.status in {"partial", "infeasible"}


@settings(max_examples=3)
@given(st.integers(1, 1000), st.sampled_from(["c", "g"]))
def test_what_is_shown_is_sound_and_not_below_its_bound(seed: int, family: str):
    state = make_instance(family, Size(6, 3, 60, 8), seed).state
    wanted = Wanted(thresholds=DEFAULT_THRESHOLDS)
    task = SizingTask(
        variant=variant_of(state),
        wanted=wanted,
        settings=Settings(effort="quick", bands=usual_assumptions().bands),
        assumptions=usual_assumptions(),
        racks=("r0", "r1", "r2"),
    )

    sizing = fewest_like(task, 0)

    assert sizing.shown is not None
    assert sizing.value >= sizing.least
    assert is_sound(sizing.shown, task)
    assert unfit(sizing.shown.state, task.wanted) == ""
    assert sizing.shown.figures.num_over == 0


def test_a_mix_takes_the_place_of_all_there_are(demo: Snapshot):
    kinds = validate_types(
        {
            "types": [
                {"name": "large", "price": 2.7, "disk": "3TB", "network_in": 3e8},
                {"name": "tiny", "price": 2.0, "disk": "600GB", "network_in": 3e8},
            ]
        }
    )

    answer = size(demo, SizeRequest(), kinds=kinds)

    sizing = answer.sizing
    assert sizing.counts.sum(axis=1).tolist() == [5, 0]
    assert (sizing.value, sizing.is_exact) == (pytest.approx(13.5), True)
    assert sizing.shown is not None
    assert answer.is_checked is True
    # Only the new ones are left.
    assert sizing.shown.state.num_brokers == 5
    assert sizing.shown.figures.use[Resource.DISK].most <= 0.8


def test_a_mix_says_what_each_type_is_needed_for(capsys, files: Path):
    options = ("--types", "types.toml", "--survive", "nothing")
    outcome = run(capsys, "size", "demo.json.gz", *options)
    found = run(capsys, "size", "demo.json.gz", *options, "--format", "json").document

    # 5.4 TB on disks of 3 TB that may be 80 % full: three; with two they are 90 % full.
    assert found["fleet"][0]["brokers"] == 3
    (one,) = found["without_one"]
    assert (one["type"], one["need"]["resource"]) == ("large", "disk")
    assert "disk most of all; with one large less disk is" in " ".join(
        outcome.out.split()
    )


def test_no_type_that_is_too_small_is_an_answer(demo: Snapshot):
    kinds = validate_types({"types": [{"name": "t", "price": 1, "disk": "1MB"}]})

    answer = size(demo, SizeRequest(), kinds=kinds)

    assert answer.sizing.shown is None
    assert answer.is_checked is None


def test_successors_are_spread_and_nothing_else_moves():
    state = make_state(
        [[0, 1, 2]] * 4, racks="abc", out_rate=10.0, in_rate=0.0, broker_out=100.0
    )

    spread = spread_successors(state)

    lists = [spread.brokers_of(p) for p in range(4)]
    assert sorted(lists) == [[0, 1, 2]] * 2 + [[0, 2, 1]] * 2
    assert spread.partitions.leader_idx.tolist() == [0] * 4


def test_successors_stand_in_other_racks():
    state = make_state([[0, 1, 2]], racks="aab", out_rate=1.0, in_rate=0.0)

    assert spread_successors(state).brokers_of(0) == [0, 2, 1]


def a_task(state: Any) -> SizingTask:
    return SizingTask(
        variant=variant_of(state),
        wanted=Wanted(thresholds=DEFAULT_THRESHOLDS, survives=frozenset()),
        settings=Settings(effort="quick", bands=usual_assumptions().bands),
        assumptions=usual_assumptions(),
        racks=("a", "b", "c"),
    )


def test_rebalancing_makes_a_cluster_last():
    # All on broker 0; spread out, each broker has a third.
    state = make_state(
        [[0], [0], [0]], racks="abc", size_bytes=100, disk_bytes=1000, in_rate=0.0
    )
    task = a_task(state)

    lasting = lasting_of(task, steady_growth(1, linear_per_day=0.01))

    assert lasting.as_is_days == pytest.approx((800 / 300 - 1) * 100)
    assert lasting.most_days == pytest.approx(700.0, rel=1e-3)
    assert lasting.shown_days == pytest.approx(700.0, rel=0.01)
    assert lasting.limit is not None
    assert lasting.limit.resource == "disk"
    assert lasting.crossings[0].broker_id == 0


def test_what_does_not_grow_lasts_for_ever():
    state = make_state([[0], [1]], racks="abc", size_bytes=1, disk_bytes=1000)

    lasting = lasting_of(a_task(state), steady_growth(1))

    assert np.isinf(lasting.as_is_days)
    assert np.isinf(lasting.most_days)
    assert lasting.limit is None


def test_headroom_is_what_no_placement_exceeds(demo: Snapshot):
    answer = size(demo, SizeRequest(survives="nothing"))

    factor = headroom(answer.sizing)

    # 5.4 TB on 12 TB, of which 80 % may be used.
    assert factor == pytest.approx(0.8 * 12 / 5.4, rel=1e-3)


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("demo.json.gz").write_bytes(SNAPSHOT_FILE.read_bytes())
    Path("types.toml").write_text(TYPES)
    Path("s.toml").write_text(
        '[[scenarios]]\nname = "more"\n'
        'changes = [{change = "grow", factor = 2.0}]\n'
        "[[growth]]\nper_month = 0.05\n"
    )
    return tmp_path


@pytest.mark.parametrize(
    "options",
    [
        pytest.param((), id="today"),
        pytest.param(("--survive", "nothing"), id="fewer"),
        pytest.param(("--types", "types.toml"), id="types"),
        pytest.param(("--scenarios", "s.toml", "--scenario", "more"), id="scenario"),
    ],
)
def test_the_screen_fits(capsys, files: Path, options: tuple[str, ...]):
    outcome = run(capsys, "size", "demo.json.gz", *options)

    assert outcome.code == 0, outcome.err
    assert max(map(len, outcome.out.splitlines())) <= SCREEN_WIDTH
    assert "proven" in outcome.out
    assert "separate code: ok" in " ".join(outcome.out.split())


@pytest.mark.slow
def test_the_document_and_the_placement(capsys, files: Path):
    options = ("--survive", "nothing", "--growth", "5%/month", "-o", "sized.json.gz")
    outcome = run(capsys, "size", "demo.json.gz", *options, "--format", "json")

    found = SizeRecord.model_validate(outcome.document)
    assert (found.status, found.brokers, found.today) == ("exact", 9, 12)
    assert found.remove == [10, 11, 12]
    assert found.lasts is not None
    assert found.lasts.as_is_days == 0
    assert found.lasts.at_most_days is not None
    assert found.lasts.rebalanced_days is not None
    assert 0 < found.lasts.rebalanced_days <= found.lasts.at_most_days
    after = read_snapshot(Path("sized.json.gz"))
    assert after.brokers.num_rows == 9
    # Brokers are gone that might be controllers; all else that was said holds.
    said = read_snapshot(Path("demo.json.gz")).header()
    del said["controllers"]
    assert after.header() == said


@pytest.mark.parametrize(
    ("options", "place"),
    [
        pytest.param(("--like", "99"), "--like", id="like"),
        pytest.param(("--survive", "rak"), "--survive", id="survive"),
        pytest.param(("--months", "3"), "--months", id="months-without-growth"),
        pytest.param(("--scenario", "x"), "--scenario", id="scenario"),
        pytest.param(("--types", "s.toml"), "s.toml", id="types"),
        pytest.param(("--types", "none.toml"), "none.toml", id="no-file"),
    ],
)
def test_bad_options_are_refused(capsys, files: Path, options: Any, place: str):
    outcome = run(capsys, "size", "demo.json.gz", *options)

    assert outcome.code == 2
    assert place in outcome.err


def test_both_are_a_broker_and_a_rack(capsys, files: Path):
    found = [
        run(capsys, "size", "demo.json.gz", "--survive", what, "--format", "json")
        for what in ("both", "broker,rack")
    ]

    assert [each.code for each in found] == [0, 0]
    first, second = (each.document for each in found)
    assert first["assumptions"]["survives"] == ["broker", "rack"]
    assert first["assumptions"]["left_out"] == []
    assert (first["bound"], first["fleet"]) == (second["bound"], second["fleet"])


def test_a_loss_that_cannot_be_computed_is_listed_as_left_out(capsys, tmp_path: Path):
    document = skewed_document()
    for broker in document["brokers"]:
        del broker["rack"]
    path = tmp_path / "s.json"
    path.write_text(json.dumps(document), encoding="utf-8")

    outcome = run(capsys, "size", path, "--survive", "rack")
    found = run(capsys, "size", path, "--format", "json").document

    said = " ".join(outcome.out.split())
    assert "nothing (the loss of a rack left out: no two racks known)" in said
    assert found["assumptions"]["survives"] == ["broker"]
    assert found["assumptions"]["left_out"] == ["rack"]


def test_every_problem_of_a_list_of_types_is_reported():
    with pytest.raises(BadInputError) as caught:
        validate_types(
            {"types": [{"name": "a", "prise": 1}, {"name": "b", "price": -1}]}
        )

    remedies = [each.remedy for each in caught.value.problems]
    assert len(remedies) == 3
    assert "did you mean price?" in remedies


def test_what_no_number_of_brokers_helps_is_said(capsys, tmp_path: Path):
    document = skewed_document()
    document["topics"][0]["configs"] = {"min.insync.replicas": "3"}
    path = tmp_path / "s.json"
    path.write_text(json.dumps(document), encoding="utf-8")

    outcome = run(capsys, "size", path, "--survive", "broker")

    assert outcome.code == 0
    assert "no number of brokers helps" in " ".join(outcome.out.split())


def test_brokers_that_differ_are_counted_as_they_are():
    state = make_state(
        [[0], [1], [2], [2]],
        racks="abc",
        size_bytes=[50, 50, 200, 200],
        in_rate=0.0,
        out_rate=0.0,
        disk_bytes=[100, 100, 1000],
    )

    sizing = fewest_like(a_task(state), 0)

    # Seven like broker 0 would be needed; the large one carries nearly all.
    assert sizing.bound is not None
    assert sizing.bound.is_in_order
    assert sizing.least <= sizing.brokers <= 3
    assert sizing.shown is not None


C27 = Path(__file__).parents[1] / "data" / "cases" / "c27"


# Two hundred and eighty brokers are placed some ten times.
@pytest.mark.slow
@pytest.mark.parametrize(
    "more", sampled([(), ("--types", C27 / "types.toml", "--racks", "3")], 1)
)
def test_one_type_is_sized_as_brokers_like_those_there_are(capsys, more):
    given = ("--scenarios", C27 / "sc.toml", "--scenario", "launch")
    given += ("--survive", "nothing", "--capacity-threshold", "disk=70%")

    sized = run(capsys, "size", C27 / "s.json", *given, *more)

    # 13 replicas of 100.8 GB fit into 1.4 TB, and each rack has to hold 1,200.
    assert sized.code == 0
    assert "Answer     279 " in sized.out
    assert "(93+93+93 in racks a, b, c)" in sized.out


LAUNCH = """[[scenarios]]
name = "launch"
[[scenarios.changes]]
change = "new-topic"
name = "events"
partitions = 120
replication_factor = 3
writes = "20MB/s"
reads = "60MB/s"
keep = "7d"
"""


@pytest.mark.parametrize(
    ("survive", "answer"), [("nothing", 30), ("broker", 33), ("rack", 45)]
)
@pytest.mark.parametrize("more", [(), ("--types", C27 / "types.toml", "--racks", "3")])
def test_whole_replicas_count_after_a_loss_too(capsys, tmp_path, survive, answer, more):
    path = tmp_path / "launch.toml"
    path.write_text(LAUNCH)
    given = ("--scenarios", path, "--scenario", "launch", "--survive", survive)

    sized = run(
        capsys,
        "size",
        C27 / "s.json",
        *given,
        *more,
        "--capacity-threshold",
        "disk=65%",
    )

    # 12 replicas of 100.8 GB fit into 1.3 TB: 360 need 30 brokers, and a rack of
    # less than 11 cannot hold its 120 without one of them.
    assert sized.code == 0, sized.err
    assert f"Answer     {answer} " in sized.out


def test_log_dirs_that_can_be_balanced_last_as_long_as_their_broker():
    state = make_state(
        [[0]] * 8,
        size_bytes=50,
        disk_bytes=1000,
        log_dirs={0: [Dir("/d1", 500), Dir("/d2", 500)]},
        dirs=[["/d1"]] * 2 + [["/d2"]] * 6,
    )

    found = lasting_of(a_task(state), steady_growth(1, linear_per_day=0.1))

    # In /d2 lie 300 of the 400 bytes that it may hold; balanced, 200 in each.
    assert found.crossings[0].log_dir == "/d2"
    assert found.as_is_days == pytest.approx(10 / 3)
    assert found.shown_days == pytest.approx(10.0, rel=0.02)


def test_a_cluster_without_brokers_is_refused(capsys, tmp_path: Path):
    path = tmp_path / "none.json"
    document = {"format": "kafka-planner/snapshot", "version": 1, "brokers": []}
    path.write_text(json.dumps(document | {"topics": []}))

    outcome = run(capsys, "size", path)

    assert outcome.code == 2
    assert "brokers: must name a broker to size by" in outcome.err


def few(tmp_path: Path, count: int, factor: int, min_isr: int, racks: str) -> Path:
    """Write a cluster of `count` brokers with six partitions of `factor` replicas."""
    lists = [[(p + k) % count + 1 for k in range(factor)] for p in range(6)]
    rates = {"size_bytes": 10, "in_bytes_per_s": 1.0, "out_bytes_per_s": 2.0}
    capacity = {"disk_bytes": 1000, "in_bytes_per_s": 100.0, "out_bytes_per_s": 100.0}
    document = {
        "format": "kafka-planner/snapshot",
        "version": 1,
        "brokers": [
            {"id": b + 1, "rack": racks[b % len(racks)], **capacity}
            for b in range(count)
        ],
        "topics": [
            {
                "name": "t",
                "configs": {"min.insync.replicas": str(min_isr)},
                "partitions": [
                    {"partition": p, "replicas": replicas, **rates}
                    for p, replicas in enumerate(lists)
                ],
            }
        ],
    }
    path = tmp_path / "few.json"
    path.write_text(json.dumps(document))
    return path


@pytest.mark.parametrize(
    ("cluster", "options", "parts"),
    [
        pytest.param(
            (3, 3, 2, "abc"),
            (),
            [
                "under-provisioned: 2 more needed (67%) to rebuild every replica "
                "elsewhere after the loss of a rack; by loads alone these brokers "
                "carry at most 6.67 times this load and the loss of a broker: out",
            ],
            id="three-of-three",
        ),
        pytest.param(
            (1, 1, 1, "a"),
            (),
            [
                "2 brokers like broker 1 (2 in rack a)",
                "without broker 1, partitions offline: 3: no number of brokers helps, "
                "a higher replication factor may",
            ],
            id="one-of-one",
        ),
        pytest.param(
            (4, 3, 2, "ab"),
            (),
            [
                "partitions under min ISR: 3: no number of brokers helps, a higher "
                "replication factor, a lower min.insync.replicas or more racks may",
            ],
            id="two-racks",
        ),
        pytest.param(
            (3, 3, 3, "abc"),
            ("--survive", "broker"),
            [
                "partitions under min ISR: 6: no number of brokers helps, a higher "
                "replication factor or a lower min.insync.replicas may",
            ],
            id="min-isr-of-all",
        ),
    ],
)
def test_few_brokers_are_said_to_lack_what_they_lack(
    capsys, tmp_path: Path, cluster: Any, options: tuple[str, ...], parts: list[str]
):
    path = few(tmp_path, *cluster)

    text = " ".join(run(capsys, "size", path, *options).out.split())

    for part in parts:
        assert part in text


def test_what_never_fills_is_not_bounded(capsys, tmp_path: Path):
    path = few(tmp_path, 3, 3, 2, "abc")

    lines = run(capsys, "size", path, "--growth", "0%/month").out.splitlines()

    assert "Lasts      rebalanced over ten years, shown by a plan" in lines


def test_a_single_broker_is_one(capsys, tmp_path: Path):
    path = few(tmp_path, 1, 1, 1, "a")

    text = run(capsys, "size", path, "--survive", "nothing").out

    assert "Answer     1 broker like broker 1 (1 in rack a)" in text
