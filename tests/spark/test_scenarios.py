"""Scenarios of a fleet are those of each of its clusters by itself, as of `what-if`."""

import json
from pathlib import Path

import pytest

from planner.cli.fleet.fleet_scenarios import print_scenarios
from planner.fleet.append import append
from planner.fleet.cluster_plans import unreadable_row
from planner.fleet.cluster_scenarios import SCHEMA, read_fleet_scenarios
from planner.fleet.fleet_store import Store
from planner.snapshot import Snapshot, write_snapshot
from planner.spark.io.fleet_opening import fleet_of_snapshots
from planner.spark.reports.fleet_plans import play_fleet
from planner.what_if.play_scenarios import WhatIfRequest
from planner.what_if.what_if_records import ScenarioOutcomeRecord
from support.commands import run
from support.plans import skewed_document

pytestmark = [
    pytest.mark.spark,
    # pyspark leaks a socket at exit.
    pytest.mark.filterwarnings("default"),
]
OPTIONS = ("--effort", "quick", "--band", "0.2", "--growth", "5%/month")
REQUEST = WhatIfRequest(effort="quick", band=("0.2",))
UNFIT = """
[[scenarios]]
name = "seven is lost"
changes = [{change = "lose", brokers = "7"}]
"""
SCENARIOS = f"""
[[scenarios]]
name = "a rack is lost"
then = "nothing"
changes = [{{change = "lose", racks = ["b"]}}]

[[scenarios]]
name = "two more"
changes = [{{change = "add-brokers", count = 2, rack = "a"}}]

[[scenarios]]
name = "and then one fewer"
after = "two more"
changes = [{{change = "remove-brokers", brokers = "7"}}]
{UNFIT}
[[sweeps]]
name = "how far"
traffic = [1.0, 50.0]
days = [0.0, 30.0]
"""
POINTS = [f"how far: traffic {t}, day {d}" for t in (1, 50) for d in (0, 30)]
NAMES = ["a rack is lost", "two more", "and then one fewer", "seven is lost", *POINTS]


def skewed(cluster_id, seed, num_brokers=6):
    document = skewed_document(seed=seed, num_brokers=num_brokers)
    return Snapshot.from_document(document | {"cluster_id": cluster_id})


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "s.toml"
    path.write_text(SCENARIOS)
    return path


def rows_of(table):
    rows = [row.asDict(recursive=True) for row in table.collect()]
    return {(row["cluster_id"], row["request"]): row for row in rows}


def played_alone(capsys, snapshot, folder, name, scenarios):
    """What `what-if` says of one scenario of one cluster, and the plan it writes."""
    cluster = folder / f"{snapshot.cluster_id}.json"
    file = folder / f"{snapshot.cluster_id}.toml"
    output = folder / f"of-{snapshot.cluster_id}-{NAMES.index(name)}"
    if not cluster.exists():
        write_snapshot(snapshot, cluster)
        file.write_text(scenarios)
    found = run(
        capsys, "what-if", cluster, file, "--scenario", name, *OPTIONS, "-o", output,
        "--format", "json",
    )  # fmt: skip
    plans = [each.read_text() for each in output.glob("*/plan/plan.json")]
    (told,) = found.document["scenarios"]
    return told, plans


def test_each_scenario_of_each_cluster_is_that_of_what_if(
    spark, tmp_path, file, capsys
):
    snapshots = [skewed("a", 1), skewed("b", 2, num_brokers=7)]
    scenarios = read_fleet_scenarios(file, REQUEST, growth="5%/month")

    fleet = fleet_of_snapshots(spark, snapshots)
    found = rows_of(play_fleet(spark, fleet, scenarios))

    assert [each.name for each in scenarios] == NAMES
    assert set(found) == {(each, name) for each in "ab" for name in NAMES}
    unfit = found.pop(("a", "seven is lost"))
    assert (unfit["status"], unfit["plan"], unfit["holds"]) == ("refused", None, None)
    assert "there must be such a broker" in unfit["reason"]
    # A whole file is refused by `what-if` where one scenario does not fit.
    files = {"a": SCENARIOS.replace(UNFIT, ""), "b": SCENARIOS}
    by_id = {each.cluster_id: each for each in snapshots}
    assert sum(row["plan"] is not None for row in found.values()) > len(NAMES)
    for (cluster_id, name), row in found.items():
        alone = played_alone(
            capsys, by_id[cluster_id], tmp_path, name, files[cluster_id]
        )
        check_row(row, *alone)


def check_row(row, told, plans):
    assert json.loads(row["answer"]) == told
    ScenarioOutcomeRecord.model_validate(told)
    assert (row["status"], row["holds"]) == (told["status"], told["holds"])
    assert (row["goal"], row["sweep"]) == ("what-if", told["sweep"])
    assert told["is_checked"] in {True, None}
    assert bool(row["reason"]) == (not told["holds"])
    assert [row["plan"]] == (plans or [None])
    if plans:
        certificate = json.loads(plans[0])["certificate"]
        assert json.loads(row["certificate"]) == certificate
        assert row["bytes_gap"] == certificate["bytes"]["gap"]


def test_scenarios_are_played_once(spark, tmp_path, file, capsys):
    fleet, out = tmp_path / "fleet", tmp_path / "out"
    append(skewed("a", 1), Store(str(fleet)))

    def play(*options):
        found = run(
            capsys, "fleet", "plan", fleet, "-o", out, "--scenarios", file, *OPTIONS,
            "--format", "json", *options,
        )  # fmt: skip
        rows = found.document["scenarios"]
        return found.code, sorted(row["request"] for row in rows), found.document

    code, played, document = play()
    assert (code, played) == (4, sorted(NAMES))
    by_name = {row["request"]: row for row in document["scenarios"]}
    assert by_name["two more"]["holds"] is True
    assert by_name["how far: traffic 50, day 0"]["status"] == "infeasible"
    assert play()[1:2] == ([],)
    # The step that another goes on from is a part of that other one.
    file.write_text(SCENARIOS.replace("count = 2", "count = 3"))
    assert play()[1] == ["and then one fewer", "two more"]
    assert spark.read.parquet(str(out / "scenarios")).columns == [
        *SCHEMA.names,
        "version",
        "date",
    ]


def test_a_broken_file_is_a_row_of_each_scenario(spark, tmp_path, file):
    scenarios = read_fleet_scenarios(file, REQUEST)[:2]
    row = unreadable_row(scenarios[0], "cannot read it")
    append(skewed("a", 1), Store(str(tmp_path / "fleet")))
    (path,) = (tmp_path / "fleet" / "partitions").rglob("*.parquet")
    path.write_bytes(b"")

    found = rows_of(play_fleet(spark, str(tmp_path / "fleet"), scenarios))

    assert set(found) == {("a", each.name) for each in scenarios}
    assert {each["status"] for each in found.values()} == {row["status"]}
    assert all(str(path) in each["reason"] for each in found.values())


@pytest.mark.parametrize(
    ("text", "options", "said"),
    [
        pytest.param("scenarios = 1", (), "list", id="no-list"),
        pytest.param("[", (), "TOML", id="no-toml"),
        pytest.param(
            "[[scenarios]]\nname = 'a'\nafter = 'b'", (), "above", id="no-step"
        ),
        pytest.param(SCENARIOS, ("--max-moves", "1"), "--max-moves", id="option"),
        pytest.param(SCENARIOS, ("--goal", "leaders"), "--goal", id="goal"),
        pytest.param(SCENARIOS, ("--growth", "fast"), "--growth", id="growth"),
        pytest.param(SCENARIOS, ("--bandwidth", "fast"), "--bandwidth", id="rate"),
    ],
)
def test_what_fits_no_cluster_is_refused_before_spark_is_asked(
    text, options, said, file, tmp_path, capsys
):
    file.write_text(text)

    found = run(
        capsys, "fleet", "plan", tmp_path, "-o", tmp_path / "out", "--scenarios", file,
        *options,
    )  # fmt: skip

    assert (found.code, said in found.err) == (2, True), found.err
    assert not (tmp_path / "out").exists()


def test_growth_is_of_scenarios_alone(tmp_path, capsys):
    found = run(
        capsys, "fleet", "plan", tmp_path, "-o", tmp_path / "out", "--growth", "5%/day"
    )

    assert (found.code, "--growth" in found.err) == (2, True)


def test_the_screen_is_no_wider_than_80(capsys):
    plan = {"moved_bytes": 10**13, "moved_replicas": 10**6, "reason": "why " * 30}
    rows = [
        {"cluster_id": "a" * 40, "request": "b" * 40, "holds": holds, "status": status}
        | (plan if status == "feasible" else dict.fromkeys(plan))
        for holds, status in ((True, "feasible"), (False, "as-is"), (None, "refused"))
    ]

    print_scenarios(rows, 50)

    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 80
    plain = [line for line in lines if not line.startswith(" ")]
    assert [line.split()[2:4] for line in plain[1:]] == [
        ["no", "as-is"],
        ["-", "refused"],
        ["yes", "feasible"],
    ]
    assert " ".join(lines).split().count("why") == 30
